// The messages of cadastre.v1 by name, for headers: whoever only passes one on needs no protobuf.

#pragma once

namespace cadastre::v1 {

class AcquireRequest;
class Capacity;
class ChangeMembershipRequest;
class CheckpointRequest;
class ClaimRequest;
class ClaimStreamRequest;
class CollectTerminalRunsRequest;
class CollectTerminalRunsResponse;
class CreateRunRequest;
class Cursor;
class EndRunRequest;
class Error;
class GetMembershipRequest;
class GetRunProgressRequest;
class GetRunRequest;
class GetShardRequest;
class Grant;
class Lease;
class ListClaimCandidatesRequest;
class ListClaimCandidatesResponse;
class ListRunsRequest;
class ListRunsResponse;
class ListShardsRequest;
class ListShardsResponse;
class Membership;
class OutcomeResponse;
class ParkRequest;
class RegisterShardsRequest;
class RegisterShardsResponse;
class RenewManyRequest;
class RenewManyResponse;
class RenewRequest;
class RenewResponse;
class Run;
class RunConfig;
class RunProgress;
class Shard;
class Spec;
class SplitReplaceRequest;
class SplitReplaceResponse;
class SplitResidualRequest;
class SplitResidualResponse;
class TransferLeadershipRequest;
class TransferLeadershipResponse;
class UnparkShardRequest;
class UnparkShardResponse;

}  // namespace cadastre::v1
