// Requests: what is sent is what is asked, and what is no request is refused by the field that is wrong.

#include "client/wire_request.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cadastre/v1/coordination.pb.h"

#include "client/limits.h"
#include "client/wire_values.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"
#include "shard/split_plan.h"

namespace cadastre::client {
namespace {

using coord::testing::at;
using coord::testing::op;
using coord::testing::tenant_of;
using coord::testing::worker;
using shard::testing::repeated;
using shard::testing::operator""_b;

const coord::TenantId kTenant = tenant_of(1);
const coord::RunId kRun = coord::RunId::from_raw(7);
const coord::ShardKey kKey{kRun, coord::ShardId::from_raw(9)};

coord::Lease lease_of(const coord::TenantId& tenant) {
  return coord::Lease::granted({.tenant = tenant,
                                .key = kKey,
                                .owner = worker(3),
                                .fence = coord::FenceEpoch::from_raw(2),
                                .deadline = at(110)});
}
const coord::Lease kLease = lease_of(kTenant);

shard::ShardSpecRef spec(base::ByteView start, base::ByteView end) {
  return shard::ShardSpecRef::unchecked(start, end, "meta"_b);
}

// Sends, reads and sends again: nothing is lost on the way.
template <class Request, class Arguments>
void expect_round_trip(const Arguments& arguments) {
  Request sent;
  encode(arguments, sent);
  const auto read = decode(sent);
  ASSERT_TRUE(read) << to_wire(kTenant) << read.error().field;
  Request again;
  encode(*read, again);
  EXPECT_EQ(sent.SerializeAsString(), again.SerializeAsString()) << sent.ShortDebugString();
  EXPECT_EQ(read->tenant, arguments.tenant);
}

TEST(WireRequests, OfRunsComeBack) {
  expect_round_trip<v1::CreateRunRequest>(
      CreateRunArguments{kTenant,
                         at(5),
                         kRun,
                         {.cursor_semantics = coord::CursorSemantics::kDispatched,
                          .lease_duration = 100,
                          .max_shard_retries = 0}});
  expect_round_trip<v1::RegisterShardsRequest>(
      RegisterArguments{kTenant,
                        Now(),
                        kRun,
                        {{kKey.shard, spec("a"_b, "m"_b)},
                         {kKey.shard, spec("m"_b, "z"_b), shard::CursorUpdate::make("n"_b, "t"_b)}},
                        op(4)});
  expect_round_trip<v1::GetRunRequest>(RunArguments{kTenant, Now(), kRun});
  expect_round_trip<v1::GetRunProgressRequest>(RunArguments{kTenant, at(5), kRun});
  expect_round_trip<v1::ListClaimCandidatesRequest>(RunArguments{kTenant, at(5), kRun});
  expect_round_trip<v1::ListRunsRequest>(ListRunsArguments{kTenant, kRun, 10});
  expect_round_trip<v1::GetShardRequest>(GetShardArguments{kTenant, kKey});
  expect_round_trip<v1::ListShardsRequest>(ListShardsArguments{
      kTenant, at(5), kRun, coord::ShardFilter::available(), {.limit = 3, .after = kKey.shard}});
  expect_round_trip<v1::EndRunRequest>(EndRunArguments{kTenant, at(5), kRun, op(4)});
  expect_round_trip<v1::UnparkShardRequest>(UnparkArguments{kTenant, at(5), kKey, op(4)});
  expect_round_trip<v1::CollectTerminalRunsRequest>(CollectArguments{kTenant, at(5)});
}

TEST(WireRequests, OfWorkersComeBack) {
  expect_round_trip<v1::AcquireRequest>(AcquireArguments{kTenant, at(5), kKey, worker(3)});
  expect_round_trip<v1::ClaimRequest>(ClaimArguments{kTenant, Now(), kRun, worker(3)});
  expect_round_trip<v1::ClaimStreamRequest>(ClaimStreamArguments{kTenant, kRun, worker(3), 8});
  expect_round_trip<v1::RenewRequest>(RenewArguments{kTenant, at(5), kLease});
  expect_round_trip<v1::RenewManyRequest>(
      RenewManyArguments{kTenant, at(5), {kLease, lease_of(tenant_of(2))}});
  expect_round_trip<v1::CheckpointRequest>(
      CheckpointArguments{kTenant, at(5), kLease, shard::CursorUpdate::make("n"_b, "t"_b), op(4)});
  expect_round_trip<v1::CheckpointRequest>(
      CheckpointArguments{kTenant, at(5), kLease, shard::CursorUpdate::initial(), op(4)});
  for (int reason = 0; reason <= static_cast<int>(coord::ParkReason::kOther); ++reason) {
    expect_round_trip<v1::ParkRequest>(
        ParkArguments{kTenant, at(5), kLease, static_cast<coord::ParkReason>(reason), op(4)});
  }
  const std::vector<shard::SplitReplaceChild> children = {
      {spec("a"_b, "m"_b)}, {spec("m"_b, "z"_b), shard::CursorUpdate::make("n"_b)}};
  expect_round_trip<v1::SplitReplaceRequest>(SplitReplaceArguments{
      kTenant, at(5), kLease, shard::SplitReplacePlan::try_make(children).value(), op(4)});
  expect_round_trip<v1::SplitResidualRequest>(SplitResidualArguments{
      kTenant, at(5), kLease,
      shard::SplitResidualPlan::try_make(spec("a"_b, "m"_b), spec("m"_b, "z"_b)).value(), op(4)});
}

// E2: a lease keeps its own tenant, for the record to judge.
TEST(WireRequests, ALeaseOfAnotherTenantStaysOne) {
  v1::RenewRequest sent;
  encode(RenewArguments{kTenant, at(5), lease_of(tenant_of(2))}, sent);
  EXPECT_EQ(decode(sent)->lease.tenant(), tenant_of(2));
  sent.Clear();
  encode(RenewArguments{kTenant, at(5), kLease}, sent);
  EXPECT_FALSE(sent.lease().has_tenant());
  EXPECT_EQ(decode(sent)->lease, kLease);
}

// The protocol has its own errors for these.
TEST(WireRequests, SizesAreTheProtocolsBusiness) {
  const base::Bytes large = repeated('x', coord::kMaxKeySize + 1);
  v1::CheckpointRequest sent;
  encode(CheckpointArguments{kTenant, at(5), kLease, shard::CursorUpdate::make(large), op(4)},
         sent);
  EXPECT_EQ(decode(sent)->cursor.last_key()->size(), large.size());
  v1::CreateRunRequest run;
  encode(CreateRunArguments{kTenant, at(5), kRun, {}}, run);
  EXPECT_EQ(decode(run)->config.lease_duration, 0U);
}

TEST(WireRequests, AbsentLimitsAreTheDefaults) {
  v1::ListRunsRequest runs;
  runs.set_tenant(to_wire(kTenant));
  EXPECT_EQ(decode(runs)->limit, kListLimitMax);
  v1::ListShardsRequest shards;
  shards.set_tenant(to_wire(kTenant));
  EXPECT_EQ(decode(shards)->page.limit, kListLimitMax);
  EXPECT_FALSE(decode(shards)->filter.status);
  v1::ClaimStreamRequest stream;
  stream.set_tenant(to_wire(kTenant));
  EXPECT_EQ(decode(stream)->grants_max, 1U);
}

// ---- What is no request ----------------------------------------------------------------------------

template <class Request>
struct Spoiled {
  std::string field;
  std::function<void(Request&)> spoil;
};

template <class Request>
void expect_refused(const Request& good, const std::vector<Spoiled<Request>>& cases) {
  ASSERT_TRUE(decode(good));
  for (const auto& [field, spoil] : cases) {
    Request request = good;
    spoil(request);
    const auto read = decode(request);
    ASSERT_FALSE(read) << field;
    EXPECT_EQ(read.error().field, field);
    EXPECT_FALSE(read.error().detail.empty()) << field;
  }
}

v1::CheckpointRequest good_checkpoint() {
  v1::CheckpointRequest request;
  encode(
      CheckpointArguments{kTenant, at(5), kLease, shard::CursorUpdate::make("n"_b, "t"_b), op(4)},
      request);
  return request;
}

TEST(WireRequests, ACheckpointThatIsNoneIsRefused) {
  using R = v1::CheckpointRequest;
  expect_refused<R>(good_checkpoint(), {
                                           {"tenant",
                                            [](R& r) {
                                              r.clear_tenant();
                                            }},
                                           {"tenant",
                                            [](R& r) {
                                              r.set_tenant(std::string(31, 'x'));
                                            }},
                                           {"tenant",
                                            [](R& r) {
                                              r.set_tenant(std::string(33, 'x'));
                                            }},
                                           {"now",
                                            [](R& r) {
                                              r.set_now(0);
                                            }},
                                           {"lease",
                                            [](R& r) {
                                              r.clear_lease();
                                            }},
                                           {"lease",
                                            [](R& r) {
                                              r.mutable_lease()->set_fence(0);
                                            }},
                                           {"lease",
                                            [](R& r) {
                                              r.mutable_lease()->set_deadline(0);
                                            }},
                                           {"lease.tenant",
                                            [](R& r) {
                                              r.mutable_lease()->set_tenant("x");
                                            }},
                                           {"cursor.last_key",
                                            [](R& r) {
                                              r.mutable_cursor()->set_last_key("");
                                            }},
                                           {"cursor.token",
                                            [](R& r) {
                                              r.mutable_cursor()->clear_last_key();
                                            }},
                                       });
}

TEST(WireRequests, EnumsThatAreNoneAreRefused) {
  v1::ParkRequest park;
  encode(ParkArguments{kTenant, at(5), kLease, coord::ParkReason::kOther, op(4)}, park);
  using Park = v1::ParkRequest;
  expect_refused<Park>(park, {
                                 {"reason",
                                  [](Park& r) {
                                    r.clear_reason();
                                  }},
                                 {"reason",
                                  [](Park& r) {
                                    r.set_reason(v1::ParkReason(6));
                                  }},
                                 {"reason",
                                  [](Park& r) {
                                    r.set_reason(v1::ParkReason(-1));
                                  }},
                                 {"reason",
                                  [](Park& r) {
                                    r.set_reason(v1::ParkReason(257));
                                  }},
                             });
  v1::CreateRunRequest create;
  encode(CreateRunArguments{kTenant, at(5), kRun, {.lease_duration = 1}}, create);
  using Create = v1::CreateRunRequest;
  expect_refused<Create>(create,
                         {
                             {"config",
                              [](Create& r) {
                                r.clear_config();
                              }},
                             {"config.cursor_semantics",
                              [](Create& r) {
                                r.mutable_config()->clear_cursor_semantics();
                              }},
                             {"config.cursor_semantics",
                              [](Create& r) {
                                r.mutable_config()->set_cursor_semantics(v1::CursorSemantics(3));
                              }},
                         });
  v1::ListShardsRequest list;
  encode(ListShardsArguments{kTenant, at(5), kRun, {}, {.limit = 1}}, list);
  using List = v1::ListShardsRequest;
  expect_refused<List>(list, {
                                 {"status",
                                  [](List& r) {
                                    r.set_status(v1::ShardStatus(5));
                                  }},
                                 {"limit",
                                  [](List& r) {
                                    r.set_limit(kListLimitMax + 1);
                                  }},
                             });
}

TEST(WireRequests, ListsThatAreNoneAreRefused) {
  using Register = v1::RegisterShardsRequest;
  v1::RegisterShardsRequest manifest;
  encode(RegisterArguments{kTenant,
                           Now(),
                           kRun,
                           {{kKey.shard, spec("a"_b, "m"_b)}, {kKey.shard, spec("m"_b, "z"_b)}},
                           op(4)},
         manifest);
  expect_refused<Register>(manifest, {
                                         {"shards[1].spec",
                                          [](Register& r) {
                                            r.mutable_shards(1)->clear_spec();
                                          }},
                                         {"shards[0].cursor.token",
                                          [](Register& r) {
                                            r.mutable_shards(0)->mutable_cursor()->set_token("t");
                                          }},
                                         {"shards",
                                          [](Register& r) {
                                            for (int i = 0; i < kRequestShardsMax; ++i)
                                              (void)r.add_shards();
                                          }},
                                     });
  using Renew = v1::RenewManyRequest;
  v1::RenewManyRequest renew;
  encode(RenewManyArguments{kTenant, at(5), {kLease, kLease}}, renew);
  expect_refused<Renew>(renew, {
                                   {"leases[1]",
                                    [](Renew& r) {
                                      r.mutable_leases(1)->Clear();
                                    }},
                                   {"leases",
                                    [](Renew& r) {
                                      for (int i = 0; i < kRequestLeasesMax; ++i)
                                        (void)r.add_leases();
                                    }},
                               });
  using Stream = v1::ClaimStreamRequest;
  v1::ClaimStreamRequest stream;
  encode(ClaimStreamArguments{kTenant, kRun, worker(3), kStreamGrantsMax}, stream);
  expect_refused<Stream>(stream, {{"grants_max", [](Stream& r) {
                                     r.set_grants_max(kStreamGrantsMax + 1);
                                   }}});
}

TEST(WireRequests, SplitsThatAreNoneAreRefused) {
  using Replace = v1::SplitReplaceRequest;
  const std::vector<shard::SplitReplaceChild> children = {{spec("a"_b, "m"_b)},
                                                          {spec("m"_b, "z"_b)}};
  v1::SplitReplaceRequest replace;
  encode(SplitReplaceArguments{kTenant, at(5), kLease,
                               shard::SplitReplacePlan::try_make(children).value(), op(4)},
         replace);
  expect_refused<Replace>(replace, {
                                       {"children",
                                        [](Replace& r) {
                                          r.clear_children();
                                        }},
                                       {"children",
                                        [](Replace& r) {
                                          r.mutable_children()->RemoveLast();
                                        }},
                                       {"children",
                                        [](Replace& r) {
                                          for (std::size_t i = 1; i < coord::kMaxSplitChildren; ++i)
                                            *r.add_children() = r.children(0);
                                        }},
                                       {"children[1].spec",
                                        [](Replace& r) {
                                          r.mutable_children(1)->clear_spec();
                                        }},
                                   });
  using Residual = v1::SplitResidualRequest;
  v1::SplitResidualRequest residual;
  encode(
      SplitResidualArguments{
          kTenant, at(5), kLease,
          shard::SplitResidualPlan::try_make(spec("a"_b, "m"_b), spec("m"_b, "z"_b)).value(),
          op(4)},
      residual);
  expect_refused<Residual>(residual, {
                                         {"new_parent",
                                          [](Residual& r) {
                                            r.clear_new_parent();
                                          }},
                                         {"residual",
                                          [](Residual& r) {
                                            r.clear_residual();
                                          }},
                                         {"residual",
                                          [](Residual& r) {
                                            *r.mutable_residual() = r.new_parent();
                                          }},
                                     });
}

}  // namespace
}  // namespace cadastre::client
