// Spec 7.5: reading a segment allocates nothing, and neither does editing, cutting or joining one
// once the edit's scratch has seen such a segment.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/cut_plan.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"
#include "tests/allocation_guard.h"

namespace cadastre::bitmap {
namespace {

using cadastre::testing::AllocationGuard;
using cadastre::testing::Expect;

constexpr std::size_t kLimitBytes = 16368;

struct Sample {
  const char* what;
  base::Bytes value;
};

base::Bytes stored(const std::vector<Id>& ids) {
  SegmentEdit edit;
  (void)edit.merge(ids, SetOp::kAdd);
  return base::to_owned(edit.emit());
}

// Arrays of an 11 KB segment, sparse ids, runs, a bitset, and a segment about to be cut.
std::vector<Sample> samples() {
  std::vector<Id> arrays;
  std::vector<Id> sparse;
  std::vector<Id> runs;
  std::vector<Id> dense;
  std::vector<Id> full;
  for (std::uint64_t i = 0; i < 5000; ++i)
    arrays.emplace_back(i * 431);
  for (std::uint64_t i = 0; i < 2000; ++i)
    sparse.emplace_back(i * 0x123456789ab);
  for (std::uint64_t i = 0; i < 20000; ++i)
    runs.emplace_back(i + i / 100 * 50);
  for (std::uint64_t i = 0; i < 20000; ++i)
    dense.emplace_back(i * 3);
  for (std::uint64_t i = 0; i < 8000; ++i)
    full.emplace_back(i * 431);
  return {{"arrays", stored(arrays)},
          {"sparse", stored(sparse)},
          {"runs", stored(runs)},
          {"dense", stored(dense)},
          {"full", stored(full)}};
}

// Everything that a single operation may do with a segment.
std::size_t edit_and_emit(SegmentEdit& edit, base::ByteView value, Id id) {
  std::size_t bytes = 0;
  const auto effect = edit.load_and_insert(value, id);
  if (effect && *effect == Effect::kChanged) {
    const CutHint hint{SegmentPlace::kMiddle, chunk_of(id)};
    for (const SegmentPart& part : edit.plan(kLimitBytes, hint).parts)
      bytes += edit.emit(part.containers).size();
  }
  const auto removed = edit.load_and_remove(value, id);
  if (removed && *removed == Effect::kChanged) bytes += edit.emit().size();
  return bytes;
}

TEST(BitmapAllocation, EditsAllocateNothingOnceWarm) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    SegmentEdit edit;
    std::size_t bytes = 0;
    const auto run = [&] {
      for (const std::uint64_t id :
           {1ULL, 430ULL, 431ULL, 70001ULL, 5'000'000'000ULL, 0x123456789abULL})
        bytes += edit_and_emit(edit, sample.value, Id{id});
    };
    {
      const AllocationGuard guard(Expect::kSome);
      run();
    }
    {
      const AllocationGuard guard(Expect::kNone);
      run();
    }
    EXPECT_GT(bytes, 2 * sample.value.size());
  }
}

TEST(BitmapAllocation, MergesAllocateNothingOnceWarm) {
  const std::vector<Id> ids{Id{1}, Id{2}, Id{3}, Id{70000}, Id{200000}, Id{1'000'000}};
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.what);
    SegmentEdit edit;
    const auto run = [&] {
      for (const SetOp op : {SetOp::kAdd, SetOp::kRemove, SetOp::kRetain}) {
        (void)edit.load_and_merge(sample.value, ids, op);
        (void)edit.load_and_merge(sample.value, IdRange{Id{100}, Id{200'000}}, op);
        if (!edit.empty()) (void)edit.emit();
      }
    };
    run();
    const AllocationGuard guard(Expect::kNone);
    run();
  }
}

TEST(BitmapAllocation, ReadsAllocateNothing) {
  std::uint64_t found = 0;
  for (const Sample& sample : samples()) {
    const AllocationGuard guard(Expect::kNone);
    for (const ReadCheck check : {ReadCheck::kStructure, ReadCheck::kChecksum}) {
      const auto view = SegmentView::open(sample.value, check);
      if (!view) continue;
      found += view->contains(Id{431}) ? 1 : 0;
      found += view->rank(Id{100'000}) + view->select(7)->value() + view->max().value();
      for (auto it = view->begin(); it != view->end(); ++it)
        found += (*it).cardinality;
      found += view->check_contents().has_value() ? 1 : 0;
    }
    (void)SegmentView::open(base::ByteView(sample.value).first(30));  // A refusal.
  }
  EXPECT_GT(found, 0U);
}

TEST(BitmapAllocation, KeysAllocateNothing) {
  const base::Bytes base_key(40, std::byte{7});
  const AllocationGuard guard(Expect::kNone);
  const StoredKey key = segment_key(base_key, choose_shard(base_key, Id{9}, {16, 16}), Id{0});
  EXPECT_TRUE(decode_key(key).has_value());
  EXPECT_TRUE(prefix_end(key_prefix(base_key)).has_value());
}

}  // namespace
}  // namespace cadastre::bitmap
