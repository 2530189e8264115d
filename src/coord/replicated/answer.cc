#include "coord/replicated/answer.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/blob_reader.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/replicated/error_codec.h"
#include "coord/replicated/fields.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"

namespace cadastre::coord::replicated {
namespace {

constexpr std::uint8_t kDone = 0;

// ---- Values --------------------------------------------------------------------------------------

void write_value(BlobWriter& /*out*/, Unit /*value*/) {}
void write_value(BlobWriter& out, FenceEpoch value) {
  out.u64(value.raw());
}
void write_value(BlobWriter& out, std::size_t value) {
  out.u64(value);
}
void write_ids(BlobWriter& out, std::span<const ShardId> ids) {
  out.u32(static_cast<std::uint32_t>(ids.size()));
  for (const ShardId id : ids)
    out.u64(id.raw());
}
void write_value(BlobWriter& out, const std::vector<ShardId>& value) {
  write_ids(out, value);
}
void write_value(BlobWriter& out, const SplitReplaceResult& value) {
  write_ids(out, value.children.as_span());
}
void write_value(BlobWriter& out, const SplitResidualResult& value) {
  out.u64(value.residual.raw());
}
void write_value(BlobWriter& out, const RunRecord& value) {
  out.raw(encode(value));
}
void write_value(BlobWriter& out, const CapacityHint& value) {
  out.u32(value.available_count);
  write_optional_u64(
      out, value.earliest_deadline ? std::optional(value.earliest_deadline->raw()) : std::nullopt);
}
void write_value(BlobWriter& out, const RenewResult& value) {
  out.u64(value.new_deadline.raw());
  write_value(out, value.capacity);
}
void write_value(BlobWriter& out, const AcquireResultView& value) {
  write_lease(out, value.lease);
  const ShardSnapshotView& shard = value.snapshot;
  out.u8(static_cast<std::uint8_t>(shard.status));
  out.u8(static_cast<std::uint8_t>(shard.semantics));
  write_spec(out, shard.spec);
  write_cursor(out, shard.cursor);
  write_optional_u64(out, shard.parent ? std::optional(shard.parent->raw()) : std::nullopt);
  out.u32(static_cast<std::uint32_t>(shard.spawned.size()));
  out.raw(shard.spawned.packed());
  write_value(out, value.capacity);
}
template <class T>
void write_value(BlobWriter& out, const IdempotentOutcome<T>& value) {
  out.u8(static_cast<std::uint8_t>(value.outcome()));
  write_value(out, value.value());
}

void write_value(BlobWriter& out, const CoordinationBackend::RenewedLeases& value);

template <class T, class E>
void write_reply(BlobWriter& out, const std::expected<T, E>& reply) {
  if (!reply) return write_error(out, reply.error());
  out.u8(kDone);
  write_value(out, *reply);
}

void write_value(BlobWriter& out, const CoordinationBackend::RenewedLeases& value) {
  out.u32(static_cast<std::uint32_t>(value.size()));
  for (const auto& renewed : value)
    write_reply(out, renewed);
}

// ---- And back ------------------------------------------------------------------------------------

template <class T>
struct ValueReader;

template <>
struct ValueReader<Unit> {
  static Result<Unit, DecodeError> read(BlobReader& /*in*/) { return Unit{}; }
};
template <>
struct ValueReader<FenceEpoch> {
  static Result<FenceEpoch, DecodeError> read(BlobReader& in) { return read_id<FenceEpoch>(in); }
};
template <>
struct ValueReader<std::size_t> {
  static Result<std::size_t, DecodeError> read(BlobReader& in) { return in.u64(); }
};
template <>
struct ValueReader<std::vector<ShardId>> {
  static Result<std::vector<ShardId>, DecodeError> read(BlobReader& in) {
    return in.ids(kMaxInitialShards);
  }
};
template <>
struct ValueReader<SplitReplaceResult> {
  static Result<SplitReplaceResult, DecodeError> read(BlobReader& in) {
    SplitReplaceResult result;
    for (const ShardId id : CAD_TRY(in.ids(kMaxSplitChildren)))
      result.children.push_back(id);
    return result;
  }
};
template <>
struct ValueReader<SplitResidualResult> {
  static Result<SplitResidualResult, DecodeError> read(BlobReader& in) {
    return SplitResidualResult {
      CAD_TRY(read_id<ShardId>(in))
    };
  }
};
template <>
struct ValueReader<RunRecord> {
  static Result<RunRecord, DecodeError> read(BlobReader& in) { return decode_run(in.rest()); }
};
template <>
struct ValueReader<CapacityHint> {
  static Result<CapacityHint, DecodeError> read(BlobReader& in) {
    CapacityHint hint;
    hint.available_count = CAD_TRY(in.u32());
    if (const auto earliest = CAD_TRY(in.optional_u64())) {
      hint.earliest_deadline = LogicalTime::from_raw(*earliest);
    }
    return hint;
  }
};
template <>
struct ValueReader<RenewResult> {
  static Result<RenewResult, DecodeError> read(BlobReader& in) {
    RenewResult result;
    result.new_deadline = CAD_TRY(read_id<LogicalTime>(in));
    result.capacity = CAD_TRY(ValueReader<CapacityHint>::read(in));
    return result;
  }
};

// Copies of everything, within the limits of a scratch.
Result<ShardDump, DecodeError> read_snapshot(BlobReader& in) {
  ShardDump shard;
  shard.state.status = CAD_TRY(in.enumerator<ShardStatus>("ShardStatus"));
  shard.state.semantics = CAD_TRY(in.enumerator<CursorSemantics>("CursorSemantics"));
  const auto spec = CAD_TRY(read_spec(in));
  if (!shard::validate(spec)) return base::fail(violation("a shard's spec is valid"));
  shard.start = base::to_owned(spec.start());
  shard.end = base::to_owned(spec.end());
  shard.metadata = base::to_owned(spec.metadata());
  const auto cursor = CAD_TRY(read_cursor(in));
  if (cursor.last_key()) shard.last_key = base::to_owned(*cursor.last_key());
  if (cursor.token()) shard.token = base::to_owned(*cursor.token());
  if (shard.last_key.size() > kMaxKeySize || shard.token.size() > kMaxTokenSize) {
    return base::fail(violation("a shard's cursor has a legal size"));
  }
  if (const auto parent = CAD_TRY(in.optional_u64())) {
    shard.state.parent = ShardId::from_raw(*parent);
  }
  shard.spawned = CAD_TRY(in.ids(kMaxSpawnedPerShard));
  return shard;
}

template <>
struct ValueReader<AcquireAnswer> {
  static Result<AcquireAnswer, DecodeError> read(BlobReader& in) {
    const Lease lease = CAD_TRY(read_lease(in));
    ShardDump shard = CAD_TRY(read_snapshot(in));
    const auto capacity = CAD_TRY(ValueReader<CapacityHint>::read(in));
    return AcquireAnswer{lease, std::move(shard), capacity};
  }
};
template <class T>
struct ValueReader<IdempotentOutcome<T>> {
  static Result<IdempotentOutcome<T>, DecodeError> read(BlobReader& in) {
    const bool replayed = CAD_TRY(in.presence());
    static_assert(static_cast<int>(Outcome::kReplayed) == 1);
    auto value = CAD_TRY(ValueReader<T>::read(in));
    return IdempotentOutcome<T>(replayed ? Outcome::kReplayed : Outcome::kExecuted,
                                std::move(value));
  }
};

template <class Reply>
Result<Reply, DecodeError> read_reply(BlobReader& in) {
  const std::uint8_t number = CAD_TRY(in.u8());
  if (number == kDone) {
    return Reply(CAD_TRY(ValueReader<typename Reply::value_type>::read(in)));
  }
  return Reply(base::fail(CAD_TRY(ErrorReader<typename Reply::error_type>::read(number, in))));
}

template <>
struct ValueReader<CoordinationBackend::RenewedLeases> {
  static Result<CoordinationBackend::RenewedLeases, DecodeError> read(BlobReader& in) {
    const std::size_t count = CAD_TRY(in.count(kRenewManyMax));
    CoordinationBackend::RenewedLeases renewed;
    for (std::size_t i = 0; i < count; ++i)
      renewed.push_back(CAD_TRY(read_reply<RenewReply>(in)));
    return renewed;
  }
};

template <class Reply>
base::Bytes write_all(const Reply& reply) {
  BlobWriter out;
  write_reply(out, reply);
  return out.take();
}

}  // namespace

AcquireResultView AcquireAnswer::restore_into(AcquireScratch& out) const {
  base::Bytes spawned;
  return {lease, out.fill(view_of(shard, spawned)), capacity};
}

base::Bytes encode_answer(const Result<AcquireResultView, AcquireError>& answer) {
  return write_all(answer);
}

base::Bytes encode_answer(const Result<AcquireResultView, ClaimError>& answer) {
  return write_all(answer);
}

template <class Reply>
base::Bytes encode_answer(const Reply& reply) {
  return write_all(reply);
}

template <class Reply>
Result<Reply, DecodeError> decode_answer(ByteView bytes) {
  BlobReader in(bytes);
  auto reply = CAD_TRY(read_reply<Reply>(in));
  if constexpr (!std::is_same_v<Reply, CreateRunReply>) {
    CAD_TRY(in.end());
  } else {
    if (!reply) CAD_TRY(in.end());  // A run's record takes all that is left.
  }
  return reply;
}

template base::Bytes encode_answer(const RenewReply&);
template base::Bytes encode_answer(const RenewManyReply&);
template base::Bytes encode_answer(const CheckpointReply&);
template base::Bytes encode_answer(const ReleaseReply&);
template base::Bytes encode_answer(const ParkReply&);
template base::Bytes encode_answer(const SplitReplaceReply&);
template base::Bytes encode_answer(const SplitResidualReply&);
template base::Bytes encode_answer(const CreateRunReply&);
template base::Bytes encode_answer(const RegisterReply&);
template base::Bytes encode_answer(const TransitionReply&);
template base::Bytes encode_answer(const UnparkReply&);
template base::Bytes encode_answer(const CountReply&);

template Result<AcquireReply, DecodeError> decode_answer(ByteView);
template Result<ClaimReply, DecodeError> decode_answer(ByteView);
template Result<RenewReply, DecodeError> decode_answer(ByteView);
template Result<RenewManyReply, DecodeError> decode_answer(ByteView);
template Result<CheckpointReply, DecodeError> decode_answer(ByteView);
template Result<ReleaseReply, DecodeError> decode_answer(ByteView);
template Result<ParkReply, DecodeError> decode_answer(ByteView);
template Result<SplitReplaceReply, DecodeError> decode_answer(ByteView);
template Result<SplitResidualReply, DecodeError> decode_answer(ByteView);
template Result<CreateRunReply, DecodeError> decode_answer(ByteView);
template Result<RegisterReply, DecodeError> decode_answer(ByteView);
template Result<TransitionReply, DecodeError> decode_answer(ByteView);
template Result<UnparkReply, DecodeError> decode_answer(ByteView);
template Result<CountReply, DecodeError> decode_answer(ByteView);

}  // namespace cadastre::coord::replicated
