// Notices: what an operator reads of the log thread's work (spec section 11, L-62): fixed phrases and numbers, never a
// command. Of each kind at most kLinesPerWindow lines in kLineWindow, and how many were left out; a halt is always told.
// Without a logger nothing is done.
//
// Belongs to the log thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/logger.h"
#include "log/checkpoint.h"
#include "log/conf_state.h"
#include "log/engine.h"
#include "log/line_pace.h"
#include "log/types.h"

namespace cadastre::log {

class Notices {
 public:
  // Borrows both; nothing: no lines.
  Notices(const base::Logger* logger, const base::Clock& clock, NodeId self) noexcept
      : logger_(logger), clock_(clock), self_(self) {}

  [[nodiscard]] bool heard() const noexcept { return logger_ != nullptr; }

  void halted(GroupId group, const std::string& reason);
  void role_changed(GroupId group, const EngineStatus& status);
  void membership_changed(GroupId group, const ConfRecord& conf);
  void lease_on(GroupId group, base::Elapsed length);
  void truncated(GroupId group, Index upto, std::uint64_t bytes);
  void log_is_large(GroupId group, std::uint64_t bytes, const Position& durable);

  // A leader's checkpoint for others, and a snapshot of a leader on its way in.
  void checkpoint_begun(GroupId group, Index applied);
  void checkpoint_made(GroupId group, Index at);
  void checkpoint_not_made(GroupId group, const std::string& reason);
  void snapshot_begun(GroupId group, NodeId from, Index at);
  void snapshot_installed(GroupId group, NodeId from, Index at);
  void snapshot_given_up(GroupId group, NodeId from, Index at);

  // The log thread came so long after the pass before, which took `took` and read `frames` of peers (L-62).
  struct Stall {
    base::Elapsed gap{};
    base::Elapsed took{};
    std::size_t frames = 0;
  };
  void stood_still(const Stall& stall);
  void sync_late(base::Elapsed age);
  void sync_ended(base::Elapsed took);  // One that was late.

 private:
  enum class Kind : std::uint8_t {
    kRole,
    kMembership,
    kLease,
    kTruncation,
    kSnapshot,
    kStall,
    kSync,
  };
  static constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kSync) + 1;

  [[nodiscard]] static std::string_view name_of(Kind kind) noexcept;
  [[nodiscard]] bool may(Kind kind);

  const base::Logger* const logger_;
  const base::Clock& clock_;
  const NodeId self_;
  std::array<LinePace, kKinds> paces_;
};

}  // namespace cadastre::log
