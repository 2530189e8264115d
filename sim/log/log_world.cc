#include "sim/log/log_world.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/checkers/digest_agreement.h"
#include "sim/checkers/history.h"
#include "sim/checkers/linearizability.h"
#include "sim/checkers/model.h"
#include "sim/log/log_client.h"
#include "sim/log/log_node.h"
#include "sim/log/log_world_shape.h"
#include "sim/log/membership_churn.h"
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
constexpr nanoseconds kReplaceEvery = milliseconds(200);
constexpr nanoseconds kRestSlice = milliseconds(50);
// A command whose leader is gone waits for two election timeouts, a reader for four rounds of half of one.
constexpr nanoseconds kRestMost = 3 * log::RaftSettings{}.election_timeout();

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
    const std::uint64_t all = options.nodes + (options.loses_disk ? 1 : 0);  // With a spare one.
    for (std::uint64_t i = 1; i <= all; ++i) {
      nodes_.push_back(std::make_unique<LogNode>(
          parts, LogNode::Options{.id = NodeId{i},
                                  .seed = mixed(options.seed, 10 + i),
                                  .groups = options.groups,
                                  .peers = shared ? all : 0,
                                  .founders = options.founders,
                                  .joiners = options.nodes,
                                  .voters_min = options.loses_disk ? 3U : 2U,
                                  .settings = settings_of(options, i)}));
    }
    for (std::uint64_t i = 0; i < options.clients; ++i) {
      clients_.push_back(
          std::make_unique<LogClient>(scheduler_, network_, history_, next_number_,
                                      LogClient::Options{.id = NodeId{kFirstClient + i},
                                                         .seed = mixed(options.seed, 1000 + i),
                                                         .nodes = all,
                                                         .groups = options.groups,
                                                         .registers = options.registers,
                                                         .think_most = options.think_most,
                                                         .patience = patience_of(options, i),
                                                         .is_lost = [this](NodeId node) {
                                                           return !is_used(node) || at(node).lost();
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
                                                       .lasts = options_.lasts,
                                                       .loses_disk = options_.loses_disk});
    for (const LogFault& fault : report_.faults)
      scheduler_.after(kWorld, fault.when, [this, &fault] { carry_out(fault); });
    for (std::uint64_t i = 1; i <= options_.nodes; ++i)
      at(NodeId{i}).start();
    for (const auto& client : clients_)
      client->begin();
    scheduler_.run_until(SimTime(options_.lasts));
    calm_down();
    judge();
    collect();
    return std::move(report_);
  }

 private:
  LogNode& at(NodeId node) { return *nodes_[node.value() - 1]; }
  bool is_used(NodeId node) const { return node.value() <= options_.nodes || replacing_; }

  // A request that arrives twice would be two commands; an answer that arrives twice is one too many.
  void let_answers_double() {
    NetworkFaults faults = faults_to_nodes(options_.seed);
    faults.control.duplicate_ppm = 20'000;
    for (std::uint64_t node = 1; node <= nodes_.size(); ++node) {
      for (std::uint64_t client = 0; client < options_.clients; ++client)
        network_.set_faults({NodeId{node}, NodeId{kFirstClient + client}}, faults);
    }
  }

  void spoil_voters() {
    for (std::uint64_t from = 1; from <= nodes_.size(); ++from) {
      for (std::uint64_t to = 1; to <= nodes_.size(); ++to) {
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
    LogNode& node = at(fault.node);
    switch (fault.kind) {
      case LogFaultKind::kCrash:
        node.crash(fault.amount);
        restart_later(node, fault.lasts);
        break;
      case LogFaultKind::kPause:
        scheduler_.pause(fault.node, scheduler_.now() + fault.lasts);
        report_.long_pauses += fault.lasts >= kLongPause ? 1 : 0;
        break;
      case LogFaultKind::kSlowSync: node.slow_next_sync(fault.lasts); break;
      case LogFaultKind::kFullDisk: fill_disk(fault); break;
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
        if (replacing_) break;  // One thing at a time.
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
        for (std::uint64_t i = 1; i <= nodes_.size(); ++i) {
          if (fault.amount != 2) cut({NodeId{i}, fault.node}, fault.lasts);
          if (fault.amount != 1) cut({fault.node, NodeId{i}}, fault.lasts);
        }
        break;
      case LogFaultKind::kReset: break_streams(fault.node); break;
      case LogFaultKind::kFlush: node.flush(fault.amount); break;
      case LogFaultKind::kBitFlip:
        node.crash(fault.amount);
        node.flip_bit(mixed(options_.seed, static_cast<std::uint64_t>(fault.when.count())));
        restart_later(node, fault.lasts);
        if (options_.loses_disk) replace_later(fault.node, fault.lasts);
        break;
    }
  }

  void break_streams(NodeId node) {
    for (std::uint64_t client = 0; client < options_.clients; ++client)
      network_.reset({{NodeId{kFirstClient + client}, node}, Lane::kControl});
    for (std::uint64_t i = 1; i <= nodes_.size(); ++i) {
      if (NodeId{i} == node) continue;
      for (const Lane lane : {Lane::kControl, Lane::kBulk})
        network_.reset({{NodeId{i}, node}, lane});
    }
  }

  // Room runs low, may run out, and is there again.
  void fill_disk(const LogFault& fault) {
    LogNode& node = at(fault.node);
    node.set_space(log::Space::kLow);
    if (fault.amount > 0) {
      scheduler_.after(kWorld, fault.lasts / 3, [this, &node, &fault] {
        if (calm_) return;
        node.set_space(log::Space::kCritical);
        if (fault.amount == 2) node.fail_full(fault.lasts / 2);
      });
    }
    scheduler_.after(kWorld, fault.lasts, [&node] { node.set_space(log::Space::kPlenty); });
  }

  // Whoever does not open its log again is replaced by a node with another id and an empty disk.
  void replace_later(NodeId lost, nanoseconds after) {
    scheduler_.after(kWorld, after + kReplaceEvery, [this, lost] {
      if (!at(lost).lost()) return;  // There was nothing to damage.
      replacing_ = true;
      if (LogNode& fresh = *nodes_.back(); !fresh.up()) fresh.start();
      go_on_replacing(lost);
    });
  }

  // For ever: a change that was asked for before may still add the lost one to a group.
  void go_on_replacing(NodeId lost) {
    const log::NodeId gone{lost.value()};
    const log::NodeId fresh{nodes_.size()};
    bool done = true;
    bool joined = false;
    for (std::uint64_t group = 0; group < options_.groups; ++group) {
      LogNode* const leader = leader_of(group);
      const auto conf = leader == nullptr ? nullptr : leader->status_of(group)->conf;
      joined = joined || (conf && conf->conf.has(fresh));
      if (conf && !conf->conf.has(gone)) continue;
      done = false;
      if (!conf) continue;
      auto steps = next_replacement(conf->conf, gone, fresh);
      if (!steps.empty())
        leader->ask_change(group, {.steps = std::move(steps),
                                   .expected_conf_index = conf->index,
                                   .min_match = conf->index});
    }
    if (done && joined && !std::exchange(replaced_, true)) ++report_.nodes_replaced;
    scheduler_.after(kWorld, kReplaceEvery, [this, lost] { go_on_replacing(lost); });
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

  // Nobody asks any more: soon nothing is open.
  void come_to_rest(SimTime end) {
    for (const auto& client : clients_)
      client->rest();
    const SimTime rested = std::max(end, scheduler_.now() + kRestMost);
    std::string open;
    do {
      scheduler_.run_until(scheduler_.now() + kRestSlice);
      open = what_is_open();
    } while (!open.empty() && scheduler_.now() < rested);
    if (!open.empty()) report_.violations.push_back(open + " though nobody asks any more");
  }

  std::string what_is_open() const {
    for (const auto& node : nodes_) {
      if (std::string open = node->what_is_open(); !open.empty()) return open;
    }
    return {};
  }

  // Faults stop: everyone who can must answer again.
  void calm_down() {
    calm_ = true;
    network_.heal();
    network_.set_all_faults({});
    for (const auto& node : nodes_) {
      scheduler_.resume(NodeId{static_cast<std::uint64_t>(&node - nodes_.data()) + 1});
      node->forget_faults();
      const NodeId id{static_cast<std::uint64_t>(&node - nodes_.data()) + 1};
      if (!node->up() && is_used(id)) node->start();
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
    if (!stuck.empty()) {
      report_.violations.push_back(stuck + " though all is calm");
    } else {
      come_to_rest(end);
    }
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
      for (std::uint64_t id = 1; id <= nodes_.size(); ++id) {
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
      if (node->counters().starts == 0) continue;  // A spare one.
      node->crash(0);                              // Counts what the last process did.
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
      report_.removals_told += node->counters().removals_told;
      report_.retreats += node->counters().retreats;
      report_.full_ends += node->counters().full_ends;
      report_.appends_refused += node->counters().appends_refused;
      report_.late_syncs += node->counters().late_syncs;
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
  bool replacing_ = false;  // A lost node, by the spare one.
  bool replaced_ = false;
};

}  // namespace

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

std::string to_text(const LogWorldOptions& options, const LogReport& report) {
  std::string text = fmt::format("seed {}: {} nodes, {} groups, {} clients{}; {}\n", options.seed,
                                 options.nodes, options.groups, options.clients,
                                 options.lease_reads ? ", leases" : "", to_text(report));
  for (const std::string& violation : report.violations)
    text += "VIOLATION " + violation + "\n";
  return text;
}

}  // namespace cadastre::sim
