// CompletionLedger: the callbacks that a process took and has not called yet.
//
// The log calls each exactly once: when it knows what became of it, at the latest a while after all is calm, and when
// the process ends.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "log/types.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {

enum class CompletionKind : std::uint8_t {
  kCommand,
  kBarrier,
  kChange,  // Of membership.
  kTransfer,
};

class CompletionLedger {
 public:
  struct Open {
    log::GroupId group;
    CompletionKind kind = CompletionKind::kCommand;
    SimTime since;
  };

  // A number for close().
  [[nodiscard]] std::uint64_t open(const Open& one) {
    open_.emplace(next_, one);
    ++counts_[{one.group, one.kind}];
    return next_++;
  }
  // False: it was called before.
  [[nodiscard]] bool close(std::uint64_t number) {
    const auto found = open_.find(number);
    if (found == open_.end()) return false;
    --counts_[{found->second.group, found->second.kind}];
    open_.erase(found);
    return true;
  }

  [[nodiscard]] std::size_t count(log::GroupId group, CompletionKind kind) const {
    const auto found = counts_.find({group, kind});
    return found == counts_.end() ? 0 : found->second;
  }
  // Of those that count.
  [[nodiscard]] std::optional<Open> oldest(const std::function<bool(const Open&)>& counts) const {
    for (const auto& [number, one] : open_) {
      if (counts(one)) return one;
    }
    return std::nullopt;
  }
  // The process is gone. How many were never called.
  [[nodiscard]] std::size_t clear() {
    const std::size_t left = open_.size();
    open_.clear();
    counts_.clear();
    return left;
  }

 private:
  struct Key {
    log::GroupId group;
    CompletionKind kind;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  std::map<std::uint64_t, Open> open_;
  std::map<Key, std::size_t> counts_;
  std::uint64_t next_ = 1;
};

}  // namespace cadastre::sim
