#include "log/round.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/check.h"

namespace cadastre::log {
namespace {

HaltReason reason_of(BodyError error) noexcept {
  switch (error) {
    case BodyError::kVersion: return HaltReason::kNewer;
    case BodyError::kDamaged: break;
  }
  return HaltReason::kDamaged;
}

HaltReason reason_of(ApplyError error) noexcept {
  switch (error) {
    case ApplyError::kCommand: return HaltReason::kNewer;
    case ApplyError::kStorage: break;
  }
  return HaltReason::kStorage;
}

}  // namespace

base::Result<void, HaltReason> Round::run(StateMachine& machine,
                                          std::span<const Entry* const> entries) {
  Index next = machine.applied().index + 1;
  std::size_t commands = 0;
  views_.clear();
  results_.clear();
  if (commands_.size() < entries.size()) commands_.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = *entries[i];
    CAD_CHECK(entry.at.index == next, "each index is executed once, in order");
    next = next + 1;
    if (entry.type == EntryType::kConfChange) {  // Nothing for the state but its position.
      commands_[i].clear();
      views_.push_back({entry.at, {}});
      continue;
    }
    if (const auto read = read_body_into(entry.body.bytes(), commands_[i]); !read) {
      return base::fail(reason_of(read.error().code),
                        fmt::format("entry {}: {}", to_string(entry.at), read.error().detail));
    }
    commands += commands_[i].size();
    views_.push_back({entry.at, commands_[i]});
  }
  const auto applied = machine.apply(views_, *this);
  if (!applied) return base::fail(reason_of(applied.error().code), applied.error().detail);
  CAD_CHECK(results_.size() == commands, "a state machine answers each command once");
  CAD_CHECK(machine.applied() == entries.back()->at, "a state machine says what it has applied");
  return {};
}

}  // namespace cadastre::log
