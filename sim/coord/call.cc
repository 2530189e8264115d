// Carries requests to a backend: one small function for each shape of answer.

#include <span>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/backend.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"
#include "sim/coord/request.h"

namespace cadastre::sim {
namespace {

using coord::CoordinationFacade;
using shard::CursorUpdate;
using shard::ShardSpecRef;

CursorUpdate cursor_of(const base::Bytes& last_key, const base::Bytes& token) {
  return last_key.empty() ? CursorUpdate::initial() : CursorUpdate::make(last_key, token);
}

CursorUpdate cursor_of(const Piece& piece) {
  return piece.last_key.empty() ? CursorUpdate::initial() : CursorUpdate::make(piece.last_key);
}

ShardSpecRef spec_of(const Piece& piece) {
  return ShardSpecRef::unchecked(piece.start, piece.end);
}

template <class E>
Answer refused(const E& error) {
  Answer answer;
  answer.code = code_name(error);
  return answer;
}

template <class R>
Answer granted(const R& result) {
  if (!result) {
    Answer answer = refused(result.error());
    if constexpr (requires { result.error().template get_if<coord::NoneAvailable>(); }) {
      const auto* none = result.error().template get_if<coord::NoneAvailable>();
      if (none != nullptr) answer.earliest = none->earliest_deadline;
    }
    return answer;
  }
  Answer answer;
  answer.verdict = Verdict::kGranted;
  answer.lease = result->lease;
  answer.capacity = result->capacity;
  answer.start = base::to_owned(result->snapshot.spec.start());
  answer.end = base::to_owned(result->snapshot.spec.end());
  const auto last_key = result->snapshot.cursor.last_key();
  if (last_key) answer.last_key = base::to_owned(*last_key);
  return answer;
}

// An answer with an outcome and whatever value comes with it.
template <class R>
Answer outcome(const R& result) {
  if (!result) return refused(result.error());
  Answer answer;
  answer.verdict = result->is_executed() ? Verdict::kExecuted : Verdict::kReplayed;
  using Value = std::remove_cvref_t<decltype(result->value())>;
  if constexpr (std::is_same_v<Value, coord::SplitReplaceResult>) {
    const auto children = result->value().children.as_span();
    answer.shards.assign(children.begin(), children.end());
  } else if constexpr (std::is_same_v<Value, coord::SplitResidualResult>) {
    answer.shards = {result->value().residual};
  } else if constexpr (std::is_same_v<Value, std::vector<coord::ShardId>>) {
    answer.shards = result->value();
  } else if constexpr (std::is_same_v<Value, coord::FenceEpoch>) {
    answer.fence = result->value();
  }
  return answer;
}

Answer renew(CoordinationFacade& backend, const Request& request) {
  const auto result = backend.renew(request.now, request.tenant, request.leases.front());
  if (!result) return refused(result.error());
  Answer answer;
  answer.verdict = Verdict::kRenewed;
  answer.deadline = result->new_deadline;
  answer.capacity = result->capacity;
  return answer;
}

Answer renew_many(CoordinationFacade& backend, const Request& request) {
  const auto result = backend.renew_many(request.now, request.tenant, request.leases);
  if (!result) return refused(result.error());
  Answer answer;
  answer.verdict = Verdict::kDone;
  answer.renewals.reserve(result->size());
  for (const auto& renewed : *result) {
    if (renewed) {
      answer.renewals.push_back({{}, renewed->new_deadline, renewed->capacity});
    } else {
      answer.renewals.push_back({code_name(renewed.error()), {}, {}});
    }
  }
  return answer;
}

Answer split_replace(CoordinationFacade& backend, const Request& request) {
  std::vector<shard::SplitReplaceChild> children;
  children.reserve(request.pieces.size());
  for (const Piece& piece : request.pieces)
    children.push_back({spec_of(piece), cursor_of(piece)});
  const auto plan = shard::SplitReplacePlan::try_make(children);
  if (!plan) return refused(plan.error());
  return outcome(backend.split_replace(request.now, request.tenant, request.leases.front(), *plan,
                                       request.op));
}

Answer split_residual(CoordinationFacade& backend, const Request& request) {
  CAD_CHECK(request.pieces.size() == 2, "a residual plan has two ranges");
  const auto plan =
      shard::SplitResidualPlan::try_make(spec_of(request.pieces[0]), spec_of(request.pieces[1]));
  if (!plan) return refused(plan.error());
  return outcome(backend.split_residual(request.now, request.tenant, request.leases.front(), *plan,
                                        request.op));
}

Answer register_shards(CoordinationFacade& backend, const Request& request) {
  std::vector<shard::InitialShardInput> rows;
  rows.reserve(request.pieces.size());
  for (const Piece& piece : request.pieces)
    rows.push_back({piece.shard, spec_of(piece), cursor_of(piece)});
  return outcome(
      backend.register_shards(request.now, request.tenant, request.key.run, rows, request.op));
}

Answer create_run(CoordinationFacade& backend, const Request& request) {
  const auto result =
      backend.create_run(request.now, request.tenant, request.key.run, request.config);
  if (!result) return refused(result.error());
  Answer answer;
  answer.verdict = Verdict::kDone;
  return answer;
}

Answer collect_garbage(CoordinationFacade& backend, const Request& request) {
  const auto result = backend.gc_terminal_runs(request.tenant, request.before);
  if (!result) return refused(result.error());
  Answer answer;
  answer.verdict = Verdict::kDone;
  answer.forgotten = *result;
  return answer;
}

}  // namespace

Answer call(CoordinationFacade& backend, const Request& request, coord::AcquireScratch& scratch) {
  const auto now = request.now;
  const auto& tenant = request.tenant;
  const auto run = request.key.run;
  const auto op = request.op;
  const auto cursor = cursor_of(request.last_key, request.token);
  switch (request.call) {
    case Call::kAcquire:
      return granted(
          backend.acquire_and_restore_into(now, tenant, request.key, request.worker, scratch));
    case Call::kClaim:
      return granted(backend.claim_next_available(now, tenant, run, request.worker, scratch));
    case Call::kRenew: return renew(backend, request);
    case Call::kRenewMany: return renew_many(backend, request);
    case Call::kCheckpoint:
      return outcome(backend.checkpoint(now, tenant, request.leases.front(), cursor, op));
    case Call::kComplete:
      return outcome(backend.complete(now, tenant, request.leases.front(), cursor, op));
    case Call::kPark:
      return outcome(backend.park_shard(now, tenant, request.leases.front(), request.reason, op));
    case Call::kRelease:
      return outcome(backend.release_shard(now, tenant, request.leases.front(), cursor, op));
    case Call::kSplitReplace: return split_replace(backend, request);
    case Call::kSplitResidual: return split_residual(backend, request);
    case Call::kUnpark: return outcome(backend.unpark_shard(now, tenant, request.key, op));
    case Call::kCreateRun: return create_run(backend, request);
    case Call::kRegister: return register_shards(backend, request);
    case Call::kCompleteRun: return outcome(backend.complete_run(now, tenant, run, op));
    case Call::kFailRun: return outcome(backend.fail_run(now, tenant, run, op));
    case Call::kCancelRun: return outcome(backend.cancel_run(now, tenant, run, op));
    case Call::kCollectGarbage: return collect_garbage(backend, request);
  }
  return {};
}

}  // namespace cadastre::sim
