// T-P2: whatever the history, an edit's result is the one encoding of the model's set.

#include "bitmap/segment_edit.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/cut_plan.h"
#include "bitmap/ids.h"
#include "bitmap/segment_testing.h"
#include "bitmap/segment_view.h"
#include "bitmap/value_model_testing.h"
#include "shard/property_testing.h"

namespace cadastre::bitmap {
namespace {

using model::Ids;
using shard::dice;

// Few places, so that ids meet: two highs, a few chunks of each, slots close to each other.
std::uint64_t any_id() {
  constexpr std::array<std::uint64_t, 4> kHighs = {0, 1, 0x12345678, 0xffffffff};
  constexpr std::array<std::uint64_t, 5> kKeys = {0, 1, 2, 0x7fff, 0xffff};
  const std::uint64_t high = kHighs[dice(dice(2) == 0 ? 1 : kHighs.size())];
  const std::uint64_t key = kKeys[dice(kKeys.size())];
  const std::uint64_t slot = dice(8) == 0 ? 65535 - dice(3) : dice(24);
  return high << 32 | key << 16 | slot;
}

std::vector<Id> any_ids(std::size_t count_max) {
  Ids ids;
  for (std::size_t left = shard::any_size(count_max); left > 0; --left)
    ids.insert(any_id());
  std::vector<Id> sorted;
  for (const std::uint64_t id : ids)
    sorted.emplace_back(id);
  return sorted;
}

IdRange any_range() {
  const std::uint64_t first = any_id();
  const std::uint64_t length = dice(6) == 0 ? 65536 + dice(70000) : dice(40);
  return {Id{first}, Id{first > ~length ? ~std::uint64_t{0} : first + length}};
}

// A set's stored bytes, and the set.
struct Pair {
  Ids ids;
  base::Bytes value;
};

void change_one(SegmentEdit& edit, Pair& pair) {
  const std::uint64_t id = any_id();
  const bool is_insert = dice(3) != 0;
  const bool changes = is_insert ? pair.ids.insert(id).second : pair.ids.erase(id) == 1;
  const Effect wanted = !changes           ? Effect::kUnchanged
                        : pair.ids.empty() ? Effect::kEmptied
                                           : Effect::kChanged;
  if (pair.value.empty()) {
    edit.clear();
    RC_ASSERT((is_insert ? edit.insert(Id{id}) : edit.remove(Id{id})) == wanted);
    return;
  }
  const auto effect = [&] {
    if (dice(2) == 0) {
      return is_insert ? edit.load_and_insert(pair.value, Id{id})
                       : edit.load_and_remove(pair.value, Id{id});
    }
    const std::size_t limit = dice(4) == 0 ? pair.value.size() : std::size_t{1} << 20;
    return is_insert ? edit.insert_within(pair.value, Id{id}, limit)
                     : edit.remove_within(pair.value, Id{id}, limit);
  }();
  RC_ASSERT(effect.has_value());
  RC_ASSERT(*effect == wanted);
}

void change_many(SegmentEdit& edit, Pair& pair) {
  constexpr std::array<SetOp, 5> kOps = {SetOp::kAdd, SetOp::kAdd, SetOp::kAdd, SetOp::kRemove,
                                         SetOp::kRetain};
  const SetOp op = kOps[dice(kOps.size())];
  edit.clear();
  if (!pair.value.empty()) RC_ASSERT(edit.load(pair.value).has_value());
  const auto keep = [&](const auto& holds) {
    std::erase_if(pair.ids,
                  [&](std::uint64_t id) { return holds(Id{id}) != (op == SetOp::kRetain); });
  };
  if (dice(3) != 0) {
    const std::vector<Id> ids = any_ids(30);
    (void)edit.merge(ids, op);
    if (op != SetOp::kAdd) return keep([&](Id id) { return std::ranges::binary_search(ids, id); });
    for (const Id id : ids)
      pair.ids.insert(id.value());
    return;
  }
  const IdRange range = any_range();
  const bool is_long = range.last.value() - range.first.value() > 1000;
  if (op == SetOp::kAdd && is_long && dice(60) != 0) return;  // Full chunks are slow for the model.
  (void)edit.merge(range, op);
  if (op != SetOp::kAdd) return keep([&](Id id) { return range.contains(id); });
  for (std::uint64_t id = range.first.value();; ++id) {
    pair.ids.insert(id);
    if (id == range.last.value()) break;
  }
}

// Stores what the edit holds, in one of the forms that a reader may find.
void store(SegmentEdit& edit, Pair& pair) {
  if (pair.ids.empty()) {
    RC_ASSERT(edit.empty());
    pair.value.clear();
    return;
  }
  const base::Bytes wanted = model::stored(pair.ids);
  RC_ASSERT(edit.cardinality() == pair.ids.size());
  RC_ASSERT(edit.size_bytes() == wanted.size());
  RC_ASSERT(base::equal(edit.emit(), wanted));
  pair.value = wanted;
  switch (dice(8)) {
    case 0:
      pair.value = model::unsealed(1, model::portable(pair.ids, model::RunUse::kNever));
      break;
    case 1:
      pair.value = model::unsealed(1, model::portable(pair.ids, model::RunUse::kAlways));
      break;
    case 2:
      if (pair.ids.size() <= 65535) pair.value = model::unsealed(2, model::packed(pair.ids));
      break;
    default: break;
  }
}

// T-P2
TEST(SegmentEditProperty, ResultsAreCanonicalWhateverTheHistory) {
  SegmentEdit edit;
  shard::check_many("an edit's result is the encoding of the set", [&edit] {
    Pair pair;
    for (std::size_t step = shard::any_size(12); step > 0; --step) {
      const base::Bytes before = pair.value;
      const Ids ids = pair.ids;
      if (dice(3) == 0) {
        change_many(edit, pair);
      } else {
        change_one(edit, pair);
      }
      if (ids == pair.ids) continue;  // Unchanged: there may be nothing to emit.
      store(edit, pair);
    }
  });
}

// 3.4: parts cover the segment, fit, and are canonical each.
TEST(SegmentEditProperty, CutsCoverTheSegment) {
  SegmentEdit edit;
  shard::check_many("parts of a plan", [&edit] {
    edit.clear();
    Ids ids;
    for (std::size_t chunk = 1 + shard::any_size(30); chunk > 0; --chunk) {
      const std::uint64_t at = (any_id() >> 16 << 16) + (dice(20) << 16);
      for (std::size_t left = 1 + shard::any_size(20); left > 0; --left)
        ids.insert(at + dice(100));
    }
    std::vector<Id> sorted;
    for (const std::uint64_t id : ids)
      sorted.emplace_back(id);
    (void)edit.merge(sorted, SetOp::kAdd);
    const std::size_t limit = 64 + dice(400);
    CutHint hint{.place = static_cast<SegmentPlace>(dice(4))};
    if (dice(2) == 0) hint.inserted_chunk = chunk_of(sorted[dice(2) == 0 ? 0 : sorted.size() - 1]);
    std::vector<SegmentPart> parts;
    std::ranges::copy(dice(2) == 0 ? edit.plan(limit, hint).parts : edit.pack(limit).parts,
                      std::back_inserter(parts));
    RC_ASSERT((edit.size_bytes() > limit || parts.size() == 1));
    Ids found;
    for (const SegmentPart& part : parts) {
      const ByteView value = edit.emit(part.containers);
      const auto view = SegmentView::open(value);
      RC_ASSERT(view.has_value());
      const Ids here = testing::ids_of(*view);
      RC_ASSERT((found.empty() || *found.rbegin() >> 16 < *here.begin() >> 16));
      RC_ASSERT((value.size() <= limit || view->container_count() == 1));
      RC_ASSERT(value.size() == part.size_bytes);
      RC_ASSERT(here.size() == part.cardinality);
      RC_ASSERT(part.fence == fence_at(*here.begin() >> 16));
      RC_ASSERT(base::equal(value, model::stored(here)));
      found.insert(here.begin(), here.end());
    }
    RC_ASSERT(found == ids);
  });
}

// Ids come and go around the edges between kinds and forms: 4096 members, 2047 runs, one chunk.
TEST(SegmentEditHistory, AcrossKindsAndForms) {
  struct History {
    const char* what;
    std::uint64_t step;
    std::uint64_t around;  // members at which it turns
  };
  for (const History& history :
       {History{"spread", 3, 4096}, {"in runs", 1, 300}, {"pairs", 2, 4096}}) {
    SCOPED_TRACE(history.what);
    SegmentEdit edit;
    Pair pair;
    std::uint64_t state = 1;
    std::vector<Id> start;
    for (std::uint64_t i = 0; i < history.around; ++i)
      start.emplace_back(0x50000 + i * history.step);
    (void)edit.merge(start, SetOp::kAdd);
    for (const Id id : start)
      pair.ids.insert(id.value());
    pair.value = base::to_owned(edit.emit());
    ASSERT_TRUE(base::equal(pair.value, model::stored(pair.ids)));
    for (int i = 0; i < 300; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const Id id{0x50000 + (state >> 33) % (history.around * history.step)};
      const bool is_new = pair.ids.insert(id.value()).second;
      if (!is_new) pair.ids.erase(id.value());
      const auto effect =
          is_new ? edit.load_and_insert(pair.value, id) : edit.load_and_remove(pair.value, id);
      ASSERT_EQ(*effect, Effect::kChanged);
      pair.value = base::to_owned(edit.emit());
      ASSERT_TRUE(base::equal(pair.value, model::stored(pair.ids))) << i;
    }
  }
}

}  // namespace
}  // namespace cadastre::bitmap
