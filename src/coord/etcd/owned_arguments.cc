#include "coord/etcd/owned_arguments.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/limits.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::coord::etcd {

OwnedCursor::OwnedCursor(const CursorUpdate& cursor) {
  if (const auto key = cursor.last_key()) last_key_ = base::to_owned(*key);
  if (const auto token = cursor.token()) token_ = base::to_owned(*token);
}

CursorUpdate OwnedCursor::view() const noexcept {
  return last_key_.empty() ? CursorUpdate::initial() : CursorUpdate::make(last_key_, token_);
}

OwnedSpec::OwnedSpec(const ShardSpecRef& spec)
    : start_(base::to_owned(spec.start())),
      end_(base::to_owned(spec.end())),
      metadata_(base::to_owned(spec.metadata())) {}

ShardSpecRef OwnedSpec::view() const noexcept {
  return ShardSpecRef::unchecked(start_, end_, metadata_);
}

OwnedReplacePlan::OwnedReplacePlan(const SplitReplacePlan& plan) {
  const auto lent = plan.children();
  specs_.reserve(lent.size());
  cursors_.reserve(lent.size());
  std::vector<shard::SplitReplaceChild> children;
  children.reserve(lent.size());
  for (const auto& child : lent) {
    specs_.emplace_back(child.spec);
    cursors_.emplace_back(child.cursor);
    children.push_back({specs_.back().view(), cursors_.back().view()});
  }
  auto made = SplitReplacePlan::try_make(children);
  CAD_CHECK(made.has_value(), "a copy of a plan has its shape");
  plan_ = std::make_unique<SplitReplacePlan>(*made);
}

SplitResidualPlan OwnedResidualPlan::view() const {
  const auto made = SplitResidualPlan::try_make(new_parent_.view(), residual_.view());
  CAD_CHECK(made.has_value(), "a copy of a plan has its shape");
  return *made;
}

OwnedManifest::OwnedManifest(std::span<const InitialShardInput> shards) {
  if (shards.size() > kMaxInitialShards) {
    rows_.resize(shards.size());
    return;
  }
  specs_.reserve(shards.size());
  cursors_.reserve(shards.size());
  rows_.reserve(shards.size());
  for (const InitialShardInput& shard : shards) {
    specs_.emplace_back(shard.spec);
    cursors_.emplace_back(shard.cursor);
    rows_.push_back({shard.shard, specs_.back().view(), cursors_.back().view()});
  }
}

}  // namespace cadastre::coord::etcd
