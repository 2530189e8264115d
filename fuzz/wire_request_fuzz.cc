// Requests off the wire: whatever bytes arrive are refused by a named field, or are arguments that encode to
// a request which is read as the same arguments.
//
// The first byte chooses the request, the rest is its message.

#include "client/wire_request.h"

#include <cstddef>
#include <iterator>

#include "cadastre/v1/coordination.pb.h"

#include "base/bytes.h"
#include "base/check.h"
#include "client/wire_error.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

template <class Request>
void check(base::ByteView bytes) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto read = client::decode(request);
  if (!read) {
    CAD_CHECK(!read.error().field.empty(), "a refusal names its field");
    CAD_CHECK(client::to_text(read.error()).size() < 256, "and is short");
    return;
  }
  Request sent;
  client::encode(*read, sent);
  const auto again = client::decode(sent);
  CAD_CHECK(again.has_value(), "what was encoded is a request");
  Request resent;
  client::encode(*again, resent);
  CAD_CHECK(sent.SerializeAsString() == resent.SerializeAsString(), "and the same one");
}

using Check = void (*)(base::ByteView);
constexpr Check kChecks[] = {
    // NOLINT(modernize-avoid-c-arrays): its size is its content's
    check<v1::CreateRunRequest>,
    check<v1::RegisterShardsRequest>,
    check<v1::GetRunRequest>,
    check<v1::GetRunProgressRequest>,
    check<v1::ListClaimCandidatesRequest>,
    check<v1::ListRunsRequest>,
    check<v1::GetShardRequest>,
    check<v1::ListShardsRequest>,
    check<v1::EndRunRequest>,
    check<v1::UnparkShardRequest>,
    check<v1::CollectTerminalRunsRequest>,
    check<v1::AcquireRequest>,
    check<v1::ClaimRequest>,
    check<v1::ClaimStreamRequest>,
    check<v1::RenewRequest>,
    check<v1::RenewManyRequest>,
    check<v1::CheckpointRequest>,
    check<v1::ParkRequest>,
    check<v1::SplitReplaceRequest>,
    check<v1::SplitResidualRequest>,
};

}  // namespace

void run_one(base::ByteView input) {
  if (input.empty()) return;
  const std::size_t chosen = std::to_integer<std::size_t>(input.front()) % std::size(kChecks);
  kChecks[chosen](input.subspan(1));
}

}  // namespace cadastre::fuzz
