#include "bitmap/segment_edit.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/container_testing.h"
#include "bitmap/cut_plan.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/segment_testing.h"
#include "bitmap/segment_view.h"
#include "bitmap/value_model_testing.h"
#include "shard/hexrun_testing.h"

namespace cadastre::bitmap {
namespace {

using model::Ids;
using model::RunUse;
using shard::shown;

constexpr std::size_t kPairIdsMax = 7000;  // Larger pairs show nothing new and take long.

std::vector<Id> as_ids(const Ids& ids) {
  std::vector<Id> all;
  for (const std::uint64_t id : ids)
    all.emplace_back(id);
  return all;
}

// B-12, B-13, B-15: what is emitted is the one value of the set, and its size was known.
void expect_stored(SegmentEdit& edit, const Ids& ids) {
  ASSERT_EQ(edit.cardinality(), ids.size());
  ASSERT_EQ(edit.empty(), ids.empty());
  if (ids.empty()) return;
  const base::Bytes wanted = model::stored(ids);
  ASSERT_EQ(edit.size_bytes(), wanted.size());
  ASSERT_TRUE(base::equal(edit.emit(), wanted)) << shown(wanted);
}

// Ways in which some release or import may have stored a set.
std::vector<base::Bytes> sources(const Ids& ids) {
  std::vector<base::Bytes> all = {model::stored(ids),
                                  model::unsealed(1, model::portable(ids, RunUse::kNever)),
                                  model::unsealed(1, model::portable(ids, RunUse::kAlways)),
                                  model::unsealed(1, model::portable(ids, RunUse::kWhereSmaller))};
  if (ids.size() <= kPackedIdsMax) all.push_back(model::unsealed(2, model::packed(ids)));
  return all;
}

// 6.1: forms 01 and 02 are read and leave as 81 or 82.
TEST(SegmentEdit, OneIdInOrOutOfEverySet) {
  SegmentEdit edit;
  for (const auto& [what, before] : testing::sets()) {
    SCOPED_TRACE(what);
    Ids ids = before;
    const std::vector<std::uint64_t> probes = testing::probes(ids);
    for (const base::Bytes& source : sources(before)) {
      const std::size_t step = 1 + probes.size() / (ids.size() > 5000 ? 6 : 30);
      for (std::size_t i = 0; i < probes.size(); i += step) {
        const std::uint64_t id = probes[i];
        const bool is_new = ids.insert(id).second;
        if (!is_new) ids.erase(id);
        const auto effect =
            is_new ? edit.load_and_insert(source, Id{id}) : edit.load_and_remove(source, Id{id});
        ASSERT_TRUE(effect.has_value());
        EXPECT_EQ(*effect, ids.empty() ? Effect::kEmptied : Effect::kChanged);
        EXPECT_EQ(edit.loaded_cardinality(), before.size());
        expect_stored(edit, ids);
        const auto again =
            is_new ? edit.load_and_remove(source, Id{id}) : edit.load_and_insert(source, Id{id});
        EXPECT_EQ(*again, Effect::kUnchanged);
        if (is_new) {
          ids.erase(id);
        } else {
          ids.insert(id);
        }
      }
    }
  }
}

TEST(SegmentEdit, LoadingAloneMakesAValueCanonical) {
  SegmentEdit edit;
  for (const auto& [what, ids] : testing::sets()) {
    SCOPED_TRACE(what);
    for (const base::Bytes& source : sources(ids)) {
      ASSERT_TRUE(edit.load(source).has_value());
      expect_stored(edit, ids);
      const auto view = SegmentView::open(source);
      EXPECT_EQ(edit.container_count(), view->container_count());
    }
  }
}

TEST(SegmentEdit, StartsFromNothing) {
  SegmentEdit edit;
  edit.clear();
  EXPECT_TRUE(edit.empty());
  EXPECT_EQ(edit.remove(Id{7}), Effect::kUnchanged);
  EXPECT_EQ(edit.insert(Id{7}), Effect::kChanged);
  expect_stored(edit, {7});
  EXPECT_EQ(edit.remove(Id{7}), Effect::kEmptied);
  EXPECT_TRUE(edit.empty());
  const std::vector<Id> none;
  EXPECT_EQ(edit.merge(none, SetOp::kAdd), Effect::kUnchanged);
  EXPECT_EQ(edit.merge(none, SetOp::kRetain), Effect::kUnchanged);
}

// Every pair of sets under every operation, as ids and as containers.
TEST(SegmentEdit, MergesSets) {
  SegmentEdit edit;
  for (const auto& [what, a] : testing::sets()) {
    for (const auto& [other, b] : testing::sets()) {
      if (a.size() + b.size() > kPairIdsMax) continue;
      SCOPED_TRACE(what + " and " + other);
      const base::Bytes source = model::stored(a);
      const base::Bytes other_value = model::stored(b);
      const std::vector<Id> ids = as_ids(b);
      for (const SetOp op : {SetOp::kAdd, SetOp::kRemove, SetOp::kRetain}) {
        Ids wanted;
        for (const std::uint64_t id : a) {
          if (op == SetOp::kAdd || b.contains(id) == (op == SetOp::kRetain)) wanted.insert(id);
        }
        if (op == SetOp::kAdd) wanted.insert(b.begin(), b.end());
        const Effect effect = wanted == a      ? Effect::kUnchanged
                              : wanted.empty() ? Effect::kEmptied
                                               : Effect::kChanged;
        ASSERT_EQ(*edit.load_and_merge(source, ids, op), effect);
        expect_stored(edit, wanted);
        ASSERT_TRUE(edit.load(source).has_value());
        auto it = SegmentView::open(other_value)->begin();
        bool is_first = true;
        const auto next = [&]() -> std::optional<ContainerView> {
          if (!is_first) ++it;
          is_first = false;
          if (it == SegmentView::end()) return std::nullopt;
          return *it;
        };
        ASSERT_EQ(*edit.merge(next, op), effect);
        expect_stored(edit, wanted);
      }
    }
  }
}

// 3.3: ranges go in as runs.
TEST(SegmentEdit, MergesRanges) {
  SegmentEdit edit;
  const std::vector<IdRange> ranges = {{Id{0}, Id{0}},
                                       {Id{65530}, Id{65541}},
                                       {Id{0x70001}, Id{0x8ffff}},
                                       {Id{~std::uint64_t{0} - 3}, kIdMax}};
  for (const auto& [what, before] : testing::sets()) {
    SCOPED_TRACE(what);
    if (before.size() > 10000) continue;
    const base::Bytes source = model::stored(before);
    for (const IdRange& range : ranges) {
      if (range.last.value() - range.first.value() > 1000 && before.size() > 300) continue;
      Ids added = before;
      for (std::uint64_t id = range.first.value();; ++id) {
        added.insert(id);
        if (id == range.last.value()) break;
      }
      ASSERT_TRUE(edit.load_and_merge(source, range, SetOp::kAdd).has_value());
      expect_stored(edit, added);
      Ids removed;
      Ids retained;
      for (const std::uint64_t id : before)
        (range.contains(Id{id}) ? retained : removed).insert(id);
      ASSERT_TRUE(edit.load_and_merge(source, range, SetOp::kRemove).has_value());
      expect_stored(edit, removed);
      ASSERT_TRUE(edit.load_and_merge(source, range, SetOp::kRetain).has_value());
      expect_stored(edit, retained);
    }
    // However long a range is, only what is there is looked at.
    ASSERT_EQ(*edit.load_and_merge(source, IdRange{Id{0}, kIdMax}, SetOp::kRemove),
              Effect::kEmptied);
    ASSERT_EQ(*edit.load_and_merge(source, IdRange{Id{0}, kIdMax}, SetOp::kRetain),
              Effect::kUnchanged);
  }
}

// 3.5
TEST(SegmentEdit, JoinsNeighbours) {
  SegmentEdit edit;
  for (const auto& [what, left] : testing::sets()) {
    for (const auto& [other, right] : testing::sets()) {
      if (*left.rbegin() >> 16 >= *right.begin() >> 16 || left.size() + right.size() > kPairIdsMax)
        continue;
      SCOPED_TRACE(what + " and " + other);
      Ids both = left;
      both.insert(right.begin(), right.end());
      const base::Bytes left_value = model::stored(left);
      const base::Bytes right_value = model::unsealed(1, model::portable(right, RunUse::kNever));
      ASSERT_TRUE(edit.load(left_value).has_value());
      ASSERT_TRUE(edit.append_containers(*SegmentView::open(right_value)).has_value());
      expect_stored(edit, both);
      ASSERT_TRUE(edit.load(right_value).has_value());
      ASSERT_TRUE(edit.prepend_containers(*SegmentView::open(left_value)).has_value());
      expect_stored(edit, both);
      const auto refused = edit.append_containers(*SegmentView::open(left_value));
      EXPECT_EQ(refused.error().code, ValueFault::kUnorderedKey);
      EXPECT_TRUE(edit.empty());
    }
  }
}

// B-14 says that form 1 can overtake form 2 only where the chunk was there or the width grew. It can
// also where a bitmap with fewer than four containers, one of them of runs, gets a new one.
TEST(SegmentEdit, FormOneOvertakesByANewChunkAmongRuns) {
  const std::uint64_t far = std::uint64_t{200} << 56;
  Ids ids = {0, 1, 2, 3, far, far + 5};
  ASSERT_EQ(model::stored(ids).front(), std::byte{0x82});
  const base::Bytes before = model::stored(ids);
  SegmentEdit edit;
  ASSERT_TRUE(edit.load_and_insert(before, Id{0x50000}).has_value());
  ids.insert(0x50000);
  ASSERT_EQ(model::stored(ids).front(), std::byte{0x81});
  expect_stored(edit, ids);
}

// B-28, B-30: content that is not valid is refused as a whole.
TEST(SegmentEdit, RefusesDamage) {
  struct Case {
    const char* what;
    base::Bytes value;
    ValueFault fault;
  };
  base::Bytes flipped = model::stored({1, 2, 99});
  flipped[5] ^= std::byte{4};
  const auto bytes = [](const char* text) {
    return shard::hex(testing::without_spaces(text));
  };
  const std::vector<Case> cases = {
      {"nothing", {}, ValueFault::kEmpty},
      {"a flipped bit", flipped, ValueFault::kBadChecksum},
      {"ids out of order", bytes("02 01 0400 0500000000000000 09 03 0a"),
       ValueFault::kUnorderedSlots},
      {"slots out of order",
       bytes("01 0100000000000000 00000000 3a300000 02000000 0000 0100 0100 0000 18000000 1c000000 "
             "0900 0300 0100"),
       ValueFault::kUnorderedSlots},
      {"runs that touch",
       bytes("01 0100000000000000 00000000 3b300000 01 0000 0300 0200 0100 0100 0300 0100"),
       ValueFault::kBadRuns},
  };
  SegmentEdit edit;
  const base::Bytes five = model::stored({5});
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    for (const Id id : {Id{0x10001}, Id{77}, Id{0xffff0000}}) {
      ASSERT_TRUE(edit.load(five).has_value());
      const auto inserted = edit.load_and_insert(each.value, id);
      if (inserted.has_value()) {  // Membership is asked before the content is looked at.
        EXPECT_EQ(*inserted, Effect::kUnchanged);
      } else {
        EXPECT_EQ(name(inserted.error().code), name(each.fault));
      }
      EXPECT_TRUE(edit.empty());
    }
    const auto loaded = edit.load(each.value);
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(name(loaded.error().code), name(each.fault));
    const std::vector<Id> ids{Id{3}};
    EXPECT_FALSE(edit.load_and_merge(each.value, ids, SetOp::kAdd).has_value());
    EXPECT_TRUE(edit.empty());
  }
}

TEST(SegmentEdit, RefusesABadSource) {
  SegmentEdit edit;
  const testing::OwnedContainer good({1, 2}, ContainerKind::kArray);
  ContainerView bad = good.view;
  bad.kind = ContainerKind::kRun;
  bad.cardinality = 9;
  const base::Bytes runs = model::container(model::Slots{5, 6}, ContainerKind::kRun);
  bad.bytes = runs;
  int calls = 0;
  const auto twice =
      edit.merge([&]() -> std::optional<ContainerView> { return good.view; }, SetOp::kAdd);
  EXPECT_EQ(twice.error().code, ValueFault::kUnorderedKey);
  const auto wrong = edit.merge(
      [&]() -> std::optional<ContainerView> {
        if (calls++ > 0) return std::nullopt;
        return bad;
      },
      SetOp::kAdd);
  EXPECT_EQ(wrong.error().code, ValueFault::kCardinalityDiffers);
  EXPECT_TRUE(edit.empty());
}

// B-21: all parts can be emitted before the first is stored; each stays where it is.
TEST(SegmentEdit, PartsOutliveEachOther) {
  SegmentEdit edit;
  const Ids ids = testing::ids_from(1, 4000, 9999);
  const base::Bytes source = model::stored(ids);
  ASSERT_TRUE(edit.load(source).has_value());
  std::vector<ByteView> values;
  std::vector<SegmentPart> parts;
  for (const SegmentPart& part : edit.pack(1024).parts)
    parts.push_back(part);
  ASSERT_GT(parts.size(), 5U);
  for (const SegmentPart& part : parts)
    values.push_back(edit.emit(part.containers));
  Ids found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto view = SegmentView::open(values[i]);
    ASSERT_TRUE(view.has_value());
    const Ids here = testing::ids_of(*view);
    EXPECT_EQ(here.size(), parts[i].cardinality);
    EXPECT_EQ(values[i].size(), parts[i].size_bytes);
    EXPECT_LE(values[i].size(), 1024U);
    EXPECT_EQ(fence_at(chunk_of(Id{*here.begin()})), parts[i].fence);
    EXPECT_TRUE(base::equal(values[i], model::stored(here)));
    found.insert(here.begin(), here.end());
  }
  EXPECT_EQ(found, ids);
}

}  // namespace
}  // namespace cadastre::bitmap
