#include "sim/log/log_report.h"

#include <fmt/format.h>

namespace cadastre::sim {

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
                           &LogReport::letters_refused,
                           &LogReport::removals_told,
                           &LogReport::retreats,
                           &LogReport::appends_refused,
                           &LogReport::full_ends,
                           &LogReport::nodes_replaced,
                           &LogReport::long_pauses,
                           &LogReport::late_syncs})
    this->*count += other.*count;
}

std::string to_text(const LogReport& report) {
  return fmt::format(
      "{} operations, {} commands answered, {} sets, {} crashes, {} truncations, {} damaged logs "
      "refused, {} elections, {} entries replaced, {} transfers, {} changes of membership, {} "
      "configurations, {} reads by lease and {} refused at the second look, {} snapshots made, {} "
      "sent, {} installed, {} failed, {} stagings cut off, {} installs resumed, {} joined, {} "
      "letters of dead processes refused, {} removals told, {} retreats, {} appends refused, {} "
      "ends by a full disk, {} nodes replaced, {} long pauses, {} late syncs, {} messages, {} "
      "tasks",
      report.operations, report.executed, report.sets, report.crashes, report.truncations,
      report.flips_found, report.elections, report.replaced, report.transfers, report.changes,
      report.configurations, report.lease_reads, report.lease_refusals, report.snapshots_made,
      report.snapshots_sent, report.snapshots_installed, report.snapshots_failed,
      report.stagings_cut, report.installs_resumed, report.joined, report.letters_refused,
      report.removals_told, report.retreats, report.appends_refused, report.full_ends,
      report.nodes_replaced, report.long_pauses, report.late_syncs, report.messages, report.tasks);
}

}  // namespace cadastre::sim
