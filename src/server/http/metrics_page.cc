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

#include "log/histogram.h"
#include "log/metrics.h"
#include "log/propose.h"
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

class Page {
 public:
  MetricFamily& family(std::string_view name, std::string_view help, MetricType type) {
    families_.push_back({std::string(name), std::string(help), type, {}});
    return families_.back();
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
    ClientMetric metric;
    metric.gauge.value = static_cast<double>(value);
    family(name, help, MetricType::Gauge).metric.push_back(std::move(metric));
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
  const auto add = [&runs](const char* status, std::uint64_t count) {
    ClientMetric metric;
    metric.label = {{"status", status}};
    metric.gauge.value = static_cast<double>(count);
    runs.metric.push_back(std::move(metric));
  };
  add("initializing", gauges.runs_initializing);
  add("active", gauges.runs_active);
  add("ended", gauges.runs_ended);
  page.gauge("cadastre_shards", "Shards kept, in any status.", gauges.shards);
  page.gauge("cadastre_leases", "Shards under a lease, ended ones among them.", gauges.leases);
}

void add_group_log(Page& page, const log::GroupMetrics& group) {
  MetricFamily stages{"log_propose_seconds", "Of each batch, by stage.", MetricType::Histogram, {}};
  add_histogram(stages, {{"stage", "queue"}}, group.queue_ns, kNanosecond);
  add_histogram(stages, {{"stage", "write"}}, group.write_ns, kNanosecond);
  add_histogram(stages, {{"stage", "apply"}}, group.apply_ns, kNanosecond);
  page.family(stages.name, stages.help, stages.type).metric = std::move(stages.metric);
  add_histogram(page.family("log_batch_commands", "Commands of a batch.", MetricType::Histogram),
                {}, group.batch_commands, 1);
  MetricFamily& outcomes =
      page.family("log_outcome_total", "How commands ended.", MetricType::Counter);
  add_count(outcomes, {{"kind", "applied"}}, group.applied.load(std::memory_order_relaxed));
  for (std::size_t error = 0; error < group.errors.size(); ++error) {
    const std::string_view name = log::name_of(static_cast<log::ProposeError>(error));
    add_count(outcomes, {{"kind", std::string(name)}},
              group.errors[error].load(std::memory_order_relaxed));
  }
  add_count(page.family("log_read_barriers_total", "Linearizable reads.", MetricType::Counter), {},
            group.read_barriers.load(std::memory_order_relaxed));
}

void add_group_status(Page& page, const log::GroupStatus& status) {
  page.gauge("log_applied_index", "The last entry that was applied.", status.applied.value());
  page.gauge("log_durable_index", "The last entry that a synced snapshot has.",
             status.durable.value());
  page.gauge("log_bytes", "Entries that the log still has, about.", status.log_bytes);
  page.gauge("log_halted", "1: the log does no more; the process's log says why.",
             status.halted.empty() ? 0 : 1);
}

void add_node_log(Page& page, const log::NodeMetrics& node) {
  add_histogram(page.family("log_sync_seconds", "Synced writes.", MetricType::Histogram), {},
                node.sync_ns, kNanosecond);
  add_histogram(page.family("log_set_bytes", "Bytes of a synced write.", MetricType::Histogram), {},
                node.set_bytes, 1);
  add_histogram(
      page.family("log_set_commands", "Commands of a synced write.", MetricType::Histogram), {},
      node.set_commands, 1);
  add_count(page.family("log_late_syncs_total", "Syncs that took too long.", MetricType::Counter),
            {}, node.late_syncs.load(std::memory_order_relaxed));
  add_count(
      page.family("log_truncations_total", "Times that the log was cut.", MetricType::Counter), {},
      node.truncations.load(std::memory_order_relaxed));
}

}  // namespace

std::string metrics_page(const MetricsSources& sources) {
  Page page;
  add_operations(page, sources.operations);
  page.gauge("cadastre_calls_under_way", "Calls without an answer yet.", sources.calls_under_way);
  page.gauge("cadastre_claim_streams", "Open claim streams.", sources.claim_streams);
  add_coordination(page, sources.coordination);
  if (sources.group_log != nullptr) add_group_log(page, *sources.group_log);
  if (sources.group_status != nullptr) add_group_status(page, *sources.group_status);
  if (sources.node_log != nullptr) add_node_log(page, *sources.node_log);
  return page.text();
}

}  // namespace cadastre::server
