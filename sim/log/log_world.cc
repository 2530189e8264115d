#include "sim/log/log_world.h"

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

class LogWorld {
 public:
  explicit LogWorld(const LogWorldOptions& options)
      : options_(options),
        scheduler_(mixed(options.seed, 3)),
        network_(scheduler_, mixed(options.seed, 4), faults_to_nodes(options.seed)),
        oracle_(options.nodes, report_.violations) {
    const LogWorldParts parts{scheduler_, network_, digests_, oracle_, report_.violations};
    const bool shared = options.registers == Registers::kOfAll;
    for (std::uint64_t i = 1; i <= options.nodes; ++i) {
      nodes_.push_back(std::make_unique<LogNode>(
          parts, LogNode::Options{.id = NodeId{i},
                                  .seed = mixed(options.seed, 10 + i),
                                  .groups = options.groups,
                                  .voters = shared ? options.nodes : 0,
                                  .settings = short_settings(options.seed + i)}));
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
                                                         .patience = milliseconds(2000),
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
                         : plan_faults(options_.seed, {options_.nodes, options_.groups,
                                                       options_.registers, options_.lasts});
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
    bool all_lost = true;
    std::vector<std::uint64_t> before;
    for (const auto& node : nodes_)
      all_lost = all_lost && node->lost();
    for (const auto& client : clients_)
      before.push_back(client->answered());
    scheduler_.run_until(scheduler_.now() + options_.calm);
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (!all_lost && clients_[i]->answered() == before[i])
        report_.violations.push_back(
            fmt::format("client {} gets no answers though all is calm", i));
    }
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
    for (const auto& node : nodes_) {
      node->crash(0);  // Counts what the last process did.
      report_.executed += node->counters().executed;
      report_.crashes += node->counters().crashes - 1;
      report_.sets += node->counters().sets;
      report_.truncations += node->counters().truncations;
      report_.flips_found += node->counters().flips_found;
    }
    report_.elections = oracle_.elections();
    report_.replaced = oracle_.replaced();
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
  options.nodes = random.below(4) == 0 ? 5 : 3;
  options.groups = std::array<std::uint64_t, 4>{1, 1, 2, 4}[random.below(4)];
  options.clients = 2 + random.below(6);
  options.think_most = milliseconds(std::array<int, 3>{5, 40, 200}[random.below(3)]);
  options.calm = std::chrono::seconds(20);
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

std::string to_text(const LogWorldOptions& options, const LogReport& report) {
  std::string text = fmt::format(
      "seed {}: {} nodes, {} groups, {} clients; {} operations, {} commands answered, {} sets, {} "
      "crashes, "
      "{} truncations, {} damaged logs refused, {} elections, {} entries replaced, {} messages, {} "
      "tasks\n",
      options.seed, options.nodes, options.groups, options.clients, report.operations,
      report.executed, report.sets, report.crashes, report.truncations, report.flips_found,
      report.elections, report.replaced, report.messages, report.tasks);
  for (const std::string& violation : report.violations)
    text += "VIOLATION " + violation + "\n";
  return text;
}

}  // namespace cadastre::sim
