// Requests that no honest worker sends. Each begins as an honest one and has one thing wrong with it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "sim/coord/request.h"
#include "sim/coord/request_of.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr auto kDerivedId = coord::ShardId::from_raw(std::uint64_t{1} << 63U | 5U);

base::Bytes many_bytes(std::size_t size) {
  return base::Bytes(size, std::byte{0x41});
}

coord::Lease forged(const coord::Lease& lease, const coord::LeaseParts& parts) {
  return coord::Lease::presented(parts).value_or(lease);
}

coord::LeaseParts parts_of(const coord::Lease& lease) {
  return {lease.tenant(), lease.shard_key(), lease.owner(), lease.fence(), lease.deadline()};
}

// A checkpoint of the range's start, or of where the worker is.
Request honest_checkpoint(const Step& step, const Sender& sender, const Holding& holding) {
  Request request = blank_request(step, sender);
  request.call = Call::kCheckpoint;
  request.leases = {holding.lease};
  request.last_key = holding.last_key.empty() ? holding.start : holding.last_key;
  return request;
}

void spoil_cursor(Mischief mischief, const Holding& holding, Request& request) {
  if (mischief == Mischief::kOversizedKey) request.last_key = many_bytes(coord::kMaxKeySize + 1);
  if (mischief == Mischief::kOversizedToken) request.token = many_bytes(coord::kMaxTokenSize + 1);
  if (mischief == Mischief::kMissingKey) request.last_key.clear();
  if (mischief == Mischief::kKeyGoesBack) request.last_key = {std::byte{0}};
  if (mischief == Mischief::kKeyOutside) request.last_key = holding.end;
}

// The lease says something that was never granted, or goes to the wrong address.
void spoil_lease(const Sender& sender, Mischief mischief, Request& request) {
  const coord::Lease& lease = request.leases.front();
  coord::LeaseParts parts = parts_of(lease);
  const auto other = tenant_number(sender.worker.tenant() + 1);
  if (mischief == Mischief::kForeignTenant) parts.tenant = request.tenant = other;
  if (mischief == Mischief::kForgedTenant) parts.tenant = other;
  if (mischief == Mischief::kForgedFence) parts.fence = coord::next(parts.fence);
  if (mischief == Mischief::kForgedOwner) {
    parts.owner = coord::WorkerId::from_raw(parts.owner.raw() + 1);
  }
  if (mischief == Mischief::kUnknownShard) parts.key.shard = kDerivedId;
  request.leases = {forged(lease, parts)};
}

void spoil_replace(Mischief mischief, const Holding& holding, Request& request) {
  request.call = Call::kSplitReplace;
  auto& pieces = request.pieces;
  if (mischief == Mischief::kGapInPlan) pieces.back().start.push_back(std::byte{1});
  if (mischief == Mischief::kOverlapInPlan) pieces.front().end = holding.end;
  if (mischief == Mischief::kOneChild) pieces.resize(1);
  if (mischief == Mischief::kTooManyChildren) {
    pieces.resize(coord::kMaxSplitChildren + 1, pieces.back());
  }
  if (mischief == Mischief::kChildCursorOutside) pieces.front().last_key = holding.end;
}

std::optional<Request> bad_plan(const Step& step, const Sender& sender, const Holding& holding) {
  if (step.keys.size() != 1) return std::nullopt;
  Request request = blank_request(step, sender);
  request.leases = {holding.lease};
  request.pieces = cut(step, holding);
  if (step.mischief == Mischief::kSwappedResidual) {
    request.call = Call::kSplitResidual;
    std::ranges::reverse(request.pieces);
  } else if (step.mischief == Mischief::kCursorCutOff) {
    if (holding.last_key.empty() || base::equal(holding.last_key, holding.start)) {
      return std::nullopt;
    }
    request.call = Call::kSplitResidual;
    request.pieces[0].end = request.pieces[1].start = holding.last_key;
  } else {
    spoil_replace(step.mischief, holding, request);
  }
  return request;
}

std::optional<Request> bad_manifest(const Step& step, const Sender& sender) {
  Request request = blank_request(step, sender);
  request.call = Call::kRegister;
  request.pieces = layout(3);
  if (step.mischief == Mischief::kSecondManifest) request.key.run = kMainRun;
  if (step.mischief == Mischief::kDuplicateManifest)
    request.pieces[1].shard = request.pieces[0].shard;
  if (step.mischief == Mischief::kUnboundedManifest) request.pieces[2].end.clear();
  if (step.mischief == Mischief::kDerivedManifest) request.pieces[0].shard = kDerivedId;
  return request;
}

std::optional<Request> reused_op(const Step& step, const Sender& sender, const Holding& holding) {
  const auto& checkpoints = sender.worker.checkpoints();
  const auto at = checkpoints.find({sender.worker.tenant(), step.shard.run, step.shard.shard});
  if (at == checkpoints.end()) return std::nullopt;
  Request request = blank_request(step, sender);
  request.call = Call::kPark;
  request.leases = {holding.lease};
  request.op = at->second.op;
  return request;
}

}  // namespace

std::optional<Request> mischief_of(const Step& step, const Sender& sender) {
  Request request = blank_request(step, sender);
  const Holding* const holding = presented(step, sender);
  switch (step.mischief) {
    case Mischief::kDuplicateManifest:
    case Mischief::kUnboundedManifest:
    case Mischief::kDerivedManifest:
    case Mischief::kSecondManifest: return bad_manifest(step, sender);
    case Mischief::kRunWithoutLease:
      request.call = Call::kCreateRun;
      request.config.lease_duration = 0;
      return request;
    case Mischief::kTooManyLeases:
      if (holding == nullptr) return std::nullopt;
      request.call = Call::kRenewMany;
      request.leases.assign(coord::kRenewManyMax + 1, holding->lease);
      return request;
    case Mischief::kReusedOpId:
      return holding == nullptr ? std::nullopt : reused_op(step, sender, *holding);
    case Mischief::kGapInPlan:
    case Mischief::kOverlapInPlan:
    case Mischief::kOneChild:
    case Mischief::kTooManyChildren:
    case Mischief::kChildCursorOutside:
    case Mischief::kSwappedResidual:
    case Mischief::kCursorCutOff:
      return holding == nullptr ? std::nullopt : bad_plan(step, sender, *holding);
    case Mischief::kOversizedKey:
    case Mischief::kOversizedToken:
    case Mischief::kMissingKey:
    case Mischief::kKeyGoesBack:
    case Mischief::kKeyOutside:
    case Mischief::kForeignTenant:
    case Mischief::kForgedTenant:
    case Mischief::kForgedFence:
    case Mischief::kForgedOwner:
    case Mischief::kUnknownShard: break;
  }
  if (holding == nullptr) return std::nullopt;
  request = honest_checkpoint(step, sender, *holding);
  spoil_cursor(step.mischief, *holding, request);
  spoil_lease(sender, step.mischief, request);
  return request;
}

}  // namespace cadastre::sim
