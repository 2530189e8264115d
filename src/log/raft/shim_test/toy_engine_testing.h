// ToyEngine: just enough of Raft to run the schedules, with a fault that can be switched on. It exists
// to show that the schedules see the faults; nothing else may use it.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "log/raft/shim_test/raft_node_testing.h"
#include "log/raft/shim_test/schedule_testing.h"

namespace cadastre::log {

enum class ToyFault {
  kNone,
  kCommitsOldTermsByCounting,  // figure 8
  kAcknowledgesItsWholeLog     // a stale suffix gets into the leader's match
};

class ToyEngine final : public ScheduleNode {
 public:
  ToyEngine(std::uint64_t id, std::vector<std::uint64_t> voters, ToyFault fault);

  void restart() override;
  void campaign() override;
  void propose(std::string_view body) override;
  void tick() override;
  void deliver(const Mail& letter) override;
  [[nodiscard]] std::vector<Mail> take_mail() override;
  [[nodiscard]] Mail short_append(std::uint64_t from,
                                  std::uint64_t term,
                                  const TestEntry& before,
                                  const TestEntry& entry) const override;

  [[nodiscard]] bool leads() const override { return leads_; }
  [[nodiscard]] std::uint64_t term() const override { return term_; }
  [[nodiscard]] std::uint64_t last() const override { return log_.size(); }
  [[nodiscard]] std::uint64_t term_at(std::uint64_t index) const override;
  [[nodiscard]] std::uint64_t match_of(std::uint64_t peer) const override;
  [[nodiscard]] const std::map<std::uint64_t, std::string>& state() const override {
    return state_;
  }

 private:
  struct Message {
    std::uint64_t term = 0;
    std::uint64_t log_term = 0;
    std::uint64_t commit = 0;
    bool granted = false;
    std::vector<TestEntry> entries;  // at most one
  };
  [[nodiscard]] static std::string encode(const Message& message);
  [[nodiscard]] static Message decode(std::string_view bytes);

  void send(std::uint64_t to, std::uint32_t type, std::uint64_t index, const Message& message);
  void send_append(std::uint64_t to);
  void follow(std::uint64_t term);
  void on_vote_request(const Mail& letter, const Message& message);
  void on_append(const Mail& letter, const Message& message);
  void put(const TestEntry& entry);
  void on_answer(const Mail& letter, const Message& message);
  void count();
  void commit_to(std::uint64_t index);

  std::uint64_t id_;
  std::vector<std::uint64_t> voters_;
  ToyFault fault_;
  // On disk.
  std::uint64_t term_ = 1;
  std::uint64_t vote_ = 0;
  std::vector<TestEntry> log_;  // log_[i] has index i + 1
  std::map<std::uint64_t, std::string> state_;
  // Until the next restart.
  bool leads_ = false;
  std::uint64_t commit_ = 1;
  std::set<std::uint64_t> granted_;
  std::map<std::uint64_t, std::uint64_t> match_;
  std::map<std::uint64_t, std::uint64_t> next_;
  std::vector<Mail> mail_;
};

}  // namespace cadastre::log
