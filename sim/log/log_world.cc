#include "sim/log/log_world.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "sim/checkers/digest_agreement.h"
#include "sim/checkers/history.h"
#include "sim/checkers/linearizability.h"
#include "sim/checkers/model.h"
#include "sim/log/log_client.h"
#include "sim/log/log_node.h"
#include "sim/log/raft_oracle.h"
#include "sim/network/network.h"
#include "sim/schedule/scheduler.h"
#include "sim/shrink/shrink_list.h"

namespace cadastre::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint64_t kFirstClient = 100;
constexpr std::size_t kShrinkAttemptsMax = 400;
constexpr nanoseconds kCalmSlice = std::chrono::seconds(2);

std::uint64_t mixed(std::uint64_t seed, std::uint64_t what) {
  return base::SeededRandom(seed * 0x9e3779b97f4a7c15 + what).next_u64();
}

// Retention that a short run reaches.
log::Settings short_settings(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 1));
  log::Settings settings;
  settings.retention.truncate_every = milliseconds(100 + random.below(1000));
  settings.retention.truncate_entries_min = 5 + random.below(50);
  settings.retention.unflushed_age_max = milliseconds(500 + random.below(5000));
  settings.housekeeping_every = milliseconds(50 + random.below(500));
  return settings;
}

std::uint64_t drift_ppm_max(const LogWorldOptions& options) {
  const bool trusted = options.lease_reads || options.registers == Registers::kOfNodes;
  return trusted ? 1'000 * log::kLeaseDriftPerMille : 300'000;
}

// Logs so short that whoever was away for a moment lacks their begin, and waits that a short run outlasts.
void expect_snapshots(log::Settings& settings, std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 8));
  log::RetentionSettings& retention = settings.retention;
  retention.truncate_entries_min = 1 + random.below(20);
  retention.unflushed_age_max = milliseconds(100 + random.below(2000));
  retention.leader_trail_entries = random.below(2) == 0 ? 0 : random.below(100);
  if (retention.leader_trail_entries == 0) retention.leader_trail_bytes = 0;
  if (random.below(2) == 0) retention.follower_trail_bytes = 0;
  if (random.below(3) == 0) retention.fetch_kept_bytes_max = 0;
  retention.peer_silent_after = milliseconds(random.below(3000));
  settings.snapshots = {.reused_for = milliseconds(50 + random.below(5000)),
                        .report_wait = milliseconds(500 + random.below(2500)),
                        .retry_after = milliseconds(20 + random.below(500)),
                        .taken_within = milliseconds(100 + random.below(2000))};
}

log::Settings settings_of(const LogWorldOptions& options, std::uint64_t node) {
  log::Settings settings = short_settings(options.seed + node);
  settings.raft.lease_reads = options.lease_reads;
  if (options.registers == Registers::kOfAll) expect_snapshots(settings, options.seed + node);
  return settings;
}

// Of replicated groups, one client in three waits until a deposed leader knows what became of its commands (1.5).
nanoseconds patience_of(const LogWorldOptions& options, std::uint64_t client) {
  if (options.registers == Registers::kOfNodes) return milliseconds(2000);
  return milliseconds(client % 3 == 0 ? 4000 : 700);
}

NetworkFaults faults_to_nodes(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 2));
  NetworkFaults faults;
  faults.control.drop_ppm = random.below(20'000);
  faults.control.reorder_ppm = random.below(20'000);
  faults.control.reorder_most = milliseconds(20);
  faults.control.reset_ppm = random.below(1'000);
  faults.control.delay.tail_ppm = random.below(10'000);
  faults.control.delay.tail_most = milliseconds(500);
  return faults;
}

// Between voters everything is possible, also twice.
NetworkFaults faults_of_voters(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 6));
  NetworkFaults faults = faults_to_nodes(seed);
  faults.control.duplicate_ppm = random.below(20'000);
  faults.control.delay.tail_most = milliseconds(1 + random.below(3000));
  faults.bulk = faults.control;
  return faults;
}

std::vector<log::NodeId> founders(std::uint64_t nodes) {
  std::vector<log::NodeId> ids;
  for (std::uint64_t id = 1; id <= nodes; ++id)
    ids.emplace_back(id);
  return ids;
}

class LogWorld {
 public:
  explicit LogWorld(const LogWorldOptions& options)
      : options_(options),
        scheduler_(mixed(options.seed, 3)),
        network_(scheduler_, mixed(options.seed, 4), faults_to_nodes(options.seed)),
        oracle_(founders(options.founders), report_.violations) {
    const LogWorldParts parts{scheduler_, network_, digests_, oracle_, report_.violations};
    const bool shared = options.registers == Registers::kOfAll;
    for (std::uint64_t i = 1; i <= options.nodes; ++i) {
      nodes_.push_back(
          std::make_unique<LogNode>(parts, LogNode::Options{.id = NodeId{i},
                                                            .seed = mixed(options.seed, 10 + i),
                                                            .groups = options.groups,
                                                            .peers = shared ? options.nodes : 0,
                                                            .founders = options.founders,
                                                            .settings = settings_of(options, i)}));
    }
    for (std::uint64_t i = 0; i < options.clients; ++i) {
      clients_.push_back(
          std::make_unique<LogClient>(scheduler_, network_, history_, next_number_,
                                      LogClient::Options{.id = NodeId{kFirstClient + i},
                                                         .seed = mixed(options.seed, 1000 + i),
                                                         .nodes = options.nodes,
                                                         .groups = options.groups,
                                                         .registers = options.registers,
                                                         .think_most = options.think_most,
                                                         .patience = patience_of(options, i),
                                                         .is_lost = [this](NodeId node) {
                                                           return nodes_[node.value() - 1]->lost();
                                                         }}));
    }
    let_answers_double();
    if (shared) spoil_voters();
  }

  LogReport run() {
    report_.faults = options_.faults
                         ? *options_.faults
                         : plan_faults(options_.seed, {.nodes = options_.nodes,
                                                       .groups = options_.groups,
                                                       .registers = options_.registers,
                                                       .drift_ppm_max = drift_ppm_max(options_),
                                                       .lasts = options_.lasts});
    for (const LogFault& fault : report_.faults)
      scheduler_.after(kWorld, fault.when, [this, &fault] { carry_out(fault); });
    for (const auto& node : nodes_)
      node->start();
    for (const auto& client : clients_)
      client->begin();
    scheduler_.run_until(SimTime(options_.lasts));
    calm_down();
    judge();
    collect();
    return std::move(report_);
  }

 private:
  LogNode& node_of(const LogFault& fault) { return *nodes_[fault.node.value() - 1]; }

  // A request that arrives twice would be two commands; an answer that arrives twice is one too many.
  void let_answers_double() {
    NetworkFaults faults = faults_to_nodes(options_.seed);
    faults.control.duplicate_ppm = 20'000;
    for (std::uint64_t node = 1; node <= options_.nodes; ++node) {
      for (std::uint64_t client = 0; client < options_.clients; ++client)
        network_.set_faults({NodeId{node}, NodeId{kFirstClient + client}}, faults);
    }
  }

  void spoil_voters() {
    for (std::uint64_t from = 1; from <= options_.nodes; ++from) {
      for (std::uint64_t to = 1; to <= options_.nodes; ++to) {
        if (from == to) continue;
        network_.set_faults({NodeId{from}, NodeId{to}}, faults_of_voters(options_.seed));
      }
    }
  }

  void restart_later(LogNode& node, nanoseconds after) {
    scheduler_.after(kWorld, after, [&node] {
      if (!node.up()) node.start();
    });
  }

  void carry_out(const LogFault& fault) {
    if (calm_) return;
    LogNode& node = node_of(fault);
    switch (fault.kind) {
      case LogFaultKind::kCrash:
        node.crash(fault.amount);
        restart_later(node, fault.lasts);
        break;
      case LogFaultKind::kPause:
        scheduler_.pause(fault.node, scheduler_.now() + fault.lasts);
        break;
      case LogFaultKind::kSlowSync: node.slow_next_sync(fault.lasts); break;
      case LogFaultKind::kFailedSync: node.fail_next_sync(fault.lasts); break;
      case LogFaultKind::kClockJump:
        node.clock().jump(fault.amount % 2 == 0 ? fault.lasts : -fault.lasts);
        break;
      case LogFaultKind::kDrift:
        node.clock().set_drift({static_cast<std::int64_t>(fault.amount)});
        break;
      case LogFaultKind::kSlowDrift:
        node.clock().set_drift({-static_cast<std::int64_t>(fault.amount)});
        break;
      case LogFaultKind::kTransfer:
        if (LogNode* const leader = leader_of(fault.amount % options_.groups))
          leader->transfer(fault.amount % options_.groups, fault.node);
        break;
      case LogFaultKind::kMembership:
        if (LogNode* const leader = leader_of(fault.amount % options_.groups))
          leader->change_membership(fault.amount % options_.groups, fault.amount);
        break;
      case LogFaultKind::kSlowFiles: node.slow_next_files(fault.lasts); break;
      case LogFaultKind::kFailedFiles: node.fail_next_files(); break;
      case LogFaultKind::kCrashFed:
        node.crash_when_fed(
            fault.amount % 2 == 0 ? LogNode::Fed::kInstalling : LogNode::Fed::kFetching,
            fault.lasts);
        break;
      case LogFaultKind::kPartition: partition(fault); break;
      case LogFaultKind::kCutPair: cut({fault.node, NodeId{fault.amount}}, fault.lasts); break;
      case LogFaultKind::kIsolate:
        for (std::uint64_t i = 1; i <= options_.nodes; ++i) {
          if (fault.amount != 2) cut({NodeId{i}, fault.node}, fault.lasts);
          if (fault.amount != 1) cut({fault.node, NodeId{i}}, fault.lasts);
        }
        break;
      case LogFaultKind::kReset:
        for (std::uint64_t client = 0; client < options_.clients; ++client)
          network_.reset({{NodeId{kFirstClient + client}, fault.node}, Lane::kControl});
        for (std::uint64_t i = 1; i <= options_.nodes; ++i) {
          if (NodeId{i} == fault.node) continue;
          for (const Lane lane : {Lane::kControl, Lane::kBulk})
            network_.reset({{NodeId{i}, fault.node}, lane});
        }
        break;
      case LogFaultKind::kFlush: node.flush(fault.amount); break;
      case LogFaultKind::kBitFlip:
        node.crash(fault.amount);
        node.flip_bit(mixed(options_.seed, static_cast<std::uint64_t>(fault.when.count())));
        restart_later(node, fault.lasts);
        break;
    }
  }

  // Nobody, or one of those who believe that they are it.
  LogNode* leader_of(std::uint64_t group) {
    for (const auto& node : nodes_) {
      if (node->leads(group)) return node.get();
    }
    return nullptr;
  }

  // Cuts may overlap: the last one to end heals.
  void cut(const Link& link, nanoseconds lasts) {
    if (link.from == link.to) return;
    network_.block(link);
    ++cuts_[link];
    scheduler_.after(kWorld, lasts, [this, link] {
      if (--cuts_[link] == 0) network_.unblock(link);
    });
  }

  void partition(const LogFault& fault) {
    for (std::uint64_t i = 0; i < options_.clients; ++i) {
      const NodeId client{kFirstClient + i};
      if (fault.amount != 2) network_.block({client, fault.node});
      if (fault.amount != 1) network_.block({fault.node, client});
    }
    scheduler_.after(kWorld, fault.lasts, [this, node = fault.node] {
      for (std::uint64_t i = 0; i < options_.clients; ++i) {
        network_.unblock({NodeId{kFirstClient + i}, node});
        network_.unblock({node, NodeId{kFirstClient + i}});
      }
    });
  }

  // Faults stop: everyone who can must answer again.
  void calm_down() {
    calm_ = true;
    network_.heal();
    network_.set_all_faults({});
    for (const auto& node : nodes_) {
      scheduler_.resume(NodeId{static_cast<std::uint64_t>(&node - nodes_.data()) + 1});
      node->forget_faults();
      if (!node->up()) node->start();
    }
    std::vector<std::uint64_t> before;
    for (const auto& client : clients_)
      before.push_back(client->succeeded());
    const std::vector<log::Index> committed = committed_now();
    const bool all_lost =
        std::ranges::all_of(nodes_, [](const auto& node) { return node->lost(); });
    // Followers of a group that goes on at once catch up in the first slice.
    const SimTime end = scheduler_.now() + options_.calm;
    std::string stuck;
    do {
      scheduler_.run_until(std::min(end, scheduler_.now() + kCalmSlice));
      stuck = all_lost ? std::string() : what_is_stuck(before, committed);
    } while (!stuck.empty() && scheduler_.now() < end);
    if (!stuck.empty()) report_.violations.push_back(stuck + " though all is calm");
  }

  // Of each replicated group, as far as any node knows.
  std::vector<log::Index> committed_now() const {
    std::vector<log::Index> highest(options_.groups);
    for (const auto& node : nodes_) {
      for (std::uint64_t group = 0; group < options_.groups; ++group) {
        if (const auto status = node->status_of(group))
          highest[group] = std::max(highest[group], status->committed);
      }
    }
    return highest;
  }

  // Nothing: every group has a leader, every member has what was committed, and every client got something done since.
  std::string what_is_stuck(const std::vector<std::uint64_t>& before,
                            const std::vector<log::Index>& committed) {
    const bool shared = options_.registers == Registers::kOfAll;
    for (std::uint64_t group = 0; shared && group < options_.groups; ++group) {
      const LogNode* const leader = leader_of(group);
      if (leader == nullptr) return fmt::format("nobody leads group {}", group);
      const log::ConfState conf = leader->status_of(group)->conf->conf;
      for (std::uint64_t id = 1; id <= options_.nodes; ++id) {
        if (conf.has(log::NodeId{id}) && !has_executed(id, group, committed[group]))
          return fmt::format("node {} does not catch up in group {}", id, group);
      }
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (clients_[i]->succeeded() == before[i])
        return fmt::format("client {} gets nothing done", i);
    }
    return {};
  }

  bool has_executed(std::uint64_t node, std::uint64_t group, log::Index upto) const {
    const auto status = nodes_[node - 1]->status_of(group);
    return status && status->applied >= upto;
  }

  void judge() {
    const checkers::RegisterModel model;
    const checkers::Judgement judgement = check_linearizable(history_.operations(), model);
    if (judgement.verdict != checkers::Verdict::kLinearizable) {
      report_.violations.push_back(
          fmt::format("the history is {}: {}", name(judgement.verdict), judgement.detail));
    }
    for (const checkers::Disagreement& found : digests_.disagreements())
      report_.violations.push_back("digests: " + found.detail);
  }

  void collect() {
    report_.tasks = scheduler_.executed();
    report_.messages = network_.counters().delivered;
    report_.operations = history_.operations().size();
    for (std::uint64_t id = options_.founders + 1; id <= options_.nodes; ++id) {
      for (std::uint64_t group = 0; group < options_.groups; ++group)
        report_.joined += has_executed(id, group, log::Index{1}) ? 1 : 0;
    }
    for (const auto& node : nodes_) {
      node->crash(0);  // Counts what the last process did.
      report_.executed += node->counters().executed;
      report_.crashes += node->counters().crashes - 1;
      report_.sets += node->counters().sets;
      report_.truncations += node->counters().truncations;
      report_.flips_found += node->counters().flips_found;
      report_.transfers += node->counters().transfers;
      report_.changes += node->counters().changes;
      report_.lease_reads += node->counters().lease_reads;
      report_.lease_refusals += node->counters().lease_refusals;
      report_.snapshots_made += node->counters().snapshots_made;
      report_.snapshots_sent += node->counters().snapshots_sent;
      report_.snapshots_installed += node->counters().snapshots_installed;
      report_.snapshots_failed += node->counters().snapshots_failed;
      report_.stagings_cut += node->counters().stagings_cut;
      report_.installs_resumed += node->counters().installs_resumed;
      report_.letters_refused += node->counters().letters_refused;
    }
    report_.elections = oracle_.elections();
    report_.replaced = oracle_.replaced();
    report_.configurations = oracle_.configurations();
  }

  const LogWorldOptions options_;
  LogReport report_;
  Scheduler scheduler_;
  Network network_;
  checkers::DigestAgreement digests_;
  RaftOracle oracle_;
  std::map<Link, int> cuts_;  // How many hold now.
  checkers::History history_;
  std::uint64_t next_number_ = 1;
  std::vector<std::unique_ptr<LogNode>> nodes_;
  std::vector<std::unique_ptr<LogClient>> clients_;
  bool calm_ = false;
};

}  // namespace

LogWorldOptions log_world_of(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 5));
  LogWorldOptions options;
  options.seed = seed;
  options.nodes = 1 + random.below(3);
  options.founders = options.nodes;
  options.groups = std::array<std::uint64_t, 4>{1, 2, 4, 16}[random.below(4)];
  options.clients = 2 + random.below(8);
  options.think_most = milliseconds(std::array<int, 3>{1, 20, 100}[random.below(3)]);
  return options;
}

LogWorldOptions raft_world_of(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 7));
  LogWorldOptions options;
  options.seed = seed;
  options.registers = Registers::kOfAll;
  options.founders = random.below(4) == 0 ? 5 : 3;
  options.groups = std::array<std::uint64_t, 4>{1, 1, 2, 4}[random.below(4)];
  options.clients = 2 + random.below(6);
  options.think_most = milliseconds(std::array<int, 3>{5, 30, 100}[random.below(3)]);
  options.lease_reads = random.below(2) == 0;
  options.calm = 20 * log::RaftSettings{}.election_timeout();
  options.nodes = options.founders + random.below(3);
  return options;
}

LogReport simulate_log(const LogWorldOptions& options) {
  return LogWorld(options).run();
}

std::vector<LogFault> shrink_log_failure(const LogWorldOptions& options,
                                         const std::vector<LogFault>& faults) {
  return shrink_list(faults, kShrinkAttemptsMax, [&](const std::vector<LogFault>& some) {
    LogWorldOptions fewer = options;
    fewer.faults = some;
    return !simulate_log(fewer).violations.empty();
  });
}

void LogReport::add(const LogReport& other) {
  for (const auto count : {&LogReport::tasks,
                           &LogReport::messages,
                           &LogReport::operations,
                           &LogReport::executed,
                           &LogReport::crashes,
                           &LogReport::sets,
                           &LogReport::truncations,
                           &LogReport::flips_found,
                           &LogReport::elections,
                           &LogReport::replaced,
                           &LogReport::transfers,
                           &LogReport::changes,
                           &LogReport::configurations,
                           &LogReport::lease_reads,
                           &LogReport::lease_refusals,
                           &LogReport::snapshots_made,
                           &LogReport::snapshots_sent,
                           &LogReport::snapshots_installed,
                           &LogReport::snapshots_failed,
                           &LogReport::stagings_cut,
                           &LogReport::installs_resumed,
                           &LogReport::joined,
                           &LogReport::letters_refused})
    this->*count += other.*count;
}

std::string to_text(const LogReport& report) {
  return fmt::format(
      "{} operations, {} commands answered, {} sets, {} crashes, {} truncations, {} damaged logs "
      "refused, {} elections, {} entries replaced, {} transfers, {} changes of membership, {} "
      "configurations, {} reads by lease and {} refused at the second look, {} snapshots made, {} "
      "sent, {} installed, {} failed, {} stagings cut off, {} installs resumed, {} joined, {} "
      "letters of dead processes refused, {} messages, {} tasks",
      report.operations, report.executed, report.sets, report.crashes, report.truncations,
      report.flips_found, report.elections, report.replaced, report.transfers, report.changes,
      report.configurations, report.lease_reads, report.lease_refusals, report.snapshots_made,
      report.snapshots_sent, report.snapshots_installed, report.snapshots_failed,
      report.stagings_cut, report.installs_resumed, report.joined, report.letters_refused,
      report.messages, report.tasks);
}

std::string to_text(const LogWorldOptions& options, const LogReport& report) {
  std::string text = fmt::format("seed {}: {} nodes, {} groups, {} clients{}; {}\n", options.seed,
                                 options.nodes, options.groups, options.clients,
                                 options.lease_reads ? ", leases" : "", to_text(report));
  for (const std::string& violation : report.violations)
    text += "VIOLATION " + violation + "\n";
  return text;
}

}  // namespace cadastre::sim
