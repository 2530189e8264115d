#include "sim/coord/request_of.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"
#include "sim/coord/short_key.h"
#include "sim/coord/step.h"
#include "sim/coord/worker.h"
#include "sim/coord/world.h"

namespace cadastre::sim {
namespace {

constexpr std::size_t kKeyspace = 255;

base::Bytes one_byte(std::size_t value) {
  return {static_cast<std::byte>(value)};
}

std::optional<Request> renew_many_of(const Step& step, const Sender& sender) {
  Request request = blank_request(step, sender);
  for (const auto& [name, holding] : sender.worker.held())
    request.leases.push_back(holding.lease);
  if (request.leases.empty()) return std::nullopt;
  return request;
}

std::optional<Request> repeated_checkpoint(const Step& step, const Sender& sender) {
  const ShardName name{sender.worker.tenant(), step.shard.run, step.shard.shard};
  const auto at = sender.worker.checkpoints().find(name);
  if (at == sender.worker.checkpoints().end()) return std::nullopt;
  Request request = at->second;
  request.now = sender.now;
  if (step.kind == StepKind::kConflict) {
    if (step.keys.empty()) return std::nullopt;
    request.last_key = base::to_owned(step.keys[0].view());
  }
  return request;
}

// Calls that present a lease.
std::optional<Request> leased_request(const Step& step, const Sender& sender) {
  const Holding* const holding = presented(step, sender);
  if (holding == nullptr) return std::nullopt;
  Request request = blank_request(step, sender);
  request.leases = {holding->lease};
  request.key = holding->lease.shard_key();
  const bool splits = step.call == Call::kSplitReplace || step.call == Call::kSplitResidual;
  if (splits) {
    request.pieces = cut(step, *holding);
    if (step.call == Call::kSplitResidual && request.pieces.size() != 2) return std::nullopt;
  } else if (!step.keys.empty()) {
    request.last_key = base::to_owned(step.keys[0].view());
    if (step.which % 3 == 1) request.token = one_byte(step.which);
  }
  if (step.call == Call::kPark) request.reason = static_cast<coord::ParkReason>(step.amount % 5);
  return request;
}

}  // namespace

Request blank_request(const Step& step, const Sender& sender) {
  Request request;
  request.call = step.call;
  request.now = sender.now;
  request.tenant = tenant_number(sender.worker.tenant());
  request.worker = sender.worker.id();
  request.key = step.shard;
  request.op = step.op;
  return request;
}

const Holding* presented(const Step& step, const Sender& sender) {
  if (step.presents == Presents::kSuperseded) {
    const auto& lost = sender.worker.superseded();
    return lost.empty() ? nullptr : &lost[step.which % lost.size()];
  }
  const auto& held = sender.worker.held();
  const auto at = held.find({sender.worker.tenant(), step.shard.run, step.shard.shard});
  return at == held.end() ? nullptr : &at->second;
}

std::vector<Piece> layout(std::size_t count) {
  CAD_CHECK(count > 0, "there is a shard");
  CAD_CHECK(count <= kKeyspace, "every shard has a key");
  std::vector<Piece> pieces;
  pieces.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    pieces.push_back({coord::ShardId::from_raw(i + 1),
                      one_byte(i * kKeyspace / count),
                      one_byte((i + 1) * kKeyspace / count),
                      {}});
  }
  return pieces;
}

std::vector<Piece> cut(const Step& step, const Holding& holding) {
  std::vector<Piece> pieces;
  base::Bytes start = holding.start;
  for (const ShortKey& key : step.keys) {
    pieces.push_back({{}, start, base::to_owned(key.view()), {}});
    start = base::to_owned(key.view());
  }
  pieces.push_back({{}, start, holding.end, {}});
  if (step.call == Call::kSplitReplace && (step.amount & kCarriesCursor) != 0) {
    for (Piece& piece : pieces) {
      const bool inside =
          !base::less(holding.last_key, piece.start) && base::less(holding.last_key, piece.end);
      if (inside) piece.last_key = holding.last_key;
    }
  }
  if (step.call == Call::kSplitReplace && (step.amount & kReversed) != 0) {
    std::ranges::reverse(pieces);
  }
  return pieces;
}

std::optional<Request> request_of(const Step& step, const Sender& sender) {
  if (step.kind == StepKind::kMischief) return mischief_of(step, sender);
  if (step.kind != StepKind::kSend) return repeated_checkpoint(step, sender);
  Request request = blank_request(step, sender);
  switch (step.call) {
    case Call::kRenewMany: return renew_many_of(step, sender);
    case Call::kRenew:
    case Call::kCheckpoint:
    case Call::kComplete:
    case Call::kPark:
    case Call::kRelease:
    case Call::kSplitReplace:
    case Call::kSplitResidual: return leased_request(step, sender);
    case Call::kCreateRun: request.config.lease_duration = kLeaseTicks; break;
    case Call::kRegister: request.pieces = layout(step.amount); break;
    case Call::kCollectGarbage: request.before = coord::LogicalTime::from_raw(step.amount); break;
    case Call::kAcquire:
    case Call::kClaim:
    case Call::kUnpark:
    case Call::kCompleteRun:
    case Call::kFailRun:
    case Call::kCancelRun: break;
  }
  return request;
}

}  // namespace cadastre::sim
