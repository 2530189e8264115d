// The parts of `./dev bench log-raft`. Each adds its rows.

#pragma once

#include "bench/report.h"

namespace cadastre::bench {

struct RaftBenchPlan {
  int rounds = 5;      // Of each figure.
  double seconds = 3;  // Of each load.
};

// Commands and reads at the leader's process and behind gRPC, beside the disk and three members of etcd.
void add_rates(Report& report, const RaftBenchPlan& plan);

// Reads at the leader under its lease, beside the same reads with nothing that guards them.
void add_leases(Report& report, const RaftBenchPlan& plan);

// What more groups and more voters cost, under load and idle.
void add_groups(Report& report, const RaftBenchPlan& plan);
void add_voters(Report& report, const RaftBenchPlan& plan);
void add_idle(Report& report, const RaftBenchPlan& plan);

// From the end of a leader to the next acknowledged write; a follower that missed much.
void add_failover(Report& report, const RaftBenchPlan& plan);
void add_catch_up(Report& report, const RaftBenchPlan& plan);

}  // namespace cadastre::bench
