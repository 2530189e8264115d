// C10 and C11: how far a run is, and whether it is over.

#include "coord/progress.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

RunProgress progress_at(Conformance& suite, LogicalTime now) {
  return suite
      .watched({}, [&] { return suite.facade().get_run_progress(now, suite.tenant(), kRun); })
      .value();
}

struct Counts {
  std::uint32_t total = 0;
  std::uint32_t active = 0;
  std::uint32_t done = 0;
  std::uint32_t split = 0;
  std::uint32_t parked = 0;
  std::uint32_t leased = 0;
};

void expect_counts(const RunProgress& progress, const Counts& expected) {
  EXPECT_EQ(progress.total, expected.total);
  EXPECT_EQ(progress.active, expected.active);
  EXPECT_EQ(progress.done, expected.done);
  EXPECT_EQ(progress.split, expected.split);
  EXPECT_EQ(progress.parked, expected.parked);
  EXPECT_EQ(progress.leased, expected.leased);
}

// Empty: there is none.
std::string_view watermark_of(const RunProgress& progress) {
  return progress.watermark ? base::as_text(progress.watermark->view()) : std::string_view();
}

const std::vector<InitialShardInput>& four_roots() {
  static const std::vector<InitialShardInput> kRows{{10_id, spec("a"_b, "g"_b)},
                                                    {11_id, spec("g"_b, "m"_b)},
                                                    {12_id, spec("m"_b, "t"_b)},
                                                    {13_id, spec("t"_b, "z"_b)}};
  return kRows;
}

TEST_P(Conformance, C10ShardsAreCountedByStatus) {
  open_with(four_roots());
  expect_counts(progress_at(*this, 5_t), {.total = 4, .active = 4});
  (void)take(10_t, 1_w, 10_id);
  EXPECT_TRUE(executed(complete(11_t, take(10_t, 1_w, 11_id), "h"_b, 1_op)));
  EXPECT_TRUE(executed(park(11_t, take(10_t, 1_w, 12_id), ParkReason::kOther, 1_op)));
  expect_counts(progress_at(*this, 11_t),
                {.total = 4, .active = 2, .done = 1, .parked = 1, .leased = 1});
  const Lease last = take(12_t, 1_w, 13_id);
  EXPECT_TRUE(
      executed(split_replace(13_t, last, {child("t"_b, "v"_b), child("v"_b, "z"_b)}, 1_op)));
  expect_counts(progress_at(*this, 13_t),
                {.total = 6, .active = 3, .done = 1, .split = 1, .parked = 1, .leased = 1});
}

TEST_P(Conformance, C10LeasesAreCountedAtNow) {
  open_with(four_roots());
  (void)take(10_t, 1_w, 10_id);
  (void)take(20_t, 2_w, 11_id);
  EXPECT_EQ(progress_at(*this, 109_t).leased, 2U);
  EXPECT_EQ(progress_at(*this, 110_t).leased, 1U);
  EXPECT_EQ(progress_at(*this, 120_t).leased, 0U);
  EXPECT_EQ(progress_at(*this, 109_t).leased, 2U);  // `now` may go back
}

TEST_P(Conformance, C10TheWatermarkIsTheLeastKeyOfTheActive) {
  open_with(four_roots());
  EXPECT_EQ(progress_at(*this, 5_t).watermark, std::nullopt);
  const Lease right = take(10_t, 1_w, 12_id);
  EXPECT_TRUE(executed(checkpoint(11_t, right, "p"_b, 1_op)));
  EXPECT_EQ(watermark_of(progress_at(*this, 11_t)), "p");
  const Lease left = take(10_t, 1_w, 10_id);
  EXPECT_TRUE(executed(checkpoint(11_t, left, "c"_b, 1_op)));
  EXPECT_EQ(watermark_of(progress_at(*this, 11_t)), "c");
  EXPECT_TRUE(executed(checkpoint(12_t, left, "f"_b, 2_op)));
  EXPECT_EQ(watermark_of(progress_at(*this, 12_t)), "f");
  // It does not need a lease that runs.
  EXPECT_EQ(watermark_of(progress_at(*this, 500_t)), "f");
  EXPECT_TRUE(executed(complete(13_t, left, "f"_b, 3_op)));
  EXPECT_EQ(watermark_of(progress_at(*this, 13_t)), "p");
  EXPECT_TRUE(executed(complete(13_t, right, "s"_b, 2_op)));
  EXPECT_EQ(progress_at(*this, 13_t).watermark, std::nullopt);
}

TEST_P(Conformance, C10TheWatermarkMovesBackAfterUnpark) {
  open_with(four_roots());
  const Lease left = take(10_t, 1_w, 10_id);
  const Lease right = take(10_t, 1_w, 12_id);
  EXPECT_TRUE(executed(checkpoint(11_t, left, "c"_b, 1_op)));
  EXPECT_TRUE(executed(checkpoint(11_t, right, "p"_b, 1_op)));
  EXPECT_TRUE(executed(park(12_t, left, ParkReason::kOther, 2_op)));
  EXPECT_EQ(watermark_of(progress_at(*this, 12_t)), "p");
  EXPECT_TRUE(executed(unpark(13_t, 3_op, 10_id)));
  EXPECT_EQ(watermark_of(progress_at(*this, 13_t)), "c");
}

TEST_P(Conformance, C10ChildrenBringTheirOwnKeys) {
  const Lease lease = take(10_t, 1_w);
  EXPECT_TRUE(executed(checkpoint(11_t, lease, "p"_b, 1_op)));
  const std::vector children{child("a"_b, "m"_b, CursorUpdate::make("b"_b)),
                             child("m"_b, "z"_b, CursorUpdate::make("p"_b))};
  EXPECT_TRUE(executed(split_replace(12_t, lease, children, 2_op)));
  EXPECT_EQ(watermark_of(progress_at(*this, 12_t)), "b");
}

TEST_P(Conformance, C11ARunIsOverWhenNoShardIsActive) {
  open_with({{10_id, spec("a"_b, "m"_b)}, {11_id, spec("m"_b, "z"_b)}});
  const auto evaluation = [&] {
    return evaluate_run_terminal(progress_at(*this, 20_t));
  };
  EXPECT_EQ(evaluation(), RunEvaluation::kStillActive);
  EXPECT_TRUE(executed(complete(11_t, take(10_t, 1_w, 10_id), "b"_b, 1_op)));
  EXPECT_EQ(evaluation(), RunEvaluation::kStillActive);
  EXPECT_TRUE(executed(park(11_t, take(10_t, 1_w, 11_id), ParkReason::kOther, 1_op)));
  EXPECT_EQ(evaluation(), RunEvaluation::kHasFailures);
  EXPECT_TRUE(executed(unpark(12_t, 2_op, 11_id)));
  EXPECT_EQ(evaluation(), RunEvaluation::kStillActive);
  const Lease again = take(13_t, 1_w, 11_id);
  const auto split = split_replace(14_t, again, {child("m"_b, "q"_b), child("q"_b, "z"_b)}, 3_op);
  EXPECT_TRUE(executed(split));
  EXPECT_EQ(evaluation(), RunEvaluation::kStillActive);
  EXPECT_TRUE(executed(complete(15_t, take(15_t, 1_w, split->value().children[0]), "n"_b, 1_op)));
  EXPECT_TRUE(executed(complete(15_t, take(15_t, 1_w, split->value().children[1]), "r"_b, 1_op)));
  EXPECT_EQ(evaluation(), RunEvaluation::kAllDone);
  EXPECT_TRUE(executed(complete_run(16_t, 1_op)));
  EXPECT_EQ(evaluation(), RunEvaluation::kAllDone);
}

TEST_P(Conformance, C11ARunWithoutShardsIsNotEvaluated) {
  ASSERT_TRUE(create_run(5_t, 2_run, config()));
  const auto progress = facade().get_run_progress(6_t, tenant(), 2_run);
  ASSERT_TRUE(progress);
  expect_counts(*progress, {});
  EXPECT_EQ(try_evaluate_run_terminal(*progress), std::nullopt);
}

}  // namespace
}  // namespace cadastre::coord::conformance
