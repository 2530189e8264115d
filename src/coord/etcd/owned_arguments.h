// Arguments of a call, kept for longer than the call: callers lend their bytes only until it returns.

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord::etcd {

class OwnedCursor {
 public:
  explicit OwnedCursor(const CursorUpdate& cursor);
  [[nodiscard]] CursorUpdate view() const noexcept CAD_LIFETIMEBOUND;

 private:
  base::Bytes last_key_;  // empty: the initial cursor
  base::Bytes token_;
};

class OwnedSpec {
 public:
  explicit OwnedSpec(const ShardSpecRef& spec);
  [[nodiscard]] ShardSpecRef view() const noexcept CAD_LIFETIMEBOUND;

 private:
  base::Bytes start_;
  base::Bytes end_;
  base::Bytes metadata_;
};

class OwnedReplacePlan {
 public:
  explicit OwnedReplacePlan(const SplitReplacePlan& plan);
  [[nodiscard]] const SplitReplacePlan& view() const noexcept CAD_LIFETIMEBOUND { return *plan_; }

 private:
  std::vector<OwnedSpec> specs_;
  std::vector<OwnedCursor> cursors_;
  std::unique_ptr<SplitReplacePlan> plan_;  // of the two above, which stay where they are
};

class OwnedResidualPlan {
 public:
  explicit OwnedResidualPlan(const SplitResidualPlan& plan)
      : new_parent_(plan.new_parent()), residual_(plan.residual()) {}
  [[nodiscard]] SplitResidualPlan view() const CAD_LIFETIMEBOUND;

 private:
  OwnedSpec new_parent_;
  OwnedSpec residual_;
};

// A manifest that is too long to be legal keeps its length, but none of its bytes.
class OwnedManifest {
 public:
  explicit OwnedManifest(std::span<const InitialShardInput> shards);
  [[nodiscard]] std::span<const InitialShardInput> view() const noexcept CAD_LIFETIMEBOUND {
    return rows_;
  }

 private:
  std::vector<OwnedSpec> specs_;
  std::vector<OwnedCursor> cursors_;
  std::vector<InitialShardInput> rows_;
};

// A worker's request, apart from its payload.
struct LeasedCall {
  LogicalTime now;
  TenantId tenant;
  Lease lease;
};

}  // namespace cadastre::coord::etcd
