// Schedules: an order of elections, deliveries, losses and crashes that an engine must survive, written
// once and run on the shim and on an engine that is wrong on purpose, to show that the checkers see it.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "log/raft/shim_test/raft_node_testing.h"

namespace cadastre::log {

// One replica, with a disk that is always in sync. One entry for each append.
class ScheduleNode {
 public:
  ScheduleNode() = default;
  ScheduleNode(const ScheduleNode&) = delete;
  ScheduleNode& operator=(const ScheduleNode&) = delete;
  ScheduleNode(ScheduleNode&&) = delete;
  ScheduleNode& operator=(ScheduleNode&&) = delete;
  virtual ~ScheduleNode() = default;

  virtual void restart() = 0;
  virtual void campaign() = 0;
  virtual void propose(std::string_view body) = 0;
  virtual void tick() = 0;
  virtual void deliver(const Mail& letter) = 0;
  [[nodiscard]] virtual std::vector<Mail> take_mail() = 0;
  // An append of one entry that a leader `from` of `term` could have sent.
  [[nodiscard]] virtual Mail short_append(std::uint64_t from,
                                          std::uint64_t term,
                                          const TestEntry& before,
                                          const TestEntry& entry) const = 0;

  [[nodiscard]] virtual bool leads() const = 0;
  [[nodiscard]] virtual std::uint64_t term() const = 0;
  [[nodiscard]] virtual std::uint64_t last() const = 0;
  [[nodiscard]] virtual std::uint64_t term_at(std::uint64_t index) const = 0;
  [[nodiscard]] virtual std::uint64_t match_of(std::uint64_t peer) const = 0;
  [[nodiscard]] virtual const std::map<std::uint64_t, std::string>& state() const = 0;
};

using ScheduleNodes = std::map<std::uint64_t, std::unique_ptr<ScheduleNode>>;

// R1, figure 8 of the Raft paper, on nodes 1 to 5. Empty, or what went wrong.
[[nodiscard]] std::string run_figure_eight(ScheduleNodes& nodes);

// R2 on nodes 1 to 3: a node with a longer stale suffix gets a short append early in the new term.
[[nodiscard]] std::string run_stale_suffix(ScheduleNodes& nodes);

}  // namespace cadastre::log
