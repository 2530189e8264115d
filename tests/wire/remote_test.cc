// The client against real servers: answers that are lost, servers that go and come back, streams.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "client/claim_stream.h"
#include "client/remote_coordination.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/outcome.h"
#include "coord/shard_summary.h"
#include "coord/snapshot.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "tests/wire/lossy_server.h"
#include "tests/wire/wire_home.h"

namespace cadastre::wire {
namespace {

using coord::testing::at;
using coord::testing::op;
using coord::testing::tenant_of;
using coord::testing::worker;
using shard::testing::operator""_b;
using std::chrono::milliseconds;

const coord::TenantId kTenant = tenant_of(1);
const coord::RunId kRun = coord::RunId::from_raw(1);
const coord::ShardKey kKey{kRun, coord::ShardId::from_raw(10)};

struct Remote : testing::Test {
  Remote() {
    const coord::RunConfig config{.lease_duration = 60'000};
    EXPECT_TRUE(inside->create_run(at(1), kTenant, kRun, config));
    const std::vector<shard::InitialShardInput> rows{
        {kKey.shard, shard::ShardSpecRef::unchecked("a"_b, "z"_b)}};
    EXPECT_TRUE(inside->register_shards(at(2), kTenant, kRun, rows, op(1)));
  }
  coord::Lease take() {
    return inside->acquire_and_restore_into(at(3), kTenant, kKey, worker(1), *scratch)->lease;
  }

  WireHome home;
  std::unique_ptr<coord::CoordinationFacade> inside = home.coordination().blocking();
  std::unique_ptr<coord::AcquireScratch> scratch = std::make_unique<coord::AcquireScratch>();
};

// C-10.8: after a lost answer the same op id finds out what happened.
TEST_F(Remote, AnUnknownOutcomeIsResolvedByReplay) {
  LossyServer lossy(home.parts());
  const auto remote = home.connect({.address = lossy.address()});
  const auto facade = remote->blocking();
  const coord::Lease lease = take();
  lossy.lose_answers(2);
  const auto moved =
      facade->checkpoint(at(4), kTenant, lease, shard::CursorUpdate::make("k"_b), op(2));
  ASSERT_TRUE(moved) << to_text(moved.error());
  EXPECT_TRUE(moved->is_replay()) << "the first request was carried out, once";
  EXPECT_EQ(lossy.requests(), 3);
  EXPECT_EQ(inside->get_shard(kTenant, kKey)->state.op_log.size(), 1U);
}

TEST_F(Remote, ABudgetThatIsSpentLeavesTheOutcomeUnknown) {
  LossyServer lossy(home.parts());
  const auto remote = home.connect({.address = lossy.address(), .retry = {.attempts_max = 2}});
  const coord::Lease lease = take();
  lossy.lose_answers(2);
  const auto moved = remote->blocking()->checkpoint(at(4), kTenant, lease,
                                                    shard::CursorUpdate::make("k"_b), op(2));
  ASSERT_FALSE(moved);
  const auto* const infra = moved.error().get_if<coord::InfraError>();
  ASSERT_NE(infra, nullptr);
  EXPECT_EQ(infra->kind, coord::InfraError::Kind::kTransient);
  EXPECT_EQ(lossy.requests(), 2);
}

// nobody could tell a first grant from a second.
TEST_F(Remote, AClaimAndACreationAreSentOnce) {
  LossyServer lossy(home.parts());
  const auto remote = home.connect({.address = lossy.address()});
  const auto facade = remote->blocking();
  lossy.lose_answers(2);
  const auto claimed = facade->claim_next_available(at(3), kTenant, kRun, worker(1), *scratch);
  ASSERT_FALSE(claimed);
  EXPECT_TRUE(claimed.error().is<coord::InfraError>());
  EXPECT_EQ(lossy.requests(), 1);
  EXPECT_EQ(inside->get_run_progress(at(4), kTenant, kRun)->leased, 1U)
      << "the shard is leased until the lease ends";
  EXPECT_FALSE(
      facade->create_run(at(3), kTenant, coord::RunId::from_raw(2), {.lease_duration = 1}));
  EXPECT_EQ(lossy.requests(), 2);
}

TEST_F(Remote, ARestartedServerIsFoundAgain) {
  const auto remote = home.connect();
  const auto facade = remote->blocking();
  ASSERT_TRUE(facade->get_run(kTenant, kRun));
  const coord::Lease lease = take();
  home.stop();
  std::atomic<int> answers = 0;
  std::optional<bool> executed;
  remote->checkpoint(at(4), kTenant, lease, shard::CursorUpdate::make("k"_b), op(2),
                     [&](const auto& moved) {
                       executed = moved.has_value();
                       ++answers;
                       answers.notify_one();
                     });
  home.start();
  answers.wait(0);
  EXPECT_EQ(executed, true);
}

TEST_F(Remote, AServerThatIsAwayIsTransient) {
  home.stop();
  const auto remote = home.connect(
      {.address = home.address(), .retry = {.attempts_max = 2, .delay_max = milliseconds(10)}});
  const auto run = remote->blocking()->get_run(kTenant, kRun);
  ASSERT_FALSE(run);
  EXPECT_EQ(retry_advice(run.error()), coord::RetryAdvice::kLater);
}

// A server that is slow to answer, or far away, is not one that is away.
TEST_F(Remote, AConnectionIsGivenTime) {
  constexpr int kSlowMs = 400;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(listener, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  auto* const general = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listener, general, size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, general, &size), 0);

  const auto remote =
      home.connect({.address = fmt::format("127.0.0.1:{}", ::ntohs(address.sin_port)),
                    .retry = {.attempts_max = 1}});
  std::atomic<int> answers = 0;
  remote->get_run(kTenant, kRun, [&](const auto& run) {
    EXPECT_FALSE(run);
    ++answers;
    answers.notify_one();
  });
  const int connection = ::accept(listener, nullptr, nullptr);
  pollfd hung_up{.fd = connection, .events = POLLRDHUP, .revents = 0};
  EXPECT_EQ(::poll(&hung_up, 1, kSlowMs), 0) << "the client did not wait";
  ::close(connection);
  ::close(listener);
  answers.wait(0);
}

TEST_F(Remote, ACallTooManyIsNotSent) {
  const auto remote = home.connect({.address = home.address(), .calls_max = 0});
  const auto run = remote->blocking()->get_run(kTenant, kRun);
  ASSERT_FALSE(run);
  EXPECT_EQ(retry_advice(run.error()), coord::RetryAdvice::kLater);
}

// Whatever is under way when a client goes has its completion run first.
TEST_F(Remote, AClientThatGoesAnswersWhatIsUnderWay) {
  home.stop();
  std::atomic<int> answers = 0;
  {
    const auto remote = home.connect();
    for (int i = 0; i < 10; ++i)
      remote->get_run(kTenant, kRun, [&](const auto& /*run*/) { ++answers; });
  }
  EXPECT_EQ(answers.load(), 10);
}

// pages are the wire's matter; a list has what was asked for.
TEST_F(Remote, AListHasAsManyEntriesAsAreWantedHoweverManyPagesThatTakes) {
  constexpr std::uint64_t kMany = 2'500;
  std::vector<std::string> bounds;
  bounds.reserve(kMany + 1);
  for (std::uint64_t i = 0; i <= kMany; ++i)
    bounds.push_back(fmt::format("{:06}", i));
  std::vector<shard::InitialShardInput> rows;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    rows.push_back(
        {coord::ShardId::from_raw(kMany - i),
         shard::ShardSpecRef::unchecked(base::as_bytes(bounds[i]), base::as_bytes(bounds[i + 1]))});
  }
  const auto run = coord::RunId::from_raw(2);
  ASSERT_TRUE(inside->create_run(at(1), kTenant, run, {.lease_duration = 1}));
  ASSERT_TRUE(inside->register_shards(at(2), kTenant, run, rows, op(1)));

  const auto remote = home.connect();
  const auto facade = remote->blocking();
  struct Case {
    std::size_t limit = 0;
    std::optional<coord::ShardId> after;
    std::size_t listed = 0;
  };
  const auto fifth = coord::ShardId::from_raw(kMany - 4);
  for (const Case& row : {Case{std::numeric_limits<std::size_t>::max(), {}, kMany},
                          Case{2'000, {}, 2'000}, Case{2'001, {}, 2'001}, Case{1'000, {}, 1'000},
                          Case{2'500, fifth, 2'495}, Case{3, fifth, 3}, Case{0, {}, 0}}) {
    std::vector<coord::ShardSummary> told;
    std::vector<coord::ShardSummary> direct;
    const coord::ShardPage page{.limit = row.limit, .after = row.after};
    const auto all = coord::ShardFilter::all();
    ASSERT_TRUE(facade->list_shards_into(at(3), kTenant, run, all, page, told));
    ASSERT_TRUE(inside->list_shards_into(at(3), kTenant, run, all, page, direct));
    EXPECT_EQ(told.size(), row.listed);
    EXPECT_TRUE(std::ranges::equal(told, direct, {}, &coord::ShardSummary::shard,
                                   &coord::ShardSummary::shard));
  }
}

TEST_F(Remote, RunsAreListedToTheLast) {
  constexpr std::uint64_t kMany = 1'100;
  for (std::uint64_t i = 2; i <= kMany; ++i)
    ASSERT_TRUE(
        inside->create_run(at(1), kTenant, coord::RunId::from_raw(i), {.lease_duration = 1}));
  const auto remote = home.connect();
  const auto facade = remote->blocking();
  EXPECT_EQ(facade->list_runs(kTenant, {}, kMany + 1), inside->list_runs(kTenant, {}, kMany + 1));
  EXPECT_EQ(facade->list_runs(kTenant, {}, kMany)->size(), kMany);
  EXPECT_EQ(facade->list_runs(kTenant, coord::RunId::from_raw(50), kMany)->size(), kMany - 50);
  EXPECT_EQ(facade->list_runs(kTenant, {}, 1'001)->size(), 1'001U);
}

TEST_F(Remote, AStreamGrantsUntilTheRunIsOver) {
  const auto remote = home.connect({.address = home.address(), .time = client::TimeOf::kServer});
  const auto facade = remote->blocking();
  const auto stream = remote->claims({kTenant, kRun, worker(1), 8});
  const auto granted = stream->next();
  ASSERT_TRUE(granted && granted->has_value());
  const coord::Lease lease = (*granted)->lease();
  EXPECT_EQ(lease.shard_key(), kKey);
  ASSERT_TRUE(facade->complete(at(1), kTenant, lease, shard::CursorUpdate::make("k"_b), op(2)));
  ASSERT_TRUE(facade->complete_run(at(1), kTenant, kRun, op(3)));
  const auto over = stream->next();
  ASSERT_TRUE(over) << to_text(over.error());
  EXPECT_FALSE(over->has_value());
  EXPECT_FALSE(stream->next()->has_value()) << "and stays so";
}

TEST_F(Remote, ACancelledStreamEnds) {
  const auto remote = home.connect({.address = home.address(), .time = client::TimeOf::kServer});
  // Leased in the server's time: the stream has nothing to grant.
  ASSERT_TRUE(
      remote->blocking()->acquire_and_restore_into(at(1), kTenant, kKey, worker(1), *scratch));
  const auto stream = remote->claims({kTenant, kRun, worker(2), 1});
  stream->cancel();
  const auto next = stream->next();
  ASSERT_FALSE(next);
  EXPECT_TRUE(next.error().is<coord::InfraError>());
}

// Whichever comes first: the shard is held by whoever was told so, or free again.
TEST_F(Remote, AStreamThatIsCancelledWhileItIsGrantedSomethingEnds) {
  const auto remote = home.connect({.address = home.address(), .time = client::TimeOf::kServer});
  const auto stream = remote->claims({kTenant, kRun, worker(2), 1});
  stream->cancel();
  const auto next = stream->next();
  if (next && *next) {
    EXPECT_EQ((*next)->lease().shard_key(), kKey);
  } else if (!next) {
    EXPECT_TRUE(next.error().is<coord::InfraError>());
  }
}

TEST_F(Remote, AStreamOfNoRunIsRefused) {
  const auto remote = home.connect();
  const auto stream = remote->claims({kTenant, coord::RunId::from_raw(9), worker(2), 1});
  const auto next = stream->next();
  ASSERT_FALSE(next);
  EXPECT_TRUE(next.error().is<coord::RunNotFound>());
}

}  // namespace
}  // namespace cadastre::wire
