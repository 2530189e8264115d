#include "coord/worker_session.h"

#include <cstddef>
#include <expected>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/cursor_rules.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/shard_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/shard_spec.h"

namespace cadastre::coord {
namespace {

shard::ShardSpec owned(const ShardSpecRef& spec) {
  auto copy = shard::ShardSpec::try_from(spec);
  CAD_CHECK(copy.has_value(), "a backend hands out valid specs");
  return *std::move(copy);
}

template <class T, class E>
WorkerSession::Terminal<T, E> with_handle(std::expected<IdempotentOutcome<T>, E> result,
                                          const RetryHandle& handle) {
  if (!result) return std::unexpected(FailedTerminal<E>{std::move(result).error(), handle});
  return *std::move(result);
}

}  // namespace

AcquiredShard::AcquiredShard(const AcquireResultView& acquired)
    : lease_(acquired.lease),
      spec_(owned(acquired.snapshot.spec)),
      last_key_(base::to_owned(acquired.snapshot.cursor.last_key().value_or(ByteView{}))),
      token_(base::to_owned(acquired.snapshot.cursor.token().value_or(ByteView{}))),
      semantics_(acquired.snapshot.semantics),
      parent_(acquired.snapshot.parent),
      capacity_(acquired.capacity) {
  CAD_CHECK(!is_terminal(acquired.snapshot.status), "a shard that was acquired is active");
  for (std::size_t i = 0; i < acquired.snapshot.spawned.size(); ++i)
    spawned_.push_back(acquired.snapshot.spawned[i]);
}

CursorUpdate AcquiredShard::cursor() const noexcept {
  if (last_key_.empty()) return CursorUpdate::initial();
  return CursorUpdate::make(last_key_, token_);
}

WorkerSession::WorkerSession(CoordinationBackend& backend, AcquiredShard acquired)
    : backend_(&backend), held_(std::make_unique<AcquiredShard>(std::move(acquired))) {
  backend_->session_opened();
}

WorkerSession::WorkerSession(WorkerSession&& other) noexcept
    : backend_(std::exchange(other.backend_, nullptr)), held_(std::move(other.held_)) {}

WorkerSession& WorkerSession::operator=(WorkerSession&& other) noexcept {
  if (this == &other) return *this;
  end();
  backend_ = std::exchange(other.backend_, nullptr);
  held_ = std::move(other.held_);
  return *this;
}

WorkerSession::~WorkerSession() {
  end();
}

void WorkerSession::end() noexcept {
  if (backend_ == nullptr) return;
  backend_->session_ended();
  backend_ = nullptr;
  held_.reset();
}

Result<WorkerSession, AcquireError> WorkerSession::open(CoordinationBackend& backend,
                                                        LogicalTime now,
                                                        const TenantId& tenant,
                                                        const ShardKey& key,
                                                        WorkerId worker) {
  const auto scratch = std::make_unique<AcquireScratch>();
  const auto acquired =
      CAD_TRY(backend.acquire_and_restore_into(now, tenant, key, worker, *scratch));
  CAD_CHECK(acquired.lease.tenant() == tenant, "the lease is the caller's");
  CAD_CHECK(acquired.lease.shard_key() == key, "the lease is of the shard that was asked for");
  CAD_CHECK(acquired.lease.owner() == worker, "the lease is the worker's");
  return WorkerSession(backend, AcquiredShard(acquired));
}

WorkerSession WorkerSession::from_acquired(CoordinationBackend& backend, AcquiredShard acquired) {
  return {backend, std::move(acquired)};
}

const AcquiredShard& WorkerSession::held() const {
  CAD_CHECK(backend_ != nullptr, "a session is used until it is consumed or moved");
  return *held_;
}

AcquiredShard& WorkerSession::held() {
  CAD_CHECK(backend_ != nullptr, "a session is used until it is consumed or moved");
  return *held_;
}

RetryHandle WorkerSession::retry_handle() const {
  return {tenant(), lease(), shard_key()};
}

Result<RenewResult, RenewError> WorkerSession::renew(LogicalTime now) & {
  AcquiredShard& shard = held();
  const auto renewed = CAD_TRY(backend_->renew(now, tenant(), shard.lease_));
  shard.lease_ = shard.lease_.extended_to(renewed.new_deadline);
  shard.capacity_ = renewed.capacity;
  return renewed;
}

Result<IdempotentOutcome<Unit>, CheckpointError> WorkerSession::checkpoint(
    LogicalTime now, const CursorUpdate& cursor, OpId op) & {
  return backend_->checkpoint(now, tenant(), held().lease_, cursor, op);
}

Result<IdempotentOutcome<SplitResidualResult>, SplitResidualError> WorkerSession::split_residual(
    LogicalTime now, const SplitResidualPlan& plan, OpId op) & {
  AcquiredShard& shard = held();
  auto split = backend_->split_residual(now, tenant(), shard.lease_, plan, op);
  if (split && split->is_executed()) {
    shard.spec_ = owned(plan.new_parent());
    shard.spawned_.push_back(split->value().residual);
  }
  return split;
}

WorkerSession::Terminal<Unit, CompleteError> WorkerSession::complete(LogicalTime now,
                                                                     const CursorUpdate& cursor,
                                                                     OpId op) && {
  const RetryHandle handle = retry_handle();
  auto result = backend_->complete(now, handle.tenant, handle.lease, cursor, op);
  end();
  return with_handle(std::move(result), handle);
}

WorkerSession::Terminal<Unit, CompleteError> WorkerSession::complete_empty(LogicalTime now,
                                                                           OpId op) && {
  const CursorUpdate cursor = empty_completion(spec(), this->cursor());
  const RetryHandle handle = retry_handle();
  auto result = backend_->complete(now, handle.tenant, handle.lease, cursor, op);
  end();
  return with_handle(std::move(result), handle);
}

WorkerSession::Terminal<Unit, ParkError> WorkerSession::park(LogicalTime now,
                                                             ParkReason reason,
                                                             OpId op) && {
  const RetryHandle handle = retry_handle();
  auto result = backend_->park_shard(now, handle.tenant, handle.lease, reason, op);
  end();
  return with_handle(std::move(result), handle);
}

WorkerSession::Terminal<Unit, ReleaseError> WorkerSession::release(LogicalTime now,
                                                                   const CursorUpdate& cursor,
                                                                   OpId op) && {
  const RetryHandle handle = retry_handle();
  auto result = backend_->release_shard(now, handle.tenant, handle.lease, cursor, op);
  end();
  return with_handle(std::move(result), handle);
}

WorkerSession::Terminal<SplitReplaceResult, SplitReplaceError> WorkerSession::split_replace(
    LogicalTime now, const SplitReplacePlan& plan, OpId op) && {
  const RetryHandle handle = retry_handle();
  auto result = backend_->split_replace(now, handle.tenant, handle.lease, plan, op);
  end();
  return with_handle(std::move(result), handle);
}

}  // namespace cadastre::coord
