// The page /metrics: what the server and its parts have counted, in Prometheus' text form. Names and
// labels are listed in docs/operations.md. No label names a tenant.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "log/disk_space.h"
#include "log/group_status.h"
#include "log/metrics.h"
#include "log/types.h"
#include "server/checkpoint_counters.h"
#include "server/operation_metrics.h"
#include "server/peer_counters.h"

namespace cadastre::server {

// Counts of one moment.
struct CoordinationGauges {
  std::uint64_t runs_initializing = 0;
  std::uint64_t runs_active = 0;
  std::uint64_t runs_ended = 0;
  std::uint64_t shards = 0;
  std::uint64_t leases = 0;  // given, perhaps ended
};

struct DiskGauges {
  log::Space level = log::Space::kPlenty;
  std::uint64_t free_bytes = 0;
};

// Of a node of a cluster.
struct ClusterSources {
  const PeerCounters& peers;
  const CheckpointCounters& checkpoints;
  std::uint64_t pinned_checkpoint_bytes = 0;
};

// Borrowed for the call. Without a log or a cluster there are no rows of one.
struct MetricsSources {
  const OperationMetrics& operations;
  std::size_t calls_under_way = 0;
  std::size_t claim_streams = 0;
  CoordinationGauges coordination;
  const log::NodeMetrics* node_log = nullptr;
  log::GroupId group = {};  // Whose these are:
  const log::GroupMetrics* group_log = nullptr;
  const log::GroupStatus* group_status = nullptr;
  const ClusterSources* cluster = nullptr;
  std::optional<DiskGauges> disk = std::nullopt;
};

[[nodiscard]] std::string metrics_page(const MetricsSources& sources);

}  // namespace cadastre::server
