// Properties of manifests, coverage, cursors, cuts and arenas, each against a model too simple to be
// wrong.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/hint.h"
#include "shard/hint_shards.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/manifest.h"
#include "shard/prealloc_builder.h"
#include "shard/property_testing.h"
#include "shard/shard_arena.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/split_hints.h"
#include "shard/split_plan.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;

// Keys over {a, b}, at most two long: ranges touch, nest and miss each other often.
const std::vector<std::string>& small_keys() {
  static const std::vector<std::string> kKeys = {"", "a", "aa", "ab", "b", "ba", "bb"};
  return kKeys;
}

struct SmallRange {
  std::string start;
  std::string end;

  [[nodiscard]] ShardSpecRef spec() const {
    return ShardSpecRef::unchecked(base::as_bytes(start), base::as_bytes(end));
  }
  // The small keys inside, by definition: at or above the start, below an end that is not infinity.
  [[nodiscard]] std::set<std::string> keys() const {
    std::set<std::string> inside;
    for (const auto& key : small_keys()) {
      if (key >= start && (end.empty() || key < end)) inside.insert(key);
    }
    return inside;
  }
};

std::string small_key() {
  return small_keys()[dice(small_keys().size())];
}

SmallRange small_range() {
  SmallRange range{small_key(), small_key()};
  const bool flip = !range.start.empty() && !range.end.empty() && range.start > range.end;
  if (flip && dice(8) != 0) std::swap(range.start, range.end);
  return range;
}

std::vector<SmallRange> small_ranges(std::size_t count_max) {
  std::vector<SmallRange> ranges(dice(count_max + 1));
  for (auto& range : ranges)
    range = small_range();
  return ranges;
}

bool is_valid(const SmallRange& range) {
  return range.start.empty() || range.end.empty() || range.start < range.end;
}

bool is_disjoint(const SmallRange& a, const SmallRange& b) {
  return a.start >= b.end || b.start >= a.end;
}

// Whether the ranges make a manifest: some, each valid and bounded, every two disjoint.
bool make_a_manifest(const std::vector<SmallRange>& ranges) {
  bool legal = !ranges.empty();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    legal = legal && is_valid(ranges[i]) && !ranges[i].start.empty() && !ranges[i].end.empty();
    for (std::size_t j = 0; legal && j < i; ++j)
      legal = is_disjoint(ranges[i], ranges[j]);
  }
  return legal;
}

// 9.1 #65: pairwise oracle.
TEST(ManifestProperty, AcceptsExactlyDisjointBoundedSets) {
  check_many("manifest", [] {
    const auto ranges = small_ranges(4);
    std::vector<InitialShardInput> rows;
    rows.reserve(ranges.size());
    for (std::size_t i = 0; i < ranges.size(); ++i)
      rows.push_back({ShardId::from_raw(i), ranges[i].spec()});
    std::vector<std::uint32_t> scratch(rows.size());
    RC_ASSERT(validate_manifest(rows, scratch).has_value() == make_a_manifest(ranges));
  });
}

// Whether the ranges, sorted, follow one another without gap or overlap from `parent` to `parent`.
bool partitions(const SmallRange& parent, std::vector<SmallRange> children) {
  if (children.size() < 2) return false;
  std::ranges::sort(children, {}, &SmallRange::start);
  std::string at = parent.start;
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (children[i].start != at || !is_valid(children[i])) return false;
    at = children[i].end;
    if (at.empty() && i + 1 != children.size()) return false;
  }
  return at == parent.end;
}

// Any ranges half of the time; else mostly a partition, so that acceptance is common too.
std::vector<SmallRange> any_children(const SmallRange& parent) {
  if (dice(2) == 0) return small_ranges(4);
  const std::set<std::string> cuts = {small_key(), small_key()};
  std::vector<SmallRange> children;
  std::string at = parent.start;
  for (const auto& cut : cuts) {
    children.push_back({at, cut});
    at = cut;
  }
  children.push_back({at, parent.end});
  if (dice(4) == 0) std::ranges::reverse(children);
  return children;
}

// 9.1 #64
TEST(CoverageProperty, AcceptsExactlyThePartitions) {
  check_many("coverage", [] {
    const SmallRange parent = small_range();
    const auto children = any_children(parent);
    std::vector<ShardSpecRef> specs;
    specs.reserve(children.size());
    for (const auto& child : children)
      specs.push_back(child.spec());
    const bool legal = partitions(parent, children);
    RC_CLASSIFY(legal, "partition");
    RC_ASSERT(validate_split_coverage(parent.spec().range(), specs).has_value() == legal);
  });
}

// A partition holds each key of its parent exactly once.
TEST(CoverageProperty, AnAcceptedSplitHoldsEveryKeyOnce) {
  check_many("coverage keys", [] {
    const SmallRange parent = small_range();
    const auto children = small_ranges(3);
    std::vector<ShardSpecRef> specs;
    specs.reserve(children.size());
    for (const auto& child : children)
      specs.push_back(child.spec());
    if (!validate_split_coverage(parent.spec().range(), specs)) return;
    std::multiset<std::string> held;
    for (const auto& child : children) {
      const auto inside = child.keys();
      held.insert(inside.begin(), inside.end());
    }
    const auto expected = parent.keys();
    RC_ASSERT((held == std::multiset<std::string>(expected.begin(), expected.end())));
  });
}

// 9.1 #67
TEST(CursorProperty, IsInBoundsExactlyWhereTheSpecContainsTheKey) {
  check_many("cursor bounds", [] {
    const SmallRange range = small_range();
    const std::string key = "a" + small_key();
    const auto verdict = check_cursor_bounds(CursorUpdate::make(base::as_bytes(key)), range.spec());
    RC_ASSERT((verdict == CursorBounds::kInBounds) ==
              range.spec().contains_key(base::as_bytes(key)));
  });
}

// Any shard that the constructors make: range, prefix or manifest; the whole key space where what
// was drawn is none.
ShardSpecRef any_shard(ShardSpecScratch& scratch, base::Bytes& start, base::Bytes& end) {
  start = any_key(64);
  end = key_near(start, 64);
  switch (dice(3)) {
    case 0:
      return range_shard_ref({start, end}, "x"_b, scratch).value_or(ShardSpecRef::unbounded());
    case 1: return prefix_shard_ref(start, "x"_b, scratch).value_or(ShardSpecRef::unbounded());
    default: {
      const std::uint64_t first = *rc::gen::arbitrary<std::uint64_t>() / 2;
      return *manifest_shard_ref({7, first, first + 1 + dice(5)}, {}, scratch);
    }
  }
}

// 9.1 #68
TEST(SplitProperty, TheChosenCutAlwaysMakesAPlanWithTruthfulHints) {
  ShardArena arena(4, 1U << 16);
  ShardSpecScratch scratch;
  KeyBuf point;
  check_many("split point", [&] {
    base::Bytes start;
    base::Bytes end;
    const ShardSpecRef parent = any_shard(scratch, start, end);
    const auto cut = split_point_for(parent, point);
    RC_CLASSIFY(cut.has_value(), "can be cut");
    if (!cut) return;
    auto plan = plan_split_residual_with_hints(parent, *cut, arena);
    RC_ASSERT(plan.has_value());
    RC_ASSERT(check_hint_matches_range(plan->plan.new_parent()).has_value());
    RC_ASSERT(check_hint_matches_range(plan->plan.residual()).has_value());
    plan->release(arena);
    RC_ASSERT(arena.live_specs() == 0U);
  });
}

// An arena, and beside it every handle that it gave out with what that names.
class ShadowedArena {
 public:
  void step(std::size_t number) {
    const std::size_t pick = known_.empty() ? 0 : dice(known_.size());
    switch (dice(6)) {
      case 0:
      case 1:
      case 2: alloc("k" + std::to_string(number)); break;
      case 3:
      case 4:
        if (!known_.empty()) free(known_[pick]);
        break;
      default:
        if (dice(4) == 0) clear();
    }
  }

  void check() const {
    for (const auto& [handle, start] : known_) {
      const auto view = arena_.try_view(handle);
      RC_ASSERT(view.has_value() == start.has_value());
      if (start) RC_ASSERT(base::as_text(view->start()) == *start);
      RC_ASSERT(!other_.try_view(handle));
    }
  }

 private:
  struct Known {
    ShardSpecHandle handle;
    std::optional<std::string> start;  // nothing: dead
  };

  void alloc(const std::string& start) {
    const auto handle = arena_.alloc(ShardSpecRef::must_make(base::as_bytes(start), "z"_b));
    if (handle) known_.push_back({*handle, start});
  }

  void free(Known& known) {
    RC_ASSERT(!other_.free(known.handle));
    RC_ASSERT(arena_.free(known.handle) == known.start.has_value());
    known.start.reset();
  }

  void clear() {
    arena_.clear();
    for (Known& known : known_)
      known.start.reset();
  }

  ShardArena arena_{3, 160};
  ShardArena other_{3, 160};
  std::vector<Known> known_;
};

// 9.1 #70
TEST(ArenaProperty, NoStaleOrForeignHandleEverViewsOrFrees) {
  check_many("arena", [] {
    ShadowedArena arena;
    const std::size_t steps = 1 + dice(24);
    for (std::size_t i = 0; i < steps; ++i) {
      arena.step(i);
      arena.check();
    }
  });
}

// 9.1 #48
TEST(BuilderProperty, BuildingTwiceGivesEqualRows) {
  ShardArena arena(8, 1U << 14);
  check_many("builder", [&] {
    PreallocShardBuilder<8> builder(arena);
    RC_ASSERT(builder.init(8).has_value());
    for (const auto& range : small_ranges(4)) {
      std::ignore = builder.add_range({base::as_bytes(range.start), base::as_bytes(range.end)}, {});
    }
    PreallocShardBuilder<8>::Rows first;
    PreallocShardBuilder<8>::Rows second;
    const bool built = builder.build_inputs(first).has_value();
    RC_ASSERT(builder.build_inputs(second).has_value() == built);
    RC_ASSERT(first == second);
  });
}

}  // namespace
}  // namespace cadastre::shard
