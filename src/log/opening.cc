#include "log/opening.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "log/entry.h"
#include "log/limits.h"
#include "log/recovery.h"
#include "log/round.h"

namespace cadastre::log {
namespace {

// Executes entries; why it could not.
base::Result<void, OpenError> execute(const GroupImage& image,
                                      StateMachine& machine,
                                      std::span<const Entry* const> entries) {
  Round round;
  const auto ran = round.run(machine, entries);
  if (ran) return {};
  const OpenError code =
      ran.error().code == HaltReason::kNewer ? OpenError::kNewer : OpenError::kDamaged;
  return base::fail(code, fmt::format("group {}: {}", image.group.value(), ran.error().detail));
}

// A state that has nothing becomes the one that all founders begin with.
base::Result<void, OpenError> found(const GroupImage& image, StateMachine& machine) {
  const Entry founding{.at = kFounding, .type = EntryType::kNormal, .body = {}};
  const std::array<const Entry*, 1> entries{&founding};
  CAD_TRY(execute(image, machine, entries));
  machine.request_flush();
  return {};
}

base::Result<void, OpenError> replay(const GroupImage& image,
                                     Index upto,
                                     StateMachine& machine,
                                     LogStorage& storage) {
  // A group on one disk may have been replicated once: its changes are over.
  const Index in_force = image.confs.empty() ? image.last.index : image.confs.back().index;
  while (machine.applied().index < upto) {
    const auto entries = storage.read(image.group, image.incarnation, machine.applied().index + 1,
                                      upto, kRoundBytesMax);
    if (!entries) return base::fail(OpenError::kDamaged, entries.error().detail);
    const auto stop = std::ranges::find_if(*entries, [&](const Entry& entry) {
      return entry.type == EntryType::kConfChange && entry.at.index > in_force;
    });
    // Rounds are shorter than what was read: nothing is read twice.
    for (auto first = entries->begin(); first != stop;) {
      std::vector<const Entry*> some;
      while (first != stop && some.size() < kRoundEntriesMax)
        some.push_back(&*first++);
      CAD_TRY(execute(image, machine, some));
    }
    if (stop != entries->end()) break;
  }
  return {};
}

}  // namespace

GroupImage local_image(GroupId group) {
  GroupImage image;
  image.group = group;
  image.incarnation = Incarnation{1};
  return image;
}

GroupImage newborn_image(GroupId group, std::vector<NodeId> founders) {
  GroupImage image = local_image(group);
  image.engine = EngineKind::kRaft;
  std::ranges::sort(founders);
  ConfRecord first;
  if (!founders.empty()) {
    image.state = {.term = kFounding.term, .vote = {}, .commit = kFounding.index};
    image.truncated = kFounding;
    image.last = kFounding;
    first.index = kFounding.index;
  }
  first.conf.voters = std::move(founders);
  image.confs.push_back(std::move(first));
  return image;
}

base::Result<void, OpenError> complete_install(const GroupImage& image,
                                               StateMachine& machine,
                                               Snapshotter* snapshotter) {
  if (!image.installing || machine.durable().index >= image.installing->at.index) return {};
  const PendingInstall& pending = *image.installing;
  const auto refused = [&](OpenError code, std::string_view why) {
    return base::fail(
        code,
        fmt::format("group {}: the checkpoint {} of node {}, which it was switching to, {}",
                    image.group.value(), pending.checkpoint.value(), pending.source.value(), why));
  };
  const auto staged =
      snapshotter == nullptr
          ? std::nullopt
          : snapshotter->find_staged({image.group, pending.source, pending.checkpoint});
  if (!staged) return refused(OpenError::kDamaged, "is gone");
  if (staged->manifest.list_hash != pending.list_hash || !(staged->manifest.at == pending.at))
    return refused(OpenError::kDamaged, "is another one");
  const auto installed = machine.install(*staged);
  if (!installed) {
    const bool newer = installed.error().code == InstallError::kNewer;
    return refused(newer ? OpenError::kNewer : OpenError::kCannotOpen,
                   "could not be installed: " + installed.error().detail);
  }
  return {};
}

bool has_left(const GroupImage& image, NodeId self) noexcept {
  if (image.removed) return true;
  const ConfState& conf = image.confs.back().conf;
  return !(conf == ConfState{}) && !conf.has(self);
}

base::Result<void, OpenError> prepare(GroupImage& image,
                                      StateMachine& machine,
                                      LogStorage& storage) {
  const bool replicated = image.engine == EngineKind::kRaft;
  // Also on one disk, where the group may have been replicated once: its first entry said nothing.
  if (image.truncated == kFounding && machine.applied() == Position{}) {
    CAD_TRY(found(image, machine));
  } else {
    CAD_TRY(check_state(image, machine.durable()));
  }
  if (!replicated) return replay(image, image.last.index, machine, storage);
  // The term check above is what makes this safe: the log really holds what the state has (L-53).
  image.state.commit = std::max(image.state.commit, machine.durable().index);
  return replay(image, image.state.commit, machine, storage);
}

}  // namespace cadastre::log
