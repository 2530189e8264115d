#include "bitmap/segment_build.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/chunked_ids.h"
#include "bitmap/container.h"
#include "bitmap/container_testing.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_testing.h"
#include "bitmap/segment_view.h"
#include "bitmap/value_model_testing.h"

namespace cadastre::bitmap {
namespace {

using model::Ids;

struct Built {
  Id fence;
  std::uint64_t cardinality;
  base::Bytes value;
};

// Ids in blocks of `block`, so that chunks come in several pieces.
std::vector<Built> build(const Ids& ids, std::size_t target, std::size_t block) {
  std::vector<Id> sorted;
  for (const std::uint64_t id : ids)
    sorted.emplace_back(id);
  SegmentBuild builder(target);
  std::vector<Built> all;
  const auto take = [&all](const BuiltSegment& segment) {
    all.push_back({segment.fence, segment.cardinality, base::to_owned(segment.value)});
  };
  for (std::size_t at = 0; at < sorted.size(); at += block) {
    const auto piece = std::span<const Id>(sorted).subspan(at, std::min(block, sorted.size() - at));
    ChunkedIds chunks(piece);
    while (const auto container = chunks.next()) {
      const auto full = builder.add(*container);
      EXPECT_TRUE(full.has_value());
      if (*full) take(**full);
    }
  }
  while (const auto rest = builder.finish())
    take(*rest);
  return all;
}

TEST(SegmentBuild, FillsSegments) {
  for (const auto& [what, ids] : testing::sets()) {
    for (const std::size_t target : {64U, 1024U, 14731U}) {
      SCOPED_TRACE(what);
      const auto all = build(ids, target, ids.size());
      Ids found;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Built& segment = all[i];
        const auto view = SegmentView::open(segment.value);
        ASSERT_TRUE(view.has_value());
        const Ids here = testing::ids_of(*view);
        ASSERT_TRUE(base::equal(segment.value, model::stored(here)));
        ASSERT_TRUE(segment.value.size() <= target || view->container_count() == 1);
        EXPECT_EQ(segment.cardinality, here.size());
        EXPECT_EQ(segment.fence, fence_at(chunk_of(Id{*here.begin()})));
        // Full: the first chunk of the next one would not have fitted.
        if (i + 1 < all.size()) {
          Ids more = here;
          const Ids next = testing::ids_of(*SegmentView::open(all[i + 1].value));
          for (const std::uint64_t id : next) {
            if (id >> 16 == *next.begin() >> 16) more.insert(id);
          }
          EXPECT_GT(model::stored(more).size(), target);
        }
        found.insert(here.begin(), here.end());
      }
      ASSERT_TRUE(found == ids);
    }
  }
}

TEST(SegmentBuild, PiecesOfAChunkAreOne) {
  const Ids ids = testing::ids_from(7, 9000, 37);
  const auto whole = build(ids, 2000, ids.size());
  for (const std::size_t block : {1U, 7U, 5000U}) {
    const auto pieces = build(ids, 2000, block);
    ASSERT_EQ(pieces.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      ASSERT_TRUE(base::equal(pieces[i].value, whole[i].value));
  }
}

TEST(SegmentBuild, RefusesWhatDescendsOrIsDamaged) {
  SegmentBuild builder(1000);
  const testing::OwnedContainer one({5, 9}, ContainerKind::kArray);
  ASSERT_TRUE(builder.add(one.view).has_value());
  ContainerView lower = one.view;
  lower.chunk -= 1;
  EXPECT_EQ(builder.add(lower).error().code, ValueFault::kUnorderedKey);
  ContainerView wrong = one.view;
  const base::Bytes bytes = model::container(model::Slots{5, 9}, ContainerKind::kRun);
  wrong.kind = ContainerKind::kRun;
  wrong.bytes = bytes;
  wrong.cardinality = 3;
  EXPECT_EQ(builder.add(wrong).error().code, ValueFault::kCardinalityDiffers);
  EXPECT_EQ(builder.finish()->cardinality, 2U);
  EXPECT_FALSE(builder.finish().has_value());
}

}  // namespace
}  // namespace cadastre::bitmap
