// The page /metrics: what the server and its parts have counted, in Prometheus' text form. Names and
// labels are listed in docs/operations.md. No label names a tenant.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "log/group_status.h"
#include "log/metrics.h"
#include "server/operation_metrics.h"

namespace cadastre::server {

// Counts of one moment.
struct CoordinationGauges {
  std::uint64_t runs_initializing = 0;
  std::uint64_t runs_active = 0;
  std::uint64_t runs_ended = 0;
  std::uint64_t shards = 0;
  std::uint64_t leases = 0;  // given, perhaps ended
};

// Borrowed for the call. Without a log there are no rows of one.
struct MetricsSources {
  const OperationMetrics& operations;
  std::size_t calls_under_way = 0;
  std::size_t claim_streams = 0;
  CoordinationGauges coordination;
  const log::NodeMetrics* node_log = nullptr;
  const log::GroupMetrics* group_log = nullptr;
  const log::GroupStatus* group_status = nullptr;
};

[[nodiscard]] std::string metrics_page(const MetricsSources& sources);

}  // namespace cadastre::server
