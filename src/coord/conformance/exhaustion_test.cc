// B16: an allocation fails, whichever it is. Every operation that stores bytes runs against every
// capacity from nothing up, so that its first, second, third ... allocation is the one that fails.
// The suite's verbs hold that a refusal changed nothing; verify() that no byte was lost.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/conformance/words_testing.h"
#include "coord/decide_split.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/shard_record.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord::conformance {
namespace {

constexpr std::uint64_t kStep = 16;  // the least that a backend hands out
constexpr std::uint64_t kCapacityMax = 2048;

// Strings of different sizes, so that no two allocations are of one block.
struct Strings {
  base::Bytes metadata = repeated('m', 50);
  base::Bytes key = repeated('d', 40);
  base::Bytes token = repeated('t', 100);
  base::Bytes long_key = repeated('e', 70);
};

std::vector<InitialShardInput> three_roots(const Strings& strings) {
  return {{kShard, spec("a"_b, "m"_b, strings.metadata)},
          {11_id, spec("m"_b, "q"_b), CursorUpdate::make("n"_b, strings.token)},
          {12_id, spec("q"_b, "z"_b, strings.metadata), CursorUpdate::make("q"_b)}};
}

struct Seen {
  std::size_t refused = 0;
  std::size_t executed = 0;
};

// Calls `act` with a lease of a shard over [a, m) that has a cursor, at every capacity that holds it.
// The answer to each is `executed` or a lack of room; with enough room it is `executed`.
template <class Act>
Seen at_every_capacity(Conformance& suite, const Act& act) {
  const Strings strings;
  Seen seen;
  for (std::uint64_t capacity = kStep; capacity <= kCapacityMax; capacity += kStep) {
    suite.open_empty({.slab_capacity = capacity});
    EXPECT_TRUE(suite.create_run(1_t, kRun, suite.config()));
    const std::vector<InitialShardInput> roots{
        {kShard, spec("a"_b, "m"_b, strings.metadata), CursorUpdate::make("c"_b)}};
    if (!suite.register_roots(roots)) continue;
    const auto answer = act(suite.take(10_t, 1_w));
    if (answer) {
      ++seen.executed;
    } else {
      EXPECT_TRUE(answer.error().template is<ResourceExhausted>()) << to_text(answer.error());
      ++seen.refused;
    }
    EXPECT_TRUE(capacity < kCapacityMax || answer) << "there is room for everything";
    suite.introspection().verify();
  }
  return seen;
}

TEST_P(BoundedConformance, B16Checkpoint) {
  const Strings strings;
  const Seen seen = at_every_capacity(*this, [&](const Lease& lease) {
    return checkpoint(11_t, lease, CursorUpdate::make(strings.key, strings.token), 1_op);
  });
  EXPECT_GE(seen.refused, 2U);
  EXPECT_GE(seen.executed, 2U);
}

TEST_P(BoundedConformance, B16Complete) {
  const Strings strings;
  const Seen seen = at_every_capacity(*this, [&](const Lease& lease) {
    return complete(11_t, lease, CursorUpdate::make(strings.key, strings.token), 1_op);
  });
  EXPECT_GE(seen.refused, 2U);
}

TEST_P(BoundedConformance, B16Release) {
  const Strings strings;
  const Seen seen = at_every_capacity(*this, [&](const Lease& lease) {
    return release(11_t, lease, CursorUpdate::make(strings.key, strings.token), 1_op);
  });
  EXPECT_GE(seen.refused, 2U);
}

TEST_P(BoundedConformance, B16SplitReplace) {
  const Strings strings;
  const std::vector<SplitReplaceChild> children{
      {spec("a"_b, strings.key, strings.metadata), CursorUpdate::make("b"_b, strings.token)},
      {spec(strings.key, strings.long_key), CursorUpdate::make(strings.key)},
      {spec(strings.long_key, "m"_b, strings.metadata),
       CursorUpdate::make(strings.long_key, strings.token)}};
  const Seen seen = at_every_capacity(
      *this, [&](const Lease& lease) { return split_replace(11_t, lease, children, 1_op); });
  EXPECT_GE(seen.refused, 14U);  // as many allocations as there are strings
}

TEST_P(BoundedConformance, B16SplitResidual) {
  const Strings strings;
  const SplitResidualPlan plan =
      SplitResidualPlan::try_make(spec("a"_b, strings.key, strings.token),
                                  spec(strings.key, "m"_b, strings.metadata))
          .value();
  const Seen seen = at_every_capacity(
      *this, [&](const Lease& lease) { return split_residual(11_t, lease, plan, 1_op); });
  EXPECT_GE(seen.refused, 7U);
}

TEST_P(BoundedConformance, B16Register) {
  const Strings strings;
  std::size_t refused = 0;
  for (std::uint64_t capacity = kStep; capacity <= kCapacityMax; capacity += kStep) {
    open_empty({.slab_capacity = capacity});
    const auto created = create_run(1_t, kRun, config());
    ASSERT_TRUE(created) << to_text(created.error());
    const auto answer = register_shards(2_t, kRun, three_roots(strings), 1_op);
    if (answer) continue;
    ++refused;
    EXPECT_EQ(refusal(answer), RegistrationExhausted{"shard_slab"});
    EXPECT_LT(capacity, kCapacityMax);
    introspection().verify();
  }
  EXPECT_GE(refused, 11U);
}

// What was refused for lack of room can be asked again when there is room.
TEST_P(BoundedConformance, B16TheSameRequestFitsLater) {
  const base::Bytes token = repeated('t', 500);
  open_empty({.slab_capacity = 1024});
  ASSERT_TRUE(create_run(1_t, kRun, config()));
  ASSERT_TRUE(register_roots({{kShard, spec("a"_b, "m"_b)}, {11_id, spec("m"_b, "z"_b)}}));
  const Lease one = take(10_t, 1_w);
  const Lease two = take(10_t, 2_w, 11_id);
  EXPECT_TRUE(executed(checkpoint(11_t, one, CursorUpdate::make("b"_b, token), 1_op)));
  EXPECT_TRUE(refusal(checkpoint(11_t, two, CursorUpdate::make("n"_b, token), 1_op))
                  ->is<ResourceExhausted>());
  EXPECT_TRUE(executed(checkpoint(12_t, one, "b"_b, 2_op)));
  EXPECT_TRUE(executed(checkpoint(12_t, two, CursorUpdate::make("n"_b, token), 1_op)));
}

}  // namespace
}  // namespace cadastre::coord::conformance
