// C12, C13 and R-26: lists of shards and runs, by page.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/progress.h"
#include "coord/shard_summary.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

std::vector<ShardSummary> listed(Conformance& suite,
                                 LogicalTime now,
                                 const ShardFilter& filter = {},
                                 const ShardPage& page = {}) {
  std::vector<ShardSummary> out(1);  // whatever is in it is replaced
  const auto answer = suite.watched({}, [&] {
    return suite.facade().list_shards_into(now, suite.tenant(), kRun, filter, page, out);
  });
  EXPECT_TRUE(answer.has_value());
  return out;
}

std::vector<ShardId> ids_of(const std::vector<ShardSummary>& summaries) {
  std::vector<ShardId> ids;
  ids.reserve(summaries.size());
  for (const ShardSummary& summary : summaries)
    ids.push_back(summary.shard);
  return ids;
}

// Shards of every status, with and without leases, roots and derived ones.
void make_every_kind(Conformance& suite) {
  suite.open_with({{12_id, spec("a"_b, "d"_b)},
                   {10_id, spec("d"_b, "g"_b)},
                   {15_id, spec("g"_b, "j"_b)},
                   {11_id, spec("j"_b, "m"_b)},
                   {14_id, spec("m"_b, "p"_b)},
                   {13_id, spec("p"_b, "z"_b)}});
  EXPECT_TRUE(suite.acquire(10_t, 1_w, 10_id));
  EXPECT_TRUE(suite.acquire(50_t, 2_w, 11_id));
  const Lease done = suite.take(10_t, 1_w, 12_id);
  EXPECT_TRUE(executed(suite.complete(11_t, done, "b"_b, 1_op)));
  const Lease parked = suite.take(10_t, 1_w, 14_id);
  EXPECT_TRUE(executed(suite.park(11_t, parked, ParkReason::kPoisoned, 1_op)));
  const Lease shrunk = suite.take(10_t, 1_w, 13_id);
  const auto cut_off = suite.split_residual(11_t, shrunk, cut("p"_b, "t"_b, "z"_b), 1_op);
  EXPECT_TRUE(executed(cut_off));
  const auto halves =
      suite.split_replace(12_t, shrunk, {child("p"_b, "r"_b), child("r"_b, "t"_b)}, 2_op);
  EXPECT_TRUE(executed(halves));
  // A derived parent beside its first child: one start, and ids in either order.
  const Lease again = suite.take(13_t, 3_w, halves->value().children[0]);
  EXPECT_TRUE(
      executed(suite.split_replace(14_t, again, {child("p"_b, "q"_b), child("q"_b, "r"_b)}, 1_op)));
  EXPECT_TRUE(suite.acquire(15_t, 3_w, cut_off->value().residual));
}

bool is_wanted(const ShardDump& shard, const ShardFilter& filter, LogicalTime now) {
  const bool is_leased = shard.state.lease && now < shard.state.lease->deadline;
  if (filter.status && shard.state.status != *filter.status) return false;
  if (filter.is_leased && is_leased != *filter.is_leased) return false;
  return !filter.root_only || !shard.state.parent;
}

// What a list must be, by sorting everything there is.
std::vector<ShardId> expected_ids(const Conformance& suite,
                                  const ShardFilter& filter,
                                  LogicalTime now) {
  std::vector<ShardDump> shards = suite.introspection().dump_shards();
  std::erase_if(shards, [&](const ShardDump& shard) { return !is_wanted(shard, filter, now); });
  std::ranges::sort(shards, [](const ShardDump& a, const ShardDump& b) {
    const auto order = base::compare(a.start, b.start);
    return order != 0 ? order < 0 : a.state.shard < b.state.shard;
  });
  std::vector<ShardId> ids;
  ids.reserve(shards.size());
  for (const ShardDump& shard : shards)
    ids.push_back(shard.state.shard);
  return ids;
}

std::vector<ShardFilter> every_filter() {
  std::vector<ShardFilter> filters;
  for (const std::optional<ShardStatus> status :
       {std::optional<ShardStatus>(), std::optional(ShardStatus::kActive),
        std::optional(ShardStatus::kDone), std::optional(ShardStatus::kSplit),
        std::optional(ShardStatus::kParked)}) {
    for (const std::optional<bool> is_leased :
         {std::optional<bool>(), std::optional(true), std::optional(false)}) {
      for (const bool root_only : {false, true})
        filters.push_back({.status = status, .is_leased = is_leased, .root_only = root_only});
    }
  }
  return filters;
}

TEST_P(Conformance, C12ListsAreFilteredAndSortedByStartAndId) {
  make_every_kind(*this);
  for (const LogicalTime now : {16_t, 109_t, 110_t, 115_t, 150_t, 10_t}) {
    for (const ShardFilter& filter : every_filter())
      EXPECT_EQ(ids_of(listed(*this, now, filter)), expected_ids(*this, filter, now));
  }
  EXPECT_EQ(listed(*this, 16_t).size(), 11U);
}

TEST_P(Conformance, C12NamedFilters) {
  make_every_kind(*this);
  const auto ids = [&](const ShardFilter& filter) {
    return ids_of(listed(*this, 16_t, filter));
  };
  EXPECT_EQ(ids(ShardFilter::all()).size(), 11U);
  EXPECT_EQ(ids(ShardFilter::parked()), std::vector{14_id});
  const auto active = ids(ShardFilter::active());
  EXPECT_EQ(active.size(), 7U);
  const auto available = ids(ShardFilter::available());
  EXPECT_EQ(available.size(), 4U);
  EXPECT_EQ(available.front(), 15_id);
}

TEST_P(Conformance, C13SummariesTellTheRecord) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "d"_b, 1_op)));
  EXPECT_TRUE(executed(split_residual(12_t, lease, cut("a"_b, "m"_b, "z"_b), 2_op)));
  const auto both = listed(*this, 13_t);
  ASSERT_EQ(both.size(), 2U);
  const ShardSummary& parent = both[0];
  EXPECT_EQ(parent.shard, kShard);
  EXPECT_EQ(parent.status, ShardStatus::kActive);
  EXPECT_EQ(parent.park_reason, std::nullopt);
  EXPECT_TRUE(parent.is_leased);
  EXPECT_EQ(parent.lease_deadline, 110_t);
  EXPECT_EQ(parent.owner, 1_w);
  EXPECT_EQ(parent.fence, 2_fence);
  EXPECT_EQ(parent.acquire_count, 1U);
  EXPECT_EQ(parent.last_key, FixedKey("d"_b));
  EXPECT_EQ(parent.start, FixedKey("a"_b));
  EXPECT_EQ(parent.end, FixedKey("m"_b));
  EXPECT_EQ(parent.parent, std::nullopt);
  EXPECT_EQ(parent.spawned_count, 1U);
  const ShardSummary& residual = both[1];
  EXPECT_EQ(residual.parent, kShard);
  EXPECT_FALSE(residual.is_leased);
  EXPECT_EQ(residual.lease_deadline, std::nullopt);
  EXPECT_EQ(residual.owner, std::nullopt);
  EXPECT_EQ(residual.acquire_count, 0U);
  EXPECT_EQ(residual.last_key, std::nullopt);
}

// A deadline is told only while it lies ahead; D-7: unparks count as epochs.
TEST_P(Conformance, C13DeadlinesAndEpochs) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_EQ(listed(*this, 109_t).at(0).lease_deadline, 110_t);
  EXPECT_EQ(listed(*this, 110_t).at(0).lease_deadline, std::nullopt);
  EXPECT_FALSE(listed(*this, 110_t).at(0).is_leased);
  EXPECT_TRUE(executed(park(11_t, lease, ParkReason::kNotFound, 1_op)));
  EXPECT_EQ(listed(*this, 12_t).at(0).park_reason, ParkReason::kNotFound);
  EXPECT_TRUE(executed(unpark(12_t, 2_op)));
  EXPECT_EQ(listed(*this, 12_t).at(0).acquire_count, 2U);
  (void)take(13_t, 2_w);
  EXPECT_EQ(listed(*this, 13_t).at(0).acquire_count, 3U);
}

// Follows the pages of a list to its end.
std::vector<ShardId> paged(Conformance& suite, const ShardFilter& filter, std::size_t limit) {
  std::vector<ShardId> all;
  ShardPage page{.limit = limit};
  for (;;) {
    const auto ids = ids_of(listed(suite, 16_t, filter, page));
    EXPECT_LE(ids.size(), limit);
    if (ids.empty()) return all;
    all.insert(all.end(), ids.begin(), ids.end());
    page.after = ids.back();
  }
}

TEST_P(Conformance, R26PagesMakeUpTheList) {
  make_every_kind(*this);
  for (const std::size_t limit : {1U, 2U, 3U, 10U, 11U, 12U}) {
    for (const ShardFilter& filter : every_filter())
      EXPECT_EQ(paged(*this, filter, limit), expected_ids(*this, filter, 16_t));
  }
  EXPECT_TRUE(listed(*this, 16_t, {}, {.limit = 0}).empty());
}

TEST_P(Conformance, R26APageMayBeginBehindAShardThatIsFilteredOut) {
  make_every_kind(*this);
  const auto ids = ids_of(listed(*this, 16_t, ShardFilter::parked(), {.after = 12_id}));
  EXPECT_EQ(ids, std::vector{14_id});
}

TEST_P(Conformance, R26AnUnknownShardBeginsNoPage) {
  std::vector<ShardSummary> out(1);
  const auto list = [&](RunId run, ShardId after) {
    return watched({}, [&] {
      return facade().list_shards_into(5_t, tenant(), run, {}, {.after = after}, out);
    });
  };
  EXPECT_EQ(refusal(list(kRun, 11_id)), (ShardNotFound{{kRun, 11_id}}));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(refusal(list(2_run, kShard)), RunNotFound{2_run});
  ASSERT_TRUE(create_run(3_t, 2_run, config()));
  EXPECT_EQ(refusal(list(2_run, kShard)), (ShardNotFound{{2_run, kShard}}));
}

TEST_P(Conformance, R26RunsArePagedById) {
  for (const RunId run : {7_run, 3_run, 9_run, 5_run})
    ASSERT_TRUE(create_run(3_t, run, config()));
  const auto runs = [&](std::optional<RunId> after, std::size_t limit) {
    return facade().list_runs(tenant(), after, limit).value();
  };
  EXPECT_EQ(runs(std::nullopt, 100), (std::vector{1_run, 3_run, 5_run, 7_run, 9_run}));
  EXPECT_EQ(runs(std::nullopt, 2), (std::vector{1_run, 3_run}));
  EXPECT_EQ(runs(3_run, 2), (std::vector{5_run, 7_run}));
  EXPECT_EQ(runs(4_run, 2), (std::vector{5_run, 7_run}));  // need not exist
  EXPECT_EQ(runs(9_run, 2), std::vector<RunId>{});
  EXPECT_EQ(runs(std::nullopt, 0), std::vector<RunId>{});
}

}  // namespace
}  // namespace cadastre::coord::conformance
