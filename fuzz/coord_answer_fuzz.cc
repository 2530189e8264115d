// Answers of the replicated backend: any bytes are decoded as the answer of every operation, and what decodes
// encodes to the same bytes.

#include "base/bytes.h"
#include "base/check.h"
#include "coord/record_codec.h"
#include "coord/replicated/answer.h"
#include "coord/snapshot.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

namespace replicated = coord::replicated;

template <class Reply>
void check(base::ByteView bytes) {
  const auto reply = replicated::decode_answer<Reply>(bytes);
  if (!reply) {
    CAD_CHECK(coord::code_name(reply.error()) != "unknown", "an error has a name");
    return;
  }
  CAD_CHECK(base::equal(replicated::encode_answer(*reply), bytes), "an answer has one form");
}

template <class... Replies>
void check_all(base::ByteView bytes) {
  (check<Replies>(bytes), ...);
}

// Whatever decodes fits a scratch.
template <class Reply, class Encoded>
void check_acquisition(base::ByteView bytes) {
  static coord::AcquireScratch scratch;
  const auto reply = replicated::decode_answer<Reply>(bytes);
  if (!reply) return;
  Encoded answer =
      *reply ? Encoded((*reply)->restore_into(scratch)) : Encoded(base::fail(reply->error()));
  CAD_CHECK(base::equal(replicated::encode_answer(answer), bytes), "an answer has one form");
}

}  // namespace

void run_one(base::ByteView input) {
  check_all<replicated::RenewReply, replicated::RenewManyReply, replicated::CheckpointReply,
            replicated::ReleaseReply, replicated::ParkReply, replicated::SplitReplaceReply,
            replicated::SplitResidualReply, replicated::CreateRunReply, replicated::RegisterReply,
            replicated::TransitionReply, replicated::UnparkReply, replicated::CountReply>(input);
  check_acquisition<replicated::AcquireReply,
                    coord::Result<coord::AcquireResultView, coord::AcquireError>>(input);
  check_acquisition<replicated::ClaimReply,
                    coord::Result<coord::AcquireResultView, coord::ClaimError>>(input);
}

}  // namespace cadastre::fuzz
