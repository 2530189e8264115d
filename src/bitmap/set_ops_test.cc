// Streams and set algebra against the model's (T-P4).

#include "bitmap/set_ops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_writer.h"

namespace cadastre::bitmap {
namespace {

using testing::as_ids;
using testing::IdDice;
using testing::ids_of;
using testing::ModelSet;
using testing::must;
using testing::OpenTable;

// A stream and the members it should have.
struct Both {
  Stream stream;
  ModelSet members;
};

class Expressions {
 public:
  Expressions(const Config& config, std::uint64_t seed) : open_(config), dice_(seed) {
    for (const std::string key : {"a", "b", "c", "d", "empty"}) {
      ModelSet& members = sets_[key];
      if (key == "empty") continue;
      for (int i = 0; i < 4; ++i) {
        const auto ids = dice_.ids(100 + dice_.below(900));
        members.insert(ids.begin(), ids.end());
        (void)must(open_.table().insert_many(base::as_bytes(key), as_ids(ids)));
      }
    }
  }

  Both grow(int depth, Direction direction) {
    if (depth == 0 || dice_.below(5) == 0) return leaf(direction);
    switch (dice_.below(6)) {
      case 0: return several(depth, direction, 0);
      case 1: return several(depth, direction, 1);
      case 2: return several(depth, direction, 2);
      case 3: return difference(depth, direction);
      case 4: return symmetric(depth, direction);
      default: return clipped(depth, direction);
    }
  }
  IdDice& dice() { return dice_; }

 private:
  Both leaf(Direction direction) {
    const auto at =
        std::next(sets_.begin(), static_cast<std::ptrdiff_t>(dice_.below(sets_.size())));
    return {must(open_.table().stream(base::as_bytes(at->first), direction)), at->second};
  }

  // In all, in one, or in at least `least` of a few operands.
  Both several(int depth, Direction direction, int kind) {
    std::vector<Stream> streams;
    std::map<std::uint64_t, std::size_t> seen;
    const std::size_t count = 1 + dice_.below(4);
    for (std::size_t i = 0; i < count; ++i) {
      Both operand = grow(depth - 1, direction);
      for (const std::uint64_t id : operand.members)
        ++seen[id];
      streams.push_back(std::move(operand.stream));
    }
    const std::size_t least = kind == 0 ? count : kind == 1 ? 1 : 1 + dice_.below(count);
    ModelSet members;
    for (const auto& [id, times] : seen) {
      if (times >= least) members.insert(id);
    }
    if (kind == 0) return {all_of(std::move(streams)), members};
    if (kind == 1) return {any_of(std::move(streams)), members};
    return {at_least(least, std::move(streams)), members};
  }
  Both difference(int depth, Direction direction) {
    Both from = grow(depth - 1, direction);
    Both what = grow(depth - 1, direction);
    ModelSet members;
    std::ranges::set_difference(from.members, what.members, std::inserter(members, members.end()));
    return {minus(std::move(from.stream), std::move(what.stream)), members};
  }
  Both symmetric(int depth, Direction direction) {
    Both a = grow(depth - 1, direction);
    Both b = grow(depth - 1, direction);
    ModelSet members;
    std::ranges::set_symmetric_difference(a.members, b.members,
                                          std::inserter(members, members.end()));
    return {either(std::move(a.stream), std::move(b.stream)), members};
  }
  Both clipped(int depth, Direction direction) {
    Both inner = grow(depth - 1, direction);
    const std::uint64_t a = dice_.id();
    const std::uint64_t b = dice_.id();
    const ModelSet members(inner.members.lower_bound(std::min(a, b)),
                           inner.members.upper_bound(std::max(a, b)));
    return {within(std::move(inner.stream), {Id{std::min(a, b)}, Id{std::max(a, b)}}), members};
  }

  OpenTable open_;
  IdDice dice_;
  std::map<std::string, ModelSet> sets_;
};

std::vector<std::uint64_t> in_order(const ModelSet& members, Direction direction) {
  if (direction == Direction::kAscending) return {members.begin(), members.end()};
  return {members.rbegin(), members.rend()};
}

TEST(SetOps, ExpressionsEqualTheModels) {
  constexpr Config kConfig{.segment_bytes_max = 1024};
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Expressions expressions(kConfig, seed);
    for (int i = 0; i < 30; ++i) {
      const Direction direction = i % 2 == 0 ? Direction::kAscending : Direction::kDescending;
      const Both whole = expressions.grow(4, direction);
      ASSERT_EQ(ids_of(*whole.stream), in_order(whole.members, direction)) << seed << ' ' << i;
      const Both counted = expressions.grow(4, direction);
      ASSERT_EQ(must(count(*counted.stream)), counted.members.size()) << seed << ' ' << i;
    }
  }
}

// seek equals skipping.
TEST(SetOps, SeekingSkips) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Expressions expressions({.shard_count = seed % 2 == 0 ? std::uint16_t{1} : std::uint16_t{5},
                             .segment_bytes_max = 1024},
                            seed);
    for (int i = 0; i < 40; ++i) {
      const Both both = expressions.grow(3, Direction::kAscending);
      std::set<std::uint64_t> chunks;
      for (const std::uint64_t id : both.members)
        chunks.insert(chunk_of(Id{id}));
      auto at = chunks.begin();
      while (at != chunks.end()) {
        const std::uint64_t wanted =
            *at + expressions.dice().below(3) * expressions.dice().below(200);
        const auto container = must(both.stream->seek(wanted));
        at = chunks.lower_bound(wanted);
        ASSERT_EQ(container.has_value(), at != chunks.end());
        if (!container) break;
        ASSERT_EQ(container->chunk, *at);
        ++at;
      }
      ASSERT_FALSE(must(both.stream->next()));
    }
  }
}

TEST(SetOps, RefuseWhatTheyCannotDo) {
  std::vector<Stream> many;
  const Bitmap nothing;
  for (std::size_t i = 0; i <= kOperandsMax; ++i)
    many.push_back(stream_of(nothing));
  const auto too_many = any_of(std::move(many))->next();
  ASSERT_FALSE(too_many.has_value());
  EXPECT_EQ(too_many.error(), misuse(Misuse::kTooManyOperands));
  const auto mixed = minus(stream_of(nothing), stream_of(nothing, Direction::kDescending))->next();
  ASSERT_FALSE(mixed.has_value());
  EXPECT_EQ(mixed.error(), misuse(Misuse::kMixedDirections));
}

// B-4.
TEST(SetOps, AStreamEndsWithTheNextChange) {
  OpenTable open({.segment_bytes_max = 1024});
  const auto key = base::as_bytes("k");
  (void)must(open.table().insert_range(key, {Id{0}, Id{300'000}}));
  const Stream stream = must(open.table().stream(key));
  ASSERT_TRUE(must(stream->next()));
  ASSERT_TRUE(must(open.table().insert(key, Id{1'000'000})));
  const auto after = stream->next();
  ASSERT_FALSE(after.has_value());
  EXPECT_EQ(after.error().code, ErrorCode::kStale);
}

}  // namespace
}  // namespace cadastre::bitmap
