#include "client/wire_error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cadastre/v1/coordination.pb.h"

#include "base/byte_slab.h"
#include "client/limits.h"
#include "client/wire_values.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"

namespace cadastre::client {
namespace {

using coord::FenceEpoch;
using coord::InfraError;
using coord::LogicalTime;
using coord::OpId;
using coord::RetryAdvice;
using coord::RunId;
using coord::RunStatus;
using coord::ShardId;
using coord::ShardStatus;
using coord::TenantId;
using Scope = shard::SplitError::Scope;

// Whatever comes from a server's machinery is told under this label.
constexpr const char* kServer = "server";

v1::Retry to_wire(RetryAdvice advice) noexcept {
  switch (advice) {
    case RetryAdvice::kNever: return v1::RETRY_NEVER;
    case RetryAdvice::kNow: return v1::RETRY_NOW;
    case RetryAdvice::kLater: return v1::RETRY_LATER;
  }
  return v1::RETRY_NEVER;
}

v1::ShardStatus to_wire(ShardStatus status) noexcept {
  return static_cast<v1::ShardStatus>(wire_number(status));
}
v1::RunStatus to_wire(RunStatus status) noexcept {
  return static_cast<v1::RunStatus>(wire_number(status));
}

// ---- Out -----------------------------------------------------------------------------------------

void name_shard(const coord::ShardKey& key, v1::Error::ShardName& out) {
  out.set_run(key.run.raw());
  out.set_shard(key.shard.raw());
}

void put(const coord::ShardNotFound& error, v1::Error& out) {
  name_shard(error.key, *out.mutable_shard_not_found());
}
void put(const coord::TenantMismatch& /*error*/, v1::Error& out) {
  (void)out.mutable_tenant_mismatch();
}
void put(const coord::StaleFence& error, v1::Error& out) {
  out.mutable_stale_fence()->set_presented(error.presented.raw());
  out.mutable_stale_fence()->set_current(error.current.raw());
}
void put(const coord::LeaseExpired& error, v1::Error& out) {
  out.mutable_lease_expired()->set_deadline(error.deadline.raw());
  out.mutable_lease_expired()->set_now(error.now.raw());
}
void put(const coord::ShardTerminal& error, v1::Error& out) {
  auto& fields = *out.mutable_shard_terminal();
  fields.set_run(error.key.run.raw());
  fields.set_shard(error.key.shard.raw());
  fields.set_status(to_wire(error.status));
}
void put(const coord::OpIdConflict& error, v1::Error& out) {
  out.mutable_op_id_conflict()->set_op_id(error.op_id().raw());
}
void put(const coord::CursorRegression& error, v1::Error& out) {
  auto& fields = *out.mutable_cursor_regression();
  if (error.old_len) fields.set_old_len(*error.old_len);
  if (error.new_len) fields.set_new_len(*error.new_len);
}
void put(const coord::CursorOutOfBounds& error, v1::Error& out) {
  auto& fields = *out.mutable_cursor_out_of_bounds();
  fields.set_key_len(error.key_len);
  fields.set_start_len(error.start_len);
  fields.set_end_len(error.end_len);
}
void put(const coord::CursorKeyTooLarge& error, v1::Error& out) {
  out.mutable_cursor_key_too_large()->set_size(error.size);
  out.mutable_cursor_key_too_large()->set_max(error.max);
}
void put(const coord::CursorTokenTooLarge& error, v1::Error& out) {
  out.mutable_cursor_token_too_large()->set_size(error.size);
  out.mutable_cursor_token_too_large()->set_max(error.max);
}
void put(const coord::CheckpointMissingKey& /*error*/, v1::Error& out) {
  (void)out.mutable_checkpoint_missing_key();
}
void put(const coord::SplitInvalid& error, v1::Error& out) {
  auto& fields = *out.mutable_split_invalid();
  fields.set_reason(static_cast<std::uint32_t>(error.reason.code));
  fields.set_scope(static_cast<std::uint32_t>(error.reason.scope));
  for (const std::uint64_t value : error.reason.values)
    fields.add_values(value);
}
void put(const coord::AlreadyLeased& error, v1::Error& out) {
  // The caller's own tenant owns the worker.
  out.mutable_already_leased()->set_worker(error.unredacted_current_owner().raw());
  out.mutable_already_leased()->set_deadline(error.deadline().raw());
}
void put(const coord::RunTerminal& error, v1::Error& out) {
  out.mutable_run_terminal()->set_status(to_wire(error.status));
}
void put(const coord::NotParked& error, v1::Error& out) {
  out.mutable_not_parked()->set_status(to_wire(error.status));
}
void put(const coord::ResourceExhausted& error, v1::Error& out) {
  auto& fields = *out.mutable_resource_exhausted();
  fields.set_requested(error.slab.requested);
  fields.set_available(error.slab.available);
  fields.set_resource(static_cast<std::uint32_t>(error.slab.resource));
}
void put(const InfraError& error, v1::Error& out) {
  auto& fields = *out.mutable_infra();
  fields.set_corruption(error.kind == InfraError::Kind::kCorruption);
  fields.set_operation(error.operation);
  fields.set_message(error.message.substr(0, kErrorTextMax));
}
void put(const coord::InvalidConfig& /*error*/, v1::Error& out) {
  (void)out.mutable_invalid_config();
}
void put(const coord::RunNotFound& error, v1::Error& out) {
  out.mutable_run_not_found()->set_run(error.run.raw());
}
void put(const coord::RunAlreadyExists& error, v1::Error& out) {
  out.mutable_run_already_exists()->set_run(error.run.raw());
}
void put(const coord::ConfigMismatch& error, v1::Error& out) {
  out.mutable_config_mismatch()->set_run(error.run.raw());
}
void put(const coord::WrongStatus& error, v1::Error& out) {
  out.mutable_wrong_status()->set_status(to_wire(error.status));
  if (error.target) out.mutable_wrong_status()->set_target(to_wire(*error.target));
}
void put(const coord::ManifestInvalid& error, v1::Error& out) {
  auto& fields = *out.mutable_manifest_invalid();
  const shard::ManifestError& reason = error.reason;
  fields.set_reason(static_cast<std::uint32_t>(reason.code));
  fields.set_shard(reason.shard.raw());
  fields.set_other(reason.other.raw());
  fields.set_size(reason.size);
  fields.set_max(reason.max);
  fields.set_spec_reason(static_cast<std::uint32_t>(reason.spec_error.code));
  fields.set_spec_size(reason.spec_error.first);
  fields.set_spec_max(reason.spec_error.second);
}
void put(const coord::RunOpIdConflict& error, v1::Error& out) {
  out.mutable_run_op_id_conflict()->set_op_id(error.op_id.raw());
}
void put(const coord::ShardLimitExceeded& error, v1::Error& out) {
  auto& fields = *out.mutable_shard_limit_exceeded();
  fields.set_current(error.current);
  fields.set_additional(error.additional);
  fields.set_max(error.max);
  fields.set_scope(static_cast<std::uint32_t>(error.scope));
}
void put(const coord::RegistrationExhausted& error, v1::Error& out) {
  out.mutable_registration_exhausted()->set_resource(error.resource);
}
void put(const coord::RunNotSettled& error, v1::Error& out) {
  out.mutable_run_not_settled()->set_active(error.active);
  out.mutable_run_not_settled()->set_parked(error.parked);
}
void put(const coord::TooManyLeases& error, v1::Error& out) {
  out.mutable_too_many_leases()->set_size(error.count);
  out.mutable_too_many_leases()->set_max(error.max);
}
void put(const coord::NoneAvailable& error, v1::Error& out) {
  auto& fields = *out.mutable_none_available();
  if (error.earliest_deadline) fields.set_earliest_deadline(error.earliest_deadline->raw());
}
void put(const coord::Throttled& error, v1::Error& out) {
  out.mutable_throttled()->set_retry_after(error.retry_after.raw());
}
void put(const BadRequest& error, v1::Error& out) {
  out.mutable_bad_request()->set_field(error.field);
}

// ---- In ------------------------------------------------------------------------------------------

// A number of ours, or nothing.
template <class E>
std::optional<E> enumerator(std::uint32_t number, E last) noexcept {
  if (number > static_cast<std::uint32_t>(last)) return std::nullopt;
  return static_cast<E>(number);
}

InfraError told_only(const v1::Error& error) {
  std::string text = fmt::format("{}: {}", error.code(), error.detail()).substr(0, kErrorTextMax);
  return error.retry() == v1::RETRY_LATER ? coord::transient(kServer, std::move(text))
                                          : coord::refused(kServer, std::move(text));
}

InfraError read_infra(const v1::Error& error) {
  const v1::Error::Infra& fields = error.infra();
  std::string text =
      fmt::format("{}: {}", fields.operation(), fields.message()).substr(0, kErrorTextMax);
  if (fields.corruption()) return coord::corruption(kServer, std::move(text));
  return error.retry() == v1::RETRY_NEVER ? coord::refused(kServer, std::move(text))
                                          : coord::transient(kServer, std::move(text));
}

AnyError read_split_invalid(const v1::Error& error) {
  const v1::Error::SplitInvalid& fields = error.split_invalid();
  using Code = shard::SplitError::Code;
  const auto code = enumerator(fields.reason(), Code::kInvalidChildCursor);
  const auto scope = enumerator(fields.scope(), Scope::kGlobal);
  if (!code || !scope) return told_only(error);
  shard::SplitError reason{.code = *code, .scope = *scope};
  const std::size_t count =
      std::min(reason.values.size(), static_cast<std::size_t>(fields.values_size()));
  std::copy_n(fields.values().begin(), count, reason.values.begin());
  return coord::SplitInvalid{reason};
}

AnyError read_manifest_invalid(const v1::Error& error) {
  const v1::Error::ManifestInvalid& fields = error.manifest_invalid();
  const auto code = enumerator(fields.reason(), shard::ManifestError::Code::kCursorOutOfBounds);
  const auto spec_code = enumerator(fields.spec_reason(), shard::SpecError::Code::kInvertedRange);
  if (!code || !spec_code) return told_only(error);
  return coord::ManifestInvalid{{
      .code = *code,
      .shard = ShardId::from_raw(fields.shard()),
      .other = ShardId::from_raw(fields.other()),
      .size = fields.size(),
      .max = fields.max(),
      .spec_error = {*spec_code, shard::SpecError::Bound::kNone, fields.spec_size(),
                     fields.spec_max()},
  }};
}

AnyError read_registration_exhausted(const v1::Error& error) {
  // Labels have static lifetime, so that only those that we know come back.
  static constexpr std::array kLabels{"tenant_shards",    "tenant_shards_index", "run_shards_set",
                                      "run_shards_index", "shard_slab",          "etcd_txn_ops",
                                      "txn_bytes",        "entry_bytes"};
  const std::string& told = error.registration_exhausted().resource();
  const auto* const known =
      std::ranges::find_if(kLabels, [&](const char* label) { return told == label; });
  return coord::RegistrationExhausted{known != kLabels.end() ? *known : kServer};
}

AnyError read_wrong_status(const v1::Error& error) {
  const v1::Error::WrongStatus& fields = error.wrong_status();
  const auto status = from_wire_number<RunStatus>(fields.status());
  if (!status) return told_only(error);
  coord::WrongStatus read{.status = *status, .target = {}};
  if (fields.target() != v1::RUN_STATUS_UNSPECIFIED) {
    read.target = from_wire_number<RunStatus>(fields.target());
    if (!read.target) return told_only(error);
  }
  return read;
}

AnyError read_regression(const v1::Error::CursorRegression& fields) {
  coord::CursorRegression read;
  if (fields.has_old_len()) read.old_len = fields.old_len();
  if (fields.has_new_len()) read.new_len = fields.new_len();
  return read;
}

AnyError read_shard_terminal(const v1::Error& error) {
  const auto status = from_wire_number<ShardStatus>(error.shard_terminal().status());
  if (!status) return told_only(error);
  return coord::ShardTerminal{{RunId::from_raw(error.shard_terminal().run()),
                               ShardId::from_raw(error.shard_terminal().shard())},
                              *status};
}

AnyError read_run_terminal(const v1::Error& error) {
  const auto status = from_wire_number<RunStatus>(error.run_terminal().status());
  if (!status) return told_only(error);
  return coord::RunTerminal{*status};
}

AnyError read_not_parked(const v1::Error& error) {
  const auto status = from_wire_number<ShardStatus>(error.not_parked().status());
  if (!status) return told_only(error);
  return coord::NotParked{*status};
}

AnyError read_resource_exhausted(const v1::Error& error) {
  const auto& fields = error.resource_exhausted();
  const auto resource = enumerator(fields.resource(), base::SlabResource::kLiveEntries);
  if (!resource) return told_only(error);
  return coord::ResourceExhausted{{*resource, fields.requested(), fields.available()}};
}

AnyError read_limit_exceeded(const v1::Error& error) {
  const auto& fields = error.shard_limit_exceeded();
  const auto scope = enumerator(fields.scope(), Scope::kGlobal);
  if (!scope) return told_only(error);
  return coord::ShardLimitExceeded{fields.current(), fields.additional(), fields.max(), *scope};
}

AnyError read_none_available(const v1::Error::NoneAvailable& fields) {
  if (!fields.has_earliest_deadline()) return coord::NoneAvailable{};
  return coord::NoneAvailable{LogicalTime::from_raw(fields.earliest_deadline())};
}

AnyError read_bad_request(const v1::Error& error) {
  const std::string& field = error.bad_request().field();
  std::string_view detail = error.detail();  // names the field first, as to_text() does
  if (const std::string named = field + ": "; detail.starts_with(named))
    detail.remove_prefix(named.size());
  return BadRequest{field, std::string(detail)};
}

// Of runs, claims and the wire; the others stand in decode().
AnyError read_rest(const v1::Error& error) {
  switch (error.fields_case()) {
    case v1::Error::kRunNotFound:
      return coord::RunNotFound{RunId::from_raw(error.run_not_found().run())};
    case v1::Error::kRunAlreadyExists:
      return coord::RunAlreadyExists{RunId::from_raw(error.run_already_exists().run())};
    case v1::Error::kConfigMismatch:
      return coord::ConfigMismatch{RunId::from_raw(error.config_mismatch().run())};
    case v1::Error::kWrongStatus: return read_wrong_status(error);
    case v1::Error::kManifestInvalid: return read_manifest_invalid(error);
    case v1::Error::kRunOpIdConflict:
      return coord::RunOpIdConflict{OpId::from_raw(error.run_op_id_conflict().op_id())};
    case v1::Error::kShardLimitExceeded: return read_limit_exceeded(error);
    case v1::Error::kRegistrationExhausted: return read_registration_exhausted(error);
    case v1::Error::kRunNotSettled:
      return coord::RunNotSettled{error.run_not_settled().active(),
                                  error.run_not_settled().parked()};
    case v1::Error::kTooManyLeases:
      return coord::TooManyLeases{error.too_many_leases().size(), error.too_many_leases().max()};
    case v1::Error::kNoneAvailable: return read_none_available(error.none_available());
    case v1::Error::kThrottled:
      return coord::Throttled{LogicalTime::from_raw(error.throttled().retry_after())};
    case v1::Error::kInvalidConfig: return coord::InvalidConfig{};
    case v1::Error::kBadRequest: return read_bad_request(error);
    default: return told_only(error);
  }
}

}  // namespace

std::string_view code_name(const BadRequest& /*error*/) noexcept {
  return "bad_request";
}
std::string to_text(const BadRequest& error) {
  return fmt::format("{}: {}", error.field, error.detail);
}
RetryAdvice retry_advice(const BadRequest& /*error*/) noexcept {
  return RetryAdvice::kNever;
}

void encode(const AnyError& error, v1::Error& out) {
  error.visit([&](const auto& held) {
    out.set_code(std::string(code_name(held)));
    out.set_detail(to_text(held).substr(0, kErrorTextMax));
    out.set_retry(to_wire(retry_advice(held)));
    put(held, out);
  });
}

AnyError decode(const v1::Error& error, const TenantId& tenant) {
  switch (error.fields_case()) {
    case v1::Error::kShardNotFound:
      return coord::ShardNotFound{{RunId::from_raw(error.shard_not_found().run()),
                                   ShardId::from_raw(error.shard_not_found().shard())}};
    case v1::Error::kTenantMismatch: return coord::TenantMismatch{tenant};
    case v1::Error::kStaleFence:
      return coord::StaleFence{FenceEpoch::from_raw(error.stale_fence().presented()),
                               FenceEpoch::from_raw(error.stale_fence().current())};
    case v1::Error::kLeaseExpired:
      return coord::LeaseExpired{LogicalTime::from_raw(error.lease_expired().deadline()),
                                 LogicalTime::from_raw(error.lease_expired().now())};
    case v1::Error::kShardTerminal: return read_shard_terminal(error);
    case v1::Error::kOpIdConflict:
      return coord::OpIdConflict(OpId::from_raw(error.op_id_conflict().op_id()), 0, 0);
    case v1::Error::kCursorRegression: return read_regression(error.cursor_regression());
    case v1::Error::kCursorOutOfBounds:
      return coord::CursorOutOfBounds{error.cursor_out_of_bounds().key_len(),
                                      error.cursor_out_of_bounds().start_len(),
                                      error.cursor_out_of_bounds().end_len()};
    case v1::Error::kCursorKeyTooLarge:
      return coord::CursorKeyTooLarge{error.cursor_key_too_large().size(),
                                      error.cursor_key_too_large().max()};
    case v1::Error::kCursorTokenTooLarge:
      return coord::CursorTokenTooLarge{error.cursor_token_too_large().size(),
                                        error.cursor_token_too_large().max()};
    case v1::Error::kCheckpointMissingKey: return coord::CheckpointMissingKey{};
    case v1::Error::kSplitInvalid: return read_split_invalid(error);
    case v1::Error::kAlreadyLeased:
      return coord::AlreadyLeased(coord::WorkerId::from_raw(error.already_leased().worker()),
                                  LogicalTime::from_raw(error.already_leased().deadline()));
    case v1::Error::kRunTerminal: return read_run_terminal(error);
    case v1::Error::kNotParked: return read_not_parked(error);
    case v1::Error::kResourceExhausted: return read_resource_exhausted(error);
    case v1::Error::kInfra: return read_infra(error);
    default: return read_rest(error);
  }
}

InfraError unexpected_error(const AnyError& error) {
  return error.visit([](const auto& held) {
    return coord::refused(kServer, fmt::format("{}: {}", code_name(held), to_text(held)));
  });
}

}  // namespace cadastre::client
