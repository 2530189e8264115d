#include "coord/replicated/error_codec.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_slab.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/blob_reader.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/record_codec.h"
#include "coord/replicated/fields.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"

namespace cadastre::coord::replicated {
namespace {

using ManifestCode = shard::ManifestError::Code;
using SplitCode = shard::SplitError::Code;
using SplitScope = shard::SplitError::Scope;

// Labels with static lifetime, found again by their text.
constexpr std::array kResources{"tenant_shards",    "tenant_shards_index", "run_shards_set",
                                "run_shards_index", "shard_slab",          "etcd_txn_ops",
                                "txn_bytes",        "entry_bytes"};
constexpr std::array kLabels{"op_log.replay", "split_residual.probe", "split_residual.replay"};
constexpr const char* kOtherLabel = "replicated.apply";

template <class E>
void write_enum(BlobWriter& out, E value) {
  out.u8(static_cast<std::uint8_t>(value));
}

// One of the values up to `last`, of an enumeration that is not stored anywhere else.
template <class E>
Result<E, DecodeError> read_enum(BlobReader& in, E last, std::string_view type) {
  const std::uint8_t value = CAD_TRY(in.u8());
  if (value > static_cast<std::uint8_t>(last)) {
    return base::fail(DecodeError{
        .code = DecodeError::Code::kInvalidEnum, .first = value, .second = 0, .what = type});
  }
  return static_cast<E>(value);
}

template <class I>
Result<std::optional<I>, DecodeError> read_optional_id(BlobReader& in) {
  const auto raw = CAD_TRY(in.optional_u64());
  return raw ? std::optional<I>(I::from_raw(*raw)) : std::nullopt;
}

void write_key(BlobWriter& out, const ShardKey& key) {
  out.u64(key.run.raw());
  out.u64(key.shard.raw());
}

Result<ShardKey, DecodeError> read_key(BlobReader& in) {
  ShardKey key;
  key.run = CAD_TRY(read_id<RunId>(in));
  key.shard = CAD_TRY(read_id<ShardId>(in));
  return key;
}

}  // namespace

void write_fields(BlobWriter& out, const ShardNotFound& error) {
  write_key(out, error.key);
}
template <>
Result<ShardNotFound, DecodeError> read_fields(BlobReader& in) {
  return ShardNotFound {
    CAD_TRY(read_key(in))
  };
}

void write_fields(BlobWriter& out, const TenantMismatch& error) {
  out.raw(error.expected.as_bytes());
}
template <>
Result<TenantMismatch, DecodeError> read_fields(BlobReader& in) {
  return TenantMismatch {
    CAD_TRY(in.tenant())
  };
}

void write_fields(BlobWriter& out, const StaleFence& error) {
  out.u64(error.presented.raw());
  out.u64(error.current.raw());
}
template <>
Result<StaleFence, DecodeError> read_fields(BlobReader& in) {
  const auto presented = CAD_TRY(read_id<FenceEpoch>(in));
  return StaleFence {
    presented, CAD_TRY(read_id<FenceEpoch>(in))
  };
}

void write_fields(BlobWriter& out, const LeaseExpired& error) {
  out.u64(error.deadline.raw());
  out.u64(error.now.raw());
}
template <>
Result<LeaseExpired, DecodeError> read_fields(BlobReader& in) {
  const auto deadline = CAD_TRY(read_id<LogicalTime>(in));
  return LeaseExpired {
    deadline, CAD_TRY(read_id<LogicalTime>(in))
  };
}

void write_fields(BlobWriter& out, const ShardTerminal& error) {
  write_key(out, error.key);
  write_enum(out, error.status);
}
template <>
Result<ShardTerminal, DecodeError> read_fields(BlobReader& in) {
  const ShardKey key = CAD_TRY(read_key(in));
  return ShardTerminal {
    key, CAD_TRY(in.enumerator<ShardStatus>("ShardStatus"))
  };
}

void write_fields(BlobWriter& out, const OpIdConflict& error) {
  out.u64(error.op_id().raw());
  out.u64(error.unredacted_expected_hash());
  out.u64(error.unredacted_actual_hash());
}
template <>
Result<OpIdConflict, DecodeError> read_fields(BlobReader& in) {
  const auto op = CAD_TRY(read_id<OpId>(in));
  const std::uint64_t expected = CAD_TRY(in.u64());
  return OpIdConflict(op, expected, CAD_TRY(in.u64()));
}

void write_fields(BlobWriter& out, const CursorRegression& error) {
  write_optional_u64(out, error.old_len);
  write_optional_u64(out, error.new_len);
}
template <>
Result<CursorRegression, DecodeError> read_fields(BlobReader& in) {
  const auto old_len = CAD_TRY(in.optional_u64());
  return CursorRegression {
    old_len, CAD_TRY(in.optional_u64())
  };
}

void write_fields(BlobWriter& out, const CursorOutOfBounds& error) {
  out.u64(error.key_len);
  out.u64(error.start_len);
  out.u64(error.end_len);
}
template <>
Result<CursorOutOfBounds, DecodeError> read_fields(BlobReader& in) {
  CursorOutOfBounds error;
  error.key_len = CAD_TRY(in.u64());
  error.start_len = CAD_TRY(in.u64());
  error.end_len = CAD_TRY(in.u64());
  return error;
}

void write_fields(BlobWriter& out, const CursorKeyTooLarge& error) {
  out.u64(error.size);
  out.u64(error.max);
}
template <>
Result<CursorKeyTooLarge, DecodeError> read_fields(BlobReader& in) {
  const std::uint64_t size = CAD_TRY(in.u64());
  return CursorKeyTooLarge {
    size, CAD_TRY(in.u64())
  };
}

void write_fields(BlobWriter& out, const CursorTokenTooLarge& error) {
  out.u64(error.size);
  out.u64(error.max);
}
template <>
Result<CursorTokenTooLarge, DecodeError> read_fields(BlobReader& in) {
  const std::uint64_t size = CAD_TRY(in.u64());
  return CursorTokenTooLarge {
    size, CAD_TRY(in.u64())
  };
}

void write_fields(BlobWriter& /*out*/, const CheckpointMissingKey& /*error*/) {}
template <>
Result<CheckpointMissingKey, DecodeError> read_fields(BlobReader& /*in*/) {
  return CheckpointMissingKey{};
}

void write_fields(BlobWriter& out, const SplitInvalid& error) {
  write_enum(out, error.reason.code);
  write_enum(out, error.reason.scope);
  for (const std::uint64_t value : error.reason.values)
    out.u64(value);
}
template <>
Result<SplitInvalid, DecodeError> read_fields(BlobReader& in) {
  SplitInvalid error;
  error.reason.code = CAD_TRY(read_enum(in, SplitCode::kInvalidChildCursor, "SplitError"));
  error.reason.scope = CAD_TRY(read_enum(in, SplitScope::kGlobal, "Scope"));
  for (std::uint64_t& value : error.reason.values)
    value = CAD_TRY(in.u64());
  return error;
}

void write_fields(BlobWriter& out, const AlreadyLeased& error) {
  out.u64(error.unredacted_current_owner().raw());
  out.u64(error.deadline().raw());
}
template <>
Result<AlreadyLeased, DecodeError> read_fields(BlobReader& in) {
  const auto owner = CAD_TRY(read_id<WorkerId>(in));
  return AlreadyLeased(owner, CAD_TRY(read_id<LogicalTime>(in)));
}

void write_fields(BlobWriter& out, const RunTerminal& error) {
  write_enum(out, error.status);
}
template <>
Result<RunTerminal, DecodeError> read_fields(BlobReader& in) {
  return RunTerminal {
    CAD_TRY(in.enumerator<RunStatus>("RunStatus"))
  };
}

void write_fields(BlobWriter& out, const NotParked& error) {
  write_enum(out, error.status);
}
template <>
Result<NotParked, DecodeError> read_fields(BlobReader& in) {
  return NotParked {
    CAD_TRY(in.enumerator<ShardStatus>("ShardStatus"))
  };
}

void write_fields(BlobWriter& out, const ResourceExhausted& error) {
  write_enum(out, error.slab.resource);
  out.u64(error.slab.requested);
  out.u64(error.slab.available);
}
template <>
Result<ResourceExhausted, DecodeError> read_fields(BlobReader& in) {
  ResourceExhausted error;
  error.slab.resource = CAD_TRY(read_enum(in, base::SlabResource::kLiveEntries, "SlabResource"));
  error.slab.requested = CAD_TRY(in.u64());
  error.slab.available = CAD_TRY(in.u64());
  return error;
}

void write_fields(BlobWriter& out, const InfraError& error) {
  write_enum(out, error.kind);
  const std::string_view label(error.operation);
  const auto known =
      std::ranges::find(kLabels, label, [](const char* each) { return std::string_view(each); });
  out.u8(static_cast<std::uint8_t>(known - kLabels.begin()));
  out.bytes(base::as_bytes(error.message));
}
template <>
Result<InfraError, DecodeError> read_fields(BlobReader& in) {
  const auto kind = CAD_TRY(read_enum(in, InfraError::Kind::kCorruption, "InfraError"));
  const std::uint8_t label = CAD_TRY(in.u8());
  if (label > kLabels.size()) return base::fail(violation("a label has a number"));
  const ByteView message = CAD_TRY(in.bytes());
  return InfraError{kind, label == kLabels.size() ? kOtherLabel : kLabels[label],
                    std::string(base::as_text(message))};
}

void write_fields(BlobWriter& /*out*/, const InvalidConfig& /*error*/) {}
template <>
Result<InvalidConfig, DecodeError> read_fields(BlobReader& /*in*/) {
  return InvalidConfig{};
}

void write_fields(BlobWriter& out, const RunNotFound& error) {
  out.u64(error.run.raw());
}
template <>
Result<RunNotFound, DecodeError> read_fields(BlobReader& in) {
  return RunNotFound {
    CAD_TRY(read_id<RunId>(in))
  };
}

void write_fields(BlobWriter& out, const RunAlreadyExists& error) {
  out.u64(error.run.raw());
}
template <>
Result<RunAlreadyExists, DecodeError> read_fields(BlobReader& in) {
  return RunAlreadyExists {
    CAD_TRY(read_id<RunId>(in))
  };
}

void write_fields(BlobWriter& out, const WrongStatus& error) {
  write_enum(out, error.status);
  out.presence(error.target.has_value());
  if (error.target) write_enum(out, *error.target);
}
template <>
Result<WrongStatus, DecodeError> read_fields(BlobReader& in) {
  WrongStatus error;
  error.status = CAD_TRY(in.enumerator<RunStatus>("RunStatus"));
  if (CAD_TRY(in.presence())) error.target = CAD_TRY(in.enumerator<RunStatus>("RunStatus"));
  return error;
}

void write_fields(BlobWriter& out, const ManifestInvalid& error) {
  const shard::ManifestError& reason = error.reason;
  write_enum(out, reason.code);
  out.u64(reason.shard.raw());
  out.u64(reason.other.raw());
  out.u64(reason.size);
  out.u64(reason.max);
  write_enum(out, reason.spec_error.code);
  write_enum(out, reason.spec_error.which);
  out.u64(reason.spec_error.first);
  out.u64(reason.spec_error.second);
}
template <>
Result<ManifestInvalid, DecodeError> read_fields(BlobReader& in) {
  ManifestInvalid error;
  shard::ManifestError& reason = error.reason;
  reason.code = CAD_TRY(read_enum(in, ManifestCode::kCursorOutOfBounds, "ManifestError"));
  reason.shard = CAD_TRY(read_id<ShardId>(in));
  reason.other = CAD_TRY(read_id<ShardId>(in));
  reason.size = CAD_TRY(in.u64());
  reason.max = CAD_TRY(in.u64());
  reason.spec_error.code =
      CAD_TRY(read_enum(in, shard::SpecError::Code::kInvertedRange, "SpecError"));
  reason.spec_error.which = CAD_TRY(read_enum(in, shard::SpecError::Bound::kEnd, "Bound"));
  reason.spec_error.first = CAD_TRY(in.u64());
  reason.spec_error.second = CAD_TRY(in.u64());
  return error;
}

void write_fields(BlobWriter& out, const RunOpIdConflict& error) {
  out.u64(error.op_id.raw());
}
template <>
Result<RunOpIdConflict, DecodeError> read_fields(BlobReader& in) {
  return RunOpIdConflict {
    CAD_TRY(read_id<OpId>(in))
  };
}

void write_fields(BlobWriter& out, const ShardLimitExceeded& error) {
  out.u64(error.current);
  out.u64(error.additional);
  out.u64(error.max);
  write_enum(out, error.scope);
}
template <>
Result<ShardLimitExceeded, DecodeError> read_fields(BlobReader& in) {
  ShardLimitExceeded error;
  error.current = CAD_TRY(in.u64());
  error.additional = CAD_TRY(in.u64());
  error.max = CAD_TRY(in.u64());
  error.scope = CAD_TRY(read_enum(in, SplitScope::kGlobal, "Scope"));
  return error;
}

void write_fields(BlobWriter& out, const RegistrationExhausted& error) {
  const auto known = std::ranges::find(kResources, std::string_view(error.resource),
                                       [](const char* each) { return std::string_view(each); });
  CAD_CHECK(known != kResources.end(), "every resource has a number");
  out.u8(static_cast<std::uint8_t>(known - kResources.begin()));
}
template <>
Result<RegistrationExhausted, DecodeError> read_fields(BlobReader& in) {
  const std::uint8_t resource = CAD_TRY(in.u8());
  if (resource >= kResources.size()) return base::fail(violation("a resource has a number"));
  return RegistrationExhausted{kResources[resource]};
}

void write_fields(BlobWriter& out, const TooManyLeases& error) {
  out.u64(error.count);
  out.u64(error.max);
}
template <>
Result<TooManyLeases, DecodeError> read_fields(BlobReader& in) {
  const std::uint64_t count = CAD_TRY(in.u64());
  return TooManyLeases {
    count, CAD_TRY(in.u64())
  };
}

void write_fields(BlobWriter& out, const NoneAvailable& error) {
  write_optional_u64(
      out, error.earliest_deadline ? std::optional(error.earliest_deadline->raw()) : std::nullopt);
}
template <>
Result<NoneAvailable, DecodeError> read_fields(BlobReader& in) {
  return NoneAvailable {
    CAD_TRY(read_optional_id<LogicalTime>(in))
  };
}

void write_fields(BlobWriter& out, const Throttled& error) {
  out.u64(error.retry_after.raw());
}
template <>
Result<Throttled, DecodeError> read_fields(BlobReader& in) {
  return Throttled {
    CAD_TRY(read_id<LogicalTime>(in))
  };
}

}  // namespace cadastre::coord::replicated
