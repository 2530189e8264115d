// The engine suite: what a group promises whatever decides for it and wherever its log lies, written
// once and driven through Host and Group, step by step, on one thread.
//
// An engine or a storage joins with an Environment. Node is one process after another on one disk; where a
// group has more voters than the node, they are its Neighbours, and the node leads.

#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/endian.h"
#include "log/host.h"
#include "log/ledger_testing.h"
#include "log/settings.h"
#include "log/steps_testing.h"
#include "log/storage.h"
#include "log/storage/records.h"
#include "log/transport.h"

namespace cadastre::log::conformance {

inline constexpr NodeIdentity kIdentity{ClusterId{1}, NodeId{2}};

// What a crash leaves of bytes that were written and not synced.
enum class Unsynced : std::uint8_t {
  kDropped,
  kCut,
  kKept
};

// A disk with the log of a node, which outlives processes.
class EngineDisk {
 public:
  EngineDisk() = default;
  EngineDisk(const EngineDisk&) = delete;
  EngineDisk& operator=(const EngineDisk&) = delete;
  virtual ~EngineDisk() = default;

  [[nodiscard]] virtual base::Result<std::unique_ptr<LogStorage>, OpenError> open() = 0;

  // The two halves of a write. Where a storage does both at once, the first does nothing.
  virtual void append(LogStorage& storage, const WriteSet& set) = 0;
  [[nodiscard]] virtual WriteResult sync(LogStorage& storage, const WriteSet& set) = 0;

  // The process died, and its storage is closed.
  virtual void crash(Unsynced unsynced) = 0;
  // Which fates of unsynced bytes can be told apart here.
  [[nodiscard]] virtual std::vector<Unsynced> fates() const = 0;
};

// The other voters of the node's groups and the network between all of them, driven by hand.
class Neighbours {
 public:
  Neighbours() = default;
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;
  virtual ~Neighbours() = default;

  [[nodiscard]] virtual Transport& transport() = 0;  // The node's.
  // The node's process is up with these groups; nothing: it is gone.
  virtual void meet(Host* node, const std::vector<GroupId>& groups) = 0;
  // One frame, or one step of a neighbour. False: nothing is under way.
  virtual bool step() = 0;
  // Time has passed: their log threads look at the clock. Whoever leads in the node's place hands over.
  virtual void look_at_clock() = 0;
};

// When a new process knows what was committed before it.
enum class Committed : std::uint8_t {
  kKnownAtOpen,
  kKnownByElection
};

// An engine on a storage.
struct Environment {
  std::string name;
  std::function<std::unique_ptr<EngineDisk>()> make_disk;
  // Opens a group with the engine.
  std::function<base::Result<Group*, OpenError>(Host&, const GroupOptions&)> open_group;
  // A group's first set, with one entry that is committed.
  std::function<GroupWrite(GroupId, Body)> first_write = nullptr;
  std::function<std::unique_ptr<Neighbours>(base::ManualClock&)> make_neighbours = nullptr;
  Committed committed = Committed::kKnownAtOpen;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
  friend void PrintTo(const Environment& environment, std::ostream* out) {
    *out << environment.name;
  }
};

[[nodiscard]] inline std::string environment_name(const testing::TestParamInfo<Environment>& info) {
  return info.param.name;
}

// Writes down what it is told: "acquired 3 at 17".
class LeadershipNotes final : public LeadershipListener {
 public:
  void acquired(Term term, Index index) override {
    notes.push_back("acquired " + to_string(term) + " at " + to_string(index));
  }
  void lost(Term term) override { notes.push_back("lost " + to_string(term)); }

  std::vector<std::string> notes;
};

// What one command came to. `times` is how often its caller was told: once, in the end.
struct Outcome {
  std::string command;
  int times = 0;
  std::optional<Answer> answer;

  [[nodiscard]] bool applied() const { return answer && answer->has_value(); }
  [[nodiscard]] std::string error() const {
    if (!answer) return "none";
    return *answer ? "applied" : std::string(log::name_of(answer->error().code));
  }
  // How many commands the state had executed with this one.
  [[nodiscard]] std::uint64_t count() const {
    return base::load_le<std::uint64_t>((**answer).result.data());
  }
};

// A node's parts, as far as they take turns, and who comes first when several have work.
enum class Part : std::uint8_t {
  kLog,
  kAppend,
  kSync,
  kApplier
};
using Schedule = std::array<Part, 4>;
inline constexpr Schedule kWriterFirst{Part::kLog, Part::kSync, Part::kAppend, Part::kApplier};
inline constexpr Schedule kApplierFirst{Part::kApplier, Part::kLog, Part::kAppend, Part::kSync};
inline constexpr Schedule kLogLast{Part::kAppend, Part::kApplier, Part::kSync, Part::kLog};

class Node {
 public:
  explicit Node(const Environment& environment)
      : environment_(environment), disk_(environment.make_disk()) {
    if (environment.make_neighbours) neighbours_ = environment.make_neighbours(clock);
  }

  // Starts a process with these groups.
  [[nodiscard]] base::Result<void, OpenError> try_start(std::vector<GroupId> groups) {
    runner_ = std::make_unique<StepRunner>();
    storage_ = CAD_TRY(disk_->open());
    const HostReplication replication{
        .self = kIdentity.node,
        .run = ++runs_,
        .transport = neighbours_ ? &neighbours_->transport() : nullptr};
    host_ = CAD_TRY(Host::open({*storage_, *runner_, clock, settings, replication}));
    for (const GroupId id : groups) {
      Opened& opened = opened_[id];
      opened.machine = std::make_unique<LedgerMachine>(ledgers[id]);
      opened.listener = std::make_unique<LeadershipNotes>();
      opened.face = CAD_TRY(environment_.open_group(
          *host_, {.group = id, .machine = *opened.machine, .listener = opened.listener.get()}));
    }
    if (neighbours_) lead(groups);
    return {};
  }
  // What was completed before this process is executed again, if it was not at once.
  void catch_up() {
    if (environment_.committed == Committed::kKnownByElection) rest();
  }
  // The process dies here.
  void crash(Unsynced unsynced = Unsynced::kDropped) {
    if (neighbours_) neighbours_->meet(nullptr, {});
    host_.reset();
    writing_.reset();
    failing_after_.reset();
    storage_.reset();
    opened_.clear();
    disk_->crash(unsynced);
  }

  [[nodiscard]] Host& host() const { return *host_; }
  [[nodiscard]] LogStorage& storage() const { return *storage_; }
  [[nodiscard]] EngineDisk& disk() const { return *disk_; }
  [[nodiscard]] StepRunner& runner() const { return *runner_; }
  [[nodiscard]] Group& group(GroupId id) const { return *opened_.at(id).face; }
  [[nodiscard]] LedgerMachine& machine(GroupId id) const { return *opened_.at(id).machine; }
  [[nodiscard]] const std::vector<std::string>& leadership(GroupId id) const {
    return opened_.at(id).listener->notes;
  }

  std::shared_ptr<Outcome> propose(GroupId id, std::string_view command, Class cls = Class::kUser) {
    auto outcome = std::make_shared<Outcome>();
    outcome->command = command;
    std::array proposals{Proposal{base::as_bytes(outcome->command), note(outcome)}};
    group(id).propose(proposals, cls);
    return outcome;
  }
  std::shared_ptr<Outcome> propose_if_term(GroupId id, Term term, std::string_view command) {
    auto outcome = std::make_shared<Outcome>();
    outcome->command = command;
    group(id).propose_if_term(term, {base::as_bytes(outcome->command), note(outcome)});
    return outcome;
  }
  [[nodiscard]] static Done note(const std::shared_ptr<Outcome>& outcome) {
    return [outcome](Answer answer) {
      ++outcome->times;
      outcome->answer = std::move(answer);
    };
  }

  // The write after so many others fails.
  void fail_write(int after) { failing_after_ = after; }

  // One step of the first part that has work. False: none has.
  bool step() {
    return std::ranges::any_of(schedule, [this](Part part) { return step(part); }) ||
           runner_->step_reader(*host_) || (neighbours_ && neighbours_->step());
  }
  bool step(Part part) {
    switch (part) {
      case Part::kLog: return runner_->step_log(*host_);
      case Part::kAppend: return append();
      case Part::kSync: return sync();
      case Part::kApplier: return runner_->step_applier(*host_);
    }
    return false;
  }
  // Steps until nothing has work; time passes for those that wait for it.
  void rest() {
    for (int wait = 0; wait < 3; ++wait) {
      int steps = 0;
      while (step())
        CAD_CHECK(++steps < 1'000'000, "the host comes to rest");
      clock.advance(kHandoverWaitMax);
      (void)host_->run_log();
    }
    while (step()) {}
  }
  // As rest(), without appliers.
  void rest_unapplied() {
    while (step_unapplied()) {}
  }
  void keep_house() {
    clock.advance(kTruncateEvery);
    (void)host_->run_log();
    rest();
  }

  base::ManualClock clock;
  Schedule schedule = kWriterFirst;
  Settings settings;  // Of processes that start later.
  std::map<GroupId, LedgerDisk> ledgers;

 private:
  struct Opened {
    std::unique_ptr<LedgerMachine> machine;
    std::unique_ptr<LeadershipNotes> listener;
    Group* face = nullptr;
  };

  bool step_unapplied() {
    return runner_->step_log(*host_) || writing_ || runner_->step_writer(*host_) ||
           runner_->step_reader(*host_) || (neighbours_ && neighbours_->step());
  }
  // Time passes until the node leads its groups; what it executes waits.
  void lead(const std::vector<GroupId>& groups) {
    neighbours_->meet(host_.get(), groups);
    const auto leads = [&] {
      return std::ranges::all_of(
          groups, [this](GroupId id) { return group(id).status().leader == kIdentity.node; });
    };
    for (int ticks = 0; !leads(); ++ticks) {
      CAD_CHECK(ticks < 1'000, "somebody is elected");
      clock.advance(settings.raft.tick);
      (void)host_->run_log();
      neighbours_->look_at_clock();
      while (!leads() && step_unapplied()) {}
    }
  }

  // The two halves of a write.
  bool append() {
    if (writing_) return false;
    writing_ = host_->begin_write();
    if (!writing_) return false;
    disk_->append(*storage_, *writing_);
    return true;
  }
  bool sync() {
    if (!writing_) return false;
    WriteResult result = failing_after_ && (*failing_after_)-- == 0
                             ? base::fail(WriteError::kFailed, "input/output error")
                             : disk_->sync(*storage_, *writing_);
    writing_.reset();
    host_->finish_write(std::move(result));
    return true;
  }

  const Environment& environment_;
  const std::unique_ptr<EngineDisk> disk_;
  std::unique_ptr<Neighbours> neighbours_;
  std::uint64_t runs_ = 0;
  std::unique_ptr<StepRunner> runner_;
  std::unique_ptr<LogStorage> storage_;
  std::map<GroupId, Opened> opened_;
  std::unique_ptr<Host> host_;
  std::optional<WriteSet> writing_;  // Appended, not yet synced.
  std::optional<int> failing_after_;
};

class EngineSuite : public testing::TestWithParam<Environment> {
 public:
  static constexpr GroupId kGroup{7};

  EngineSuite() : node(GetParam()) {}

  void start(std::vector<GroupId> groups = {kGroup}) {
    const auto started = node.try_start(std::move(groups));
    ASSERT_TRUE(started) << started.error().detail;
  }
  [[nodiscard]] const std::vector<std::string>& executed(GroupId id = kGroup) const {
    return node.machine(id).state().commands;
  }

  Node node;
};

}  // namespace cadastre::log::conformance
