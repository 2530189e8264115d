// RaftCluster: voters of one group in one process, driven by hand: whose disk syncs, whose applier runs, which
// frames pass, when time goes on, who dies. Everything but the network is the real thing.
//
// One thread.

#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_clock.h"
#include "base/check.h"
#include "base/clock.h"
#include "log/conformance/engine_suite_testing.h"
#include "log/host.h"
#include "log/ledger_testing.h"
#include "log/lines_testing.h"
#include "log/steps_testing.h"
#include "log/storage/memory_storage.h"
#include "log/transport.h"

namespace cadastre::log {

inline constexpr GroupId kSceneGroup{7};
inline constexpr ClusterId kSceneCluster{1};

struct Letter {
  NodeId from;
  NodeId to;
  Lane lane = Lane::kControl;
  Frame frame;
  std::optional<SnapshotReport> report = std::nullopt;  // Nothing: the frame.
};

class RaftMember final : public Transport {
 public:
  RaftMember(NodeId id,
             std::vector<NodeId> founders,
             const Settings& settings,
             MemorySnapshotter::Fetch fetch)
      : id_(id), founders_(std::move(founders)), settings_(settings), fetch_(std::move(fetch)) {
    ledger_.shelf = &shelf_;
    start();
  }

  void start() {
    ++runs_;
    runner_ = std::make_unique<StepRunner>();
    storage_ = std::make_unique<MemoryStorage>(disk_, NodeIdentity{kSceneCluster, id_});
    machine_ = std::make_unique<LedgerMachine>(ledger_);
    notes_ = std::make_unique<conformance::LeadershipNotes>();
    snapshotter_ = std::make_unique<MemorySnapshotter>(shelf_, clock, fetch_);
    const HostReplication replication{.self = id_,
                                      .run = runs_,
                                      .transport = this,
                                      .cluster = kSceneCluster,
                                      .snapshotter = snapshotter_.get(),
                                      .boot_clock = &boot_clock};
    auto host = Host::open({*storage_, *runner_, clock, settings_, replication, lines.logger()});
    CAD_CHECK(host.has_value(), "a disk of the scene opens");
    host_ = std::move(*host);
    auto opened = host_->open_group({.group = kSceneGroup,
                                     .machine = *machine_,
                                     .listener = notes_.get(),
                                     .replicated = ReplicaOptions{founders_, 1}});
    CAD_CHECK(opened.has_value(), "the group of the scene opens");
    face_ = *opened;
  }
  // Dies; what was not synced is gone, or is there by chance.
  enum class Unsynced : std::uint8_t {
    kGone,
    kThere
  };
  void crash(Unsynced unsynced = Unsynced::kGone) {
    host_.reset();
    snapshotter_.reset();
    face_ = nullptr;
    writing_.reset();
    storage_.reset();
    mail.clear();
    disk_.crash(unsynced == Unsynced::kThere ? disk_.unsynced_bytes() : 0);
    shelf_.crash([&] { return unsynced == Unsynced::kThere; });
  }
  [[nodiscard]] bool up() const noexcept { return host_ != nullptr; }

  bool step() {
    if (!up() || paused) return false;
    return runner_->step_log(*host_) || step_disk() || runner_->step_reader(*host_) ||
           (!applier_stands && runner_->step_applier(*host_)) ||
           (!bulk_stands && snapshotter_->step());
  }
  void look_at_clock() {
    if (up() && !paused) (void)host_->run_log();
  }

  void send(NodeId to, Lane lane, std::vector<Frame> frames) override {
    for (Frame& frame : frames)
      mail.push_back({id_, to, lane, std::move(frame)});
  }
  void send_snapshot_report(NodeId to, GroupId group, const SnapshotReport& report) override {
    mail.push_back({id_, to, Lane::kControl, {group, id_, to, {}}, report});
  }
  void disconnect(NodeId peer) override { disconnected.push_back(peer); }
  void receive(const Letter& letter) {
    if (!up()) return;
    if (letter.report)
      return host_->on_snapshot_report(letter.from, letter.frame.group, *letter.report);
    host_->on_frames(letter.from, {letter.frame});
  }

  std::shared_ptr<conformance::Outcome> propose(std::string_view command) {
    auto outcome = std::make_shared<conformance::Outcome>();
    outcome->command = command;
    std::array proposals{
        Proposal{base::as_bytes(outcome->command), conformance::Node::note(outcome)}};
    face_->propose(proposals, Class::kUser);
    return outcome;
  }
  std::shared_ptr<std::optional<ReadAnswer>> read(ReadMode mode = ReadMode::kLinearizable) {
    auto answer = std::make_shared<std::optional<ReadAnswer>>();
    face_->read_barrier(mode, [answer](ReadAnswer said) { *answer = std::move(said); });
    return answer;
  }
  using ConfAnswer = base::Result<ConfRecord, ConfError>;
  // Of the membership as this node has it; joiners are found at a name made of their ids.
  std::shared_ptr<std::optional<ConfAnswer>> change(MembershipChange change) {
    auto answer = std::make_shared<std::optional<ConfAnswer>>();
    change.expected_conf_index = status().conf->index;
    for (const ConfStep& step : change.steps)
      change.addresses.push_back({step.node, {"node" + to_string(step.node) + ":2", ""}});
    face_->change_membership(std::move(change),
                             [answer](ConfAnswer said) { *answer = std::move(said); });
    return answer;
  }

  [[nodiscard]] NodeId id() const noexcept { return id_; }
  [[nodiscard]] Group& group() const { return *face_; }
  [[nodiscard]] Host& host() const { return *host_; }
  [[nodiscard]] GroupStatus status() const { return face_->status(); }
  [[nodiscard]] bool leads() const { return up() && status().leader == id_; }
  [[nodiscard]] const std::vector<std::string>& executed() const {
    return machine_->state().commands;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_->notes; }
  [[nodiscard]] bool syncing() const noexcept { return writing_.has_value(); }
  [[nodiscard]] LedgerMachine& machine() const { return *machine_; }
  [[nodiscard]] MemorySnapshotter& snapshotter() const { return *snapshotter_; }
  [[nodiscard]] const CheckpointShelf& shelf() const noexcept { return shelf_; }
  [[nodiscard]] StepRunner& runner() const { return *runner_; }
  [[nodiscard]] MemoryStorage& storage() const { return *storage_; }

  base::ManualClock clock;
  base::DerivedBootClock boot_clock{clock};
  Lines lines{clock};                // What its operator reads.
  int drift_per_mille = 0;           // How much faster than the cluster's the clock runs.
  bool paused = false;               // Nothing runs; time goes on, and frames arrive.
  bool disk_hangs = false;           // What is written is not synced.
  bool applier_stands = false;       // Nothing is executed.
  bool bulk_stands = false;          // No checkpoint is sealed or staged.
  std::vector<NodeId> disconnected;  // Whom it had its transport leave.
  std::vector<Letter> mail;          // On its way.
  std::function<void(const WriteSet&)> on_set;  // Whenever one goes to the disk.

 private:
  bool step_disk() {
    if (!writing_) {
      writing_ = host_->begin_write();
      if (!writing_) return false;
      if (on_set) on_set(*writing_);
      storage_->append(*writing_);
      return true;
    }
    if (disk_hangs) return false;
    storage_->sync();
    writing_.reset();
    host_->finish_write({});
    return true;
  }

  const NodeId id_;
  const std::vector<NodeId> founders_;
  const Settings settings_;
  const MemorySnapshotter::Fetch fetch_;
  MemoryDisk disk_;
  CheckpointShelf shelf_;
  LedgerDisk ledger_;
  std::uint64_t runs_ = 0;
  std::unique_ptr<StepRunner> runner_;
  std::unique_ptr<MemoryStorage> storage_;
  std::unique_ptr<LedgerMachine> machine_;
  std::unique_ptr<conformance::LeadershipNotes> notes_;
  std::unique_ptr<MemorySnapshotter> snapshotter_;
  std::unique_ptr<Host> host_;
  Group* face_ = nullptr;
  std::optional<WriteSet> writing_;
};

class RaftCluster {
 public:
  explicit RaftCluster(std::uint64_t voters, const Settings& settings = {}) : settings_(settings) {
    std::vector<NodeId> founders;
    for (std::uint64_t id = 1; id <= voters; ++id)
      founders.emplace_back(id);
    for (std::uint64_t id = 1; id <= voters; ++id)
      add(founders);
  }
  // Knows nobody, and waits to be fed. Its id.
  std::uint64_t add_joiner() { return add({}); }

  [[nodiscard]] RaftMember& at(std::uint64_t id) { return *members_[id - 1]; }

  // Everything that can happen without time does.
  void settle() {
    int steps = 0;
    while (step())
      CAD_CHECK(++steps < 1'000'000, "the scene comes to rest");
  }
  void pass_time(base::Elapsed by, base::Elapsed step = kTick) {
    for (base::Elapsed passed{}; passed < by; passed += step) {
      clock.advance(step);
      for (const auto& member : members_) {
        member->clock.advance(step + step * member->drift_per_mille / 1000);
        member->look_at_clock();
      }
      settle();
    }
  }
  // Time passes until one of them leads; nobody is 0.
  std::uint64_t elect(int ticks_most = 200) {
    for (int tick = 0; tick < ticks_most; ++tick) {
      pass_time(kTick);
      for (const auto& member : members_) {
        if (passes_from(*member) && member->leads()) return member->id().value();
      }
    }
    return 0;
  }
  // This one leads, and everybody knows.
  void establish(std::uint64_t id) {
    std::uint64_t leader = elect();
    CAD_CHECK(leader != 0, "somebody is elected");
    if (leader != id) {
      at(leader).group().transfer_leadership(NodeId{id}, {.force = true}, [](const auto&) {});
      pass_time(std::chrono::seconds(2));
    }
    CAD_CHECK(at(id).leads(), "leadership can be handed over");
    pass_time(10 * kTick);
  }
  void cut(std::uint64_t id) {
    passes = [id](const Letter& letter) {
      return letter.from.value() != id && letter.to.value() != id;
    };
  }
  void heal() { passes = nullptr; }

  base::ManualClock clock;
  std::function<bool(const Letter&)> passes;  // Nothing: all do. What does not is lost,
  std::vector<Letter>* kept = nullptr;        // or kept here.
  std::function<void()> after_step;           // Whenever something happened.

 private:
  bool step() {
    for (const auto& member : members_) {
      const std::vector<Letter> mail = std::exchange(member->mail, {});
      for (const Letter& letter : mail)
        carry(letter);
      if (mail.empty() && !member->step()) continue;
      if (after_step) after_step();
      return true;
    }
    return false;
  }
  void carry(const Letter& letter) {
    if (passes && !passes(letter)) {
      if (kept != nullptr) kept->push_back(letter);
      return;
    }
    if (letter.to.value() <= members_.size()) at(letter.to.value()).receive(letter);
  }
  std::uint64_t add(std::vector<NodeId> founders) {
    const NodeId id{members_.size() + 1};
    auto fetch = [this, id](const CheckpointName& name) -> std::optional<base::Bytes> {
      const bool reaches = !passes || passes({name.node, id, Lane::kBulk, {}});
      if (!reaches || name.node.value() > members_.size() || !at(name.node.value()).up())
        return std::nullopt;
      return at(name.node.value()).snapshotter().read(name);
    };
    members_.push_back(
        std::make_unique<RaftMember>(id, std::move(founders), settings_, std::move(fetch)));
    return id.value();
  }
  // Whether anybody would hear it.
  [[nodiscard]] bool passes_from(const RaftMember& member) const {
    if (!passes) return true;
    for (const auto& other : members_) {
      if (other->id() != member.id() && passes({member.id(), other->id(), Lane::kControl, {}}))
        return true;
    }
    return false;
  }

  const Settings settings_;
  std::vector<std::unique_ptr<RaftMember>> members_;
};

}  // namespace cadastre::log
