#include "server/http/metrics_page.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include "log/group_status.h"
#include "log/histogram.h"
#include "log/metrics.h"
#include "log/propose.h"
#include "log/types.h"
#include "server/operation_metrics.h"

namespace cadastre::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr double kNanosecond = 1e-9;

// As gRPC prints them.
constexpr std::array<std::string_view, kStatusCodes> kCodeNames{
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

void add_gauge(MetricFamily& family, Labels labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  family.metric.push_back(std::move(metric));
}
void add_gauge(MetricFamily& family, Labels labels, std::uint64_t value) {
  add_gauge(family, std::move(labels), static_cast<double>(value));
}

class Page {
 public:
  MetricFamily& family(std::string_view name, std::string_view help, MetricType type) {
    families_.push_back({std::string(name), std::string(help), type, {}});
    return families_.back();
  }
  void gauge(std::string_view name,
             std::string_view help,
             std::uint64_t value,
             const Labels& labels = {}) {
    add_gauge(family(name, help, MetricType::Gauge), labels, value);
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families_);
    return std::move(out).str();
  }

 private:
  std::vector<MetricFamily> families_;
};

void add_count(MetricFamily& family, Labels labels, std::uint64_t value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = static_cast<double>(value);
  family.metric.push_back(std::move(metric));
}

// `unit` turns what was recorded into what is printed. Empty buckets at both ends are left out.
void add_histogram(MetricFamily& family,
                   Labels labels,
                   const log::Histogram& histogram,
                   double unit) {
  const log::Histogram::Reading reading = histogram.read();
  ClientMetric metric;
  metric.label = std::move(labels);
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < log::Histogram::kBuckets; ++bucket) {
    sum += reading.counts[bucket];
    const bool more = sum < reading.count();
    if (sum == 0 && more) continue;
    const auto bound = static_cast<double>(std::uint64_t{1} << bucket);  // Values are below it.
    metric.histogram.bucket.push_back({sum, bound * unit});
    if (!more) break;
  }
  metric.histogram.bucket.push_back({sum, std::numeric_limits<double>::infinity()});
  metric.histogram.sample_count = sum;
  metric.histogram.sample_sum = static_cast<double>(reading.sum) * unit;
  family.metric.push_back(std::move(metric));
}

void add_operations(Page& page, const OperationMetrics& operations) {
  MetricFamily counts{
      "cadastre_calls_total", "Calls answered, by method and status.", MetricType::Counter, {}};
  MetricFamily times{
      "cadastre_call_seconds", "From a call's arrival to its answer.", MetricType::Histogram, {}};
  for (std::size_t method = 0; method < kMethodNames.size(); ++method) {
    const OperationMetrics::OfMethod& of = operations.methods()[method];
    const std::string name(kMethodNames[method]);
    std::uint64_t all = 0;
    for (std::size_t code = 0; code < kStatusCodes; ++code) {
      const std::uint64_t count = of.codes[code].load(std::memory_order_relaxed);
      all += count;
      if (count == 0) continue;
      add_count(counts, {{"method", name}, {"code", std::string(kCodeNames[code])}}, count);
    }
    if (all != 0) add_histogram(times, {{"method", name}}, of.took_ns, kNanosecond);
  }
  page.family(counts.name, counts.help, counts.type).metric = std::move(counts.metric);
  page.family(times.name, times.help, times.type).metric = std::move(times.metric);
  add_count(page.family("cadastre_streamed_grants_total", "Shards handed out by claim streams.",
                        MetricType::Counter),
            {}, operations.streamed_grants.load(std::memory_order_relaxed));
}

void add_coordination(Page& page, const CoordinationGauges& gauges) {
  MetricFamily& runs = page.family("cadastre_runs", "Runs kept, by status.", MetricType::Gauge);
  add_gauge(runs, {{"status", "initializing"}}, gauges.runs_initializing);
  add_gauge(runs, {{"status", "active"}}, gauges.runs_active);
  add_gauge(runs, {{"status", "ended"}}, gauges.runs_ended);
  page.gauge("cadastre_shards", "Shards kept, in any status.", gauges.shards);
  page.gauge("cadastre_leases", "Shards under a lease, ended ones among them.", gauges.leases);
}

void add_one_count(Page& page, const char* name, const char* help, const log::Counter& counter) {
  add_count(page.family(name, help, MetricType::Counter), {},
            counter.load(std::memory_order_relaxed));
}

Labels of_group(log::GroupId group) {
  return {{"group", to_string(group)}};
}
Labels of_group(log::GroupId group, const char* name, std::string_view value) {
  return {{"group", to_string(group)}, {name, std::string(value)}};
}

void add_stages(Page& page, log::GroupId id, const log::GroupMetrics& group) {
  MetricFamily stages{"log_propose_seconds", "Of each batch, by stage.", MetricType::Histogram, {}};
  add_histogram(stages, of_group(id, "stage", "queue"), group.queue_ns, kNanosecond);
  add_histogram(stages, of_group(id, "stage", "write"), group.write_ns, kNanosecond);
  add_histogram(stages, of_group(id, "stage", "commit"), group.commit_ns, kNanosecond);
  add_histogram(stages, of_group(id, "stage", "apply"), group.apply_ns, kNanosecond);
  page.family(stages.name, stages.help, stages.type).metric = std::move(stages.metric);
  add_histogram(page.family("log_batch_commands", "Commands of a batch.", MetricType::Histogram),
                of_group(id), group.batch_commands, 1);
}

void add_group_log(Page& page, log::GroupId id, const log::GroupMetrics& group) {
  add_stages(page, id, group);
  MetricFamily& outcomes =
      page.family("log_outcome_total", "How commands ended.", MetricType::Counter);
  add_count(outcomes, of_group(id, "kind", "applied"),
            group.applied.load(std::memory_order_relaxed));
  for (std::size_t error = 0; error < group.errors.size(); ++error) {
    const std::string_view name = log::name_of(static_cast<log::ProposeError>(error));
    add_count(outcomes, of_group(id, "kind", name),
              group.errors[error].load(std::memory_order_relaxed));
  }
  MetricFamily& reads =
      page.family("log_read_barriers_total", "Linearizable reads.", MetricType::Counter);
  for (const log::ReadMode mode :
       {log::ReadMode::kLinearizable, log::ReadMode::kFollower, log::ReadMode::kLeaseIfValid}) {
    add_count(reads, of_group(id, "mode", log::name_of(mode)),
              group.read_barriers[static_cast<std::size_t>(mode)].load(std::memory_order_relaxed));
  }
  add_count(page.family("log_leader_changes_total", "Leaders of new terms that were seen here.",
                        MetricType::Counter),
            of_group(id), group.leader_changes.load(std::memory_order_relaxed));
  add_count(
      page.family("log_system_refused_total",
                  "The log's own commands that found no room; should stay 0.", MetricType::Counter),
      of_group(id), group.system_refused.load(std::memory_order_relaxed));
}

// As a leader saw them at its last heartbeat; of others there are none.
void add_members(Page& page, log::GroupId id, const log::GroupStatus& status) {
  if (!status.members) return;
  MetricFamily lags{"log_peer_match_lag", "Entries that a member lacks.", MetricType::Gauge, {}};
  MetricFamily states{
      "log_peer_state", "0 probed, 1 follows, 2 fetches a snapshot.", MetricType::Gauge, {}};
  MetricFamily trips{
      "log_peer_rtt_seconds", "From a heartbeat to its answer.", MetricType::Gauge, {}};
  for (const log::MemberStatus& member : *status.members) {
    if (member.node == status.leader) continue;
    const Labels labels = of_group(id, "peer", to_string(member.node));
    add_gauge(lags, labels, member.behind);
    add_gauge(states, labels, static_cast<std::uint64_t>(member.state));
    if (member.round_trip)
      add_gauge(trips, labels, kNanosecond * static_cast<double>(member.round_trip->count()));
  }
  page.family(lags.name, lags.help, lags.type).metric = std::move(lags.metric);
  page.family(states.name, states.help, states.type).metric = std::move(states.metric);
  page.family(trips.name, trips.help, trips.type).metric = std::move(trips.metric);
}

void add_group_status(Page& page, log::GroupId id, const log::GroupStatus& status) {
  const auto gauge = [&](const char* name, const char* help, std::uint64_t value) {
    page.gauge(name, help, value, of_group(id));
  };
  gauge("log_role", "0 follower, 1 pre-candidate, 2 candidate, 3 leader, 4 learner, 5 halted.",
        static_cast<std::uint64_t>(status.halted.empty() ? status.role : log::Role::kHalted));
  gauge("log_term", "The term that this node knows.", status.term.value());
  gauge("log_last_index", "The last entry of the log.", status.last.value());
  gauge("log_persisted_index", "The last entry that is synced here.", status.persisted.value());
  gauge("log_commit_index", "The last entry that is committed, as far as known here.",
        status.committed.value());
  gauge("log_truncated_index", "Entries up to here are gone.", status.truncated.value());
  gauge("log_applied_index", "The last entry that was applied.", status.applied.value());
  gauge("log_durable_index", "The last entry that a synced snapshot has.", status.durable.value());
  gauge("log_bytes", "Entries that the log still has, about.", status.log_bytes);
  gauge("log_lease_valid", "1: this node serves reads by lease.", status.lease_valid ? 1 : 0);
  gauge("log_halted", "1: the log does no more; the process's log says why.",
        status.halted.empty() ? 0 : 1);
  add_members(page, id, status);
}

void add_node_log(Page& page, const log::NodeMetrics& node) {
  const auto histogram = [&](const char* name, const char* help, const log::Histogram& recorded,
                             double unit) {
    add_histogram(page.family(name, help, MetricType::Histogram), {}, recorded, unit);
  };
  histogram("log_sync_seconds", "Synced writes.", node.sync_ns, kNanosecond);
  histogram("log_set_bytes", "Bytes of a synced write.", node.set_bytes, 1);
  histogram("log_set_commands", "Commands of a synced write.", node.set_commands, 1);
  histogram("log_set_groups", "Groups of a synced write.", node.set_groups, 1);
  histogram("log_loop_pass_seconds", "Passes of the log thread.", node.pass_ns, kNanosecond);
  add_one_count(page, "log_late_syncs_total", "Syncs that took too long.", node.late_syncs);
  add_one_count(page, "log_truncations_total", "Times that the log was cut.", node.truncations);
  add_one_count(page, "log_snapshot_made_total", "Checkpoints made for peers.",
                node.snapshots_made);
  add_one_count(page, "log_snapshot_sent_total", "Snapshots offered to peers.",
                node.snapshots_sent);
  add_one_count(page, "log_snapshot_installed_total", "Snapshots installed here.",
                node.snapshots_installed);
  add_one_count(page, "log_snapshot_failed_total", "Snapshots not made, staged or answered.",
                node.snapshots_failed);
}

void add_replication(Page& page, const log::NodeMetrics& node) {
  add_one_count(page, "log_appends_refused_total", "The state was too far behind.",
                node.appends_refused);
  add_one_count(page, "log_read_rounds_total", "Rounds of linearizable reads.", node.read_rounds);
  add_one_count(page, "log_loop_stall_total", "Passes of the log thread that came late.",
                node.stalls);
  page.gauge("log_cache_bytes", "Entries in memory for peers.",
             node.cache_bytes.load(std::memory_order_relaxed));
  add_one_count(page, "log_sync_reads_total", "Reads of the log that the log thread waited for.",
                node.sync_reads);
  add_one_count(page, "log_old_reads_total", "Reads of old entries for slow peers.",
                node.old_reads);
  add_one_count(page, "log_votes_dropped_total",
                "Vote requests that came while a leader was heard.", node.votes_dropped);
  add_one_count(page, "log_frames_dropped_total",
                "Received, and dropped: the log thread was too far behind.", node.frames_dropped);
  add_one_count(page, "log_frames_malformed_total", "Received, and no message of a peer.",
                node.frames_malformed);
  add_one_count(page, "log_frames_unknown_total", "Received, of a group that is not open here.",
                node.frames_unknown);
  add_one_count(page, "log_frames_of_strangers_total",
                "Received from nodes that are no members, and that neither lead nor ask for votes.",
                node.frames_of_strangers);
}

void add_peers(Page& page, const PeerCounters& peers) {
  MetricFamily& dropped = page.family(
      "log_dropped_frames_total", "Messages that were not sent to a peer.", MetricType::Counter);
  constexpr std::array<const char*, 2> kLanes{"control", "bulk"};
  constexpr std::array<const char*, 3> kReasons{"full", "away", "stream_lost"};
  for (std::size_t lane = 0; lane < kLanes.size(); ++lane) {
    for (std::size_t reason = 0; reason < kReasons.size(); ++reason) {
      add_count(dropped, {{"lane", kLanes.at(lane)}, {"reason", kReasons.at(reason)}},
                peers.dropped.at(lane).at(reason).load(std::memory_order_relaxed));
    }
  }
  MetricFamily& refused = page.family(
      "log_peers_refused_total", "Streams and requests of others, by reason.", MetricType::Counter);
  for (std::size_t reason = 0; reason < kPeerRefusals; ++reason) {
    add_count(refused, {{"reason", std::string(name_of(static_cast<PeerRefusal>(reason)))}},
              peers.refused.at(reason).load(std::memory_order_relaxed));
  }
  add_one_count(page, "log_peers_refused_there_total", "Streams that a peer refused.",
                peers.refused_there);
  add_one_count(page, "log_unreachable_total", "Reports that a peer cannot be reached.",
                peers.unreachable);
  add_one_count(page, "log_frames_sent_total", "To peers.", peers.frames_sent);
  add_one_count(page, "log_frames_received_total", "From peers.", peers.frames_received);
  add_one_count(page, "log_frames_not_here_total", "Of groups that are not here.",
                peers.frames_not_here);
  add_one_count(page, "log_peer_reads_paused_total", "Peers had to wait for the log thread.",
                peers.reads_paused);
}

void add_checkpoints(Page& page, const ClusterSources& cluster) {
  const CheckpointCounters& checkpoints = cluster.checkpoints;
  page.gauge("log_pinned_checkpoint_bytes", "Checkpoints that are kept for peers.",
             cluster.pinned_checkpoint_bytes);
  add_one_count(page, "log_snapshot_sealed_total", "Checkpoints that peers could fetch.",
                checkpoints.sealed);
  add_one_count(page, "log_snapshot_seals_failed_total", "Checkpoints that could not be sealed.",
                checkpoints.seals_failed);
  add_one_count(page, "log_snapshot_staged_total", "Checkpoints that came whole.",
                checkpoints.staged);
  add_one_count(page, "log_snapshot_stages_failed_total", "Checkpoints that did not.",
                checkpoints.stages_failed);
  add_one_count(page, "log_snapshot_fetched_bytes_total", "Of peers' checkpoints.",
                checkpoints.bytes_fetched);
  add_one_count(page, "log_snapshot_served_bytes_total", "To peers.", checkpoints.bytes_served);
  add_one_count(page, "log_snapshot_ranges_refused_total", "Peers asked for what is not here.",
                checkpoints.ranges_refused);
}

}  // namespace

std::string metrics_page(const MetricsSources& sources) {
  Page page;
  add_operations(page, sources.operations);
  page.gauge("cadastre_calls_under_way", "Calls without an answer yet.", sources.calls_under_way);
  page.gauge("cadastre_claim_streams", "Open claim streams.", sources.claim_streams);
  add_coordination(page, sources.coordination);
  if (sources.group_log != nullptr) add_group_log(page, sources.group, *sources.group_log);
  if (sources.group_status != nullptr) add_group_status(page, sources.group, *sources.group_status);
  if (sources.node_log != nullptr) add_node_log(page, *sources.node_log);
  if (sources.cluster != nullptr) {
    if (sources.node_log != nullptr) add_replication(page, *sources.node_log);
    add_peers(page, sources.cluster->peers);
    add_checkpoints(page, *sources.cluster);
  }
  if (sources.disk) {
    page.gauge("log_disk_free_bytes", "Room on the disk.", sources.disk->free_bytes);
    page.gauge("log_disk_level", "0 plenty, 1 low: commands are refused, 2 critical: entries too.",
               static_cast<std::uint64_t>(sources.disk->level));
  }
  return page.text();
}

}  // namespace cadastre::server
