#include "bitmap/bitmap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/bitmap_build.h"
#include "bitmap/container_testing.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_testing.h"
#include "bitmap/segment_view.h"
#include "bitmap/value_model_testing.h"
#include "shard/hexrun_testing.h"

namespace cadastre::bitmap {
namespace {

using model::Ids;
using model::RunUse;

static_assert(std::forward_iterator<Bitmap::Iterator>);

Bitmap bitmap_of(const Ids& ids) {
  Bitmap bitmap;
  for (const std::uint64_t id : ids)
    bitmap.add(Id{id});
  return bitmap;
}

Ids members(const Bitmap& bitmap) {
  Ids ids;
  for (const Id id : bitmap)
    ids.insert(ids.end(), id.value());
  return ids;
}

const std::vector<testing::NamedSet>& sets() {
  static const auto kAll = [] {
    auto all = testing::sets();
    all.push_back({"nothing", {}});
    return all;
  }();
  return kAll;
}

// 6.5: what is exchanged is the one portable encoding, with and without runs.
TEST(Bitmap, PortableRoundTrips) {
  for (const auto& [what, ids] : sets()) {
    SCOPED_TRACE(what);
    const Bitmap bitmap = bitmap_of(ids);
    EXPECT_EQ(bitmap.cardinality(), ids.size());
    EXPECT_TRUE(members(bitmap) == ids);
    EXPECT_TRUE(base::equal(bitmap.to_portable(), model::portable(ids, RunUse::kWhereSmaller)));
    EXPECT_TRUE(base::equal(bitmap.to_portable(Runs::kNone), model::portable(ids, RunUse::kNever)));
    for (const RunUse use : {RunUse::kWhereSmaller, RunUse::kNever, RunUse::kAlways}) {
      const auto read = Bitmap::from_portable(model::portable(ids, use));
      ASSERT_TRUE(read.has_value());
      EXPECT_TRUE(*read == bitmap);
      EXPECT_TRUE(members(*read) == ids);
    }
  }
}

TEST(Bitmap, AddsAndRemoves) {
  Bitmap bitmap;
  EXPECT_TRUE(bitmap.empty());
  EXPECT_TRUE(bitmap.add(Id{42}));
  EXPECT_FALSE(bitmap.add(Id{42}));
  EXPECT_TRUE(bitmap.add(kIdMax));
  EXPECT_TRUE(bitmap.contains(Id{42}));
  EXPECT_FALSE(bitmap.contains(Id{43}));
  EXPECT_FALSE(bitmap.contains(Id{42 + (std::uint64_t{1} << 32)}));
  EXPECT_TRUE(bitmap.remove(kIdMax));
  EXPECT_FALSE(bitmap.remove(kIdMax));
  EXPECT_FALSE(bitmap.remove(Id{7}));
  EXPECT_EQ(members(bitmap), Ids{42});
}

// B-32: what is empty leaves nothing behind.
TEST(Bitmap, AnEmptiedBitmapIsTheEmptySet) {
  Bitmap bitmap;
  bitmap.add(Id{42});
  bitmap.remove(Id{42});
  EXPECT_TRUE(bitmap.empty());
  EXPECT_TRUE(bitmap == Bitmap{});
  EXPECT_EQ(shard::shown(bitmap.to_portable()), "0000000000000000");
  EXPECT_TRUE(bitmap.begin() == bitmap.end());
}

TEST(Bitmap, AnswersAsSetsDo) {
  for (const auto& [what, a] : sets()) {
    for (const auto& [other, b] : sets()) {
      if (a.size() + b.size() > 8000) continue;
      SCOPED_TRACE(what + " and " + other);
      const Bitmap left = bitmap_of(a);
      const Bitmap right = bitmap_of(b);
      Ids both;
      std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
      Ids either = a;
      either.insert(b.begin(), b.end());
      Ids only;
      std::ranges::set_difference(a, b, std::inserter(only, only.end()));
      Ids one;
      std::ranges::set_difference(either, both, std::inserter(one, one.end()));
      EXPECT_TRUE((Bitmap(left) |= right) == bitmap_of(either));
      EXPECT_TRUE((Bitmap(left) &= right) == bitmap_of(both));
      EXPECT_TRUE((Bitmap(left) -= right) == bitmap_of(only));
      EXPECT_TRUE((Bitmap(left) ^= right) == bitmap_of(one));
      EXPECT_EQ(left == right, a == b);
    }
  }
}

TEST(Bitmap, IsAValue) {
  Bitmap a = bitmap_of({1, 2, std::uint64_t{1} << 40});
  const Bitmap copy = a;
  a.add(Id{3});
  EXPECT_EQ(members(copy), (Ids{1, 2, std::uint64_t{1} << 40}));
  const Bitmap moved = std::move(a);
  EXPECT_EQ(moved.cardinality(), 4U);
  Bitmap same = copy;
  const Bitmap& alias = same;
  same = alias;
  EXPECT_TRUE(same == copy);
  same |= alias;
  same &= alias;
  EXPECT_TRUE(same == copy);
  same ^= alias;
  EXPECT_TRUE(same.empty());
  same = copy;
  const Bitmap& again = same;
  same -= again;
  EXPECT_TRUE(same.empty());
  const std::vector<Id> ids{Id{9}, Id{2}, Id{9}};
  EXPECT_EQ(members(Bitmap(ids)), (Ids{2, 9}));
}

// 6.5, B-32: accepted and dropped.
TEST(Bitmap, DropsEmptyInnerBitmaps) {
  const std::string empty = "3a300000 00000000";
  const std::string one = "3a300000 01000000 0000 0000 10000000 2a00";
  struct Case {
    std::string bytes;
    Ids ids;
  };
  const std::vector<Case> cases = {
      {"0000000000000000", {}},
      {"0100000000000000 05000000 " + empty, {}},
      {"0200000000000000 00000000 " + one + " 07000000 " + empty, {42}},
      {"0200000000000000 00000000 " + empty + " 07000000 " + one, {(std::uint64_t{7} << 32) + 42}},
  };
  for (const Case& each : cases) {
    const auto bitmap = Bitmap::from_portable(shard::hex(testing::without_spaces(each.bytes)));
    ASSERT_TRUE(bitmap.has_value()) << each.bytes;
    EXPECT_EQ(members(*bitmap), each.ids);
    EXPECT_TRUE(*bitmap == bitmap_of(each.ids));
  }
}

// B-31, 6.4: truncations by 1 to 8 bytes and to nothing, counts, repeated highs, trailing bytes.
TEST(Bitmap, RefusesWhatIsNoBitmap) {
  const base::Bytes good =
      model::portable({1, 2, 3, 4, 5, 70000, std::uint64_t{1} << 40}, RunUse::kAlways);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const base::ByteView cut = base::ByteView(good).first(size);
    EXPECT_FALSE(Bitmap::from_portable(cut).has_value()) << size;
  }
  base::Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_EQ(Bitmap::from_portable(longer).error().code, ValueFault::kTrailingBytes);
  const std::string one = "00000000 3a300000 01000000 0000 0000 10000000 2a00 ";
  struct Case {
    const char* what;
    std::string bytes;
    ValueFault fault;
  };
  const std::vector<Case> cases = {
      {"a high twice", "0200000000000000 " + one + one, ValueFault::kUnorderedHigh},
      {"2^64 - 1 maps", "ffffffffffffffff " + one, ValueFault::kTruncated},
      {"slots twice", "0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 2a00 2a00",
       ValueFault::kUnorderedSlots},
      {"runs touch", "0100000000000000 00000000 3b300000 01 0000 0300 0200 0100 0100 0300 0100",
       ValueFault::kBadRuns},
      {"a navigable map of Java", "01 00000001 00000000 3a300000 01000000 0000 0000 10000000 2a00",
       ValueFault::kBadCookie},
  };
  for (const Case& each : cases) {
    const auto read = Bitmap::from_portable(shard::hex(testing::without_spaces(each.bytes)));
    ASSERT_FALSE(read.has_value()) << each.what;
    EXPECT_EQ(name(read.error().code), name(each.fault)) << each.what;
  }
}

// B-24
TEST(BitmapBuild, CollectsContainers) {
  for (const auto& [what, ids] : testing::sets()) {
    SCOPED_TRACE(what);
    const base::Bytes value = model::stored(ids);
    BitmapBuild build;
    const SegmentView view = *SegmentView::open(value);
    for (auto it = view.begin(); it != view.end(); ++it)
      ASSERT_TRUE(build.add(*it).has_value());
    EXPECT_GT(build.size_bytes(), 0U);
    EXPECT_TRUE(build.finish() == bitmap_of(ids));
    EXPECT_TRUE(build.finish().empty());
  }
}

TEST(BitmapBuild, RefusesWhatDescendsOrIsDamaged) {
  BitmapBuild build;
  const testing::OwnedContainer one({5, 9}, ContainerKind::kArray);
  ASSERT_TRUE(build.add(one.view).has_value());
  EXPECT_EQ(build.add(one.view).error().code, ValueFault::kUnorderedKey);
  const testing::OwnedContainer runs({5, 9}, ContainerKind::kRun);
  ContainerView wrong = runs.view;
  wrong.chunk += 1;
  wrong.cardinality = 3;
  EXPECT_EQ(build.add(wrong).error().code, ValueFault::kCardinalityDiffers);
  EXPECT_EQ(build.finish().cardinality(), 2U);
}

}  // namespace
}  // namespace cadastre::bitmap
