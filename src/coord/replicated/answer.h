// Answers: what the state machine says to a command, as the bytes of a log's result.
//
// Integers, bytes, opt and list as in coord/record_codec.h.
//
//   0, value        done; what the value is follows from the operation
//   1 to 29, fields  refused; the numbers of errors stand in answer.cc. An operation's decoder takes those
//                   of its own set of errors only.
//
// Answers travel within one process or from a replica to its own callers; they are not stored. A decoder
// takes any bytes. Everything here is a pure function.
//
//   base::Bytes bytes = encode_answer(state.renew(now, tenant, lease));
//   auto answer = decode_answer<Result<RenewResult, RenewError>>(bytes);   // of a Result of DecodeError

#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/blob_reader.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/one_of.h"
#include "coord/outcome.h"
#include "coord/record_codec.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"

namespace cadastre::coord::replicated {

// An acquisition with the bytes that it borrows, to be copied into the caller's scratch.
struct AcquireAnswer {
  Lease lease;
  ShardDump shard;  // without what a snapshot leaves out
  CapacityHint capacity;

  // As the backend would have answered. Borrows `out`.
  [[nodiscard]] AcquireResultView restore_into(AcquireScratch& out) const;
};

// The operations' answers.
using AcquireReply = Result<AcquireAnswer, AcquireError>;
using ClaimReply = Result<AcquireAnswer, ClaimError>;
using RenewReply = Result<RenewResult, RenewError>;
using RenewManyReply = Result<CoordinationBackend::RenewedLeases, RenewManyError>;
using CheckpointReply = Result<IdempotentOutcome<Unit>, CheckpointError>;
using ReleaseReply = Result<IdempotentOutcome<Unit>, ReleaseError>;
using ParkReply = Result<IdempotentOutcome<Unit>, ParkError>;
using SplitReplaceReply = Result<IdempotentOutcome<SplitReplaceResult>, SplitError>;
using SplitResidualReply = Result<IdempotentOutcome<SplitResidualResult>, SplitError>;
using CreateRunReply = Result<RunRecord, CreateRunError>;
using RegisterReply = Result<IdempotentOutcome<std::vector<ShardId>>, RegisterShardsError>;
using TransitionReply = Result<IdempotentOutcome<Unit>, RunTransitionError>;
using UnparkReply = Result<IdempotentOutcome<FenceEpoch>, UnparkError>;
using CountReply = Result<std::size_t, InfraError>;

[[nodiscard]] base::Bytes encode_answer(const Result<AcquireResultView, AcquireError>& answer);
[[nodiscard]] base::Bytes encode_answer(const Result<AcquireResultView, ClaimError>& answer);

// For the other replies above.
template <class Reply>
[[nodiscard]] base::Bytes encode_answer(const Reply& reply);
template <class Reply>
[[nodiscard]] Result<Reply, DecodeError> decode_answer(ByteView bytes);

extern template base::Bytes encode_answer(const RenewReply&);
extern template base::Bytes encode_answer(const RenewManyReply&);
extern template base::Bytes encode_answer(const CheckpointReply&);
extern template base::Bytes encode_answer(const ReleaseReply&);
extern template base::Bytes encode_answer(const ParkReply&);
extern template base::Bytes encode_answer(const SplitReplaceReply&);
extern template base::Bytes encode_answer(const SplitResidualReply&);
extern template base::Bytes encode_answer(const CreateRunReply&);
extern template base::Bytes encode_answer(const RegisterReply&);
extern template base::Bytes encode_answer(const TransitionReply&);
extern template base::Bytes encode_answer(const UnparkReply&);
extern template base::Bytes encode_answer(const CountReply&);

extern template Result<AcquireReply, DecodeError> decode_answer(ByteView);
extern template Result<ClaimReply, DecodeError> decode_answer(ByteView);
extern template Result<RenewReply, DecodeError> decode_answer(ByteView);
extern template Result<RenewManyReply, DecodeError> decode_answer(ByteView);
extern template Result<CheckpointReply, DecodeError> decode_answer(ByteView);
extern template Result<ReleaseReply, DecodeError> decode_answer(ByteView);
extern template Result<ParkReply, DecodeError> decode_answer(ByteView);
extern template Result<SplitReplaceReply, DecodeError> decode_answer(ByteView);
extern template Result<SplitResidualReply, DecodeError> decode_answer(ByteView);
extern template Result<CreateRunReply, DecodeError> decode_answer(ByteView);
extern template Result<RegisterReply, DecodeError> decode_answer(ByteView);
extern template Result<TransitionReply, DecodeError> decode_answer(ByteView);
extern template Result<UnparkReply, DecodeError> decode_answer(ByteView);
extern template Result<CountReply, DecodeError> decode_answer(ByteView);

}  // namespace cadastre::coord::replicated
