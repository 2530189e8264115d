// Patches give the bytes that edits give: see segment_edit_prop_test.cc. Here: what they leave to edits.

#include "bitmap/segment_patch.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"
#include "bitmap/table_model_testing.h"

namespace cadastre::bitmap {
namespace {

constexpr std::size_t kNoLimit = std::size_t{1} << 20;

// Three chunks of random slots, which form 1 holds.
base::Bytes three_arrays() {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t chunk = 5; chunk < 8; ++chunk) {
    for (std::uint64_t i = 0; i < 200; ++i)
      ids.push_back(chunk << 16 | i * 301);
  }
  SegmentEdit edit;
  (void)edit.merge(testing::as_ids(ids), SetOp::kAdd);
  return base::to_owned(edit.emit());
}

Result<std::optional<SegmentPatch>, ValueFault> patch(
    ByteView value, Id id, PatchOp op, std::size_t limit_bytes, ValueBuffer& out) {
  ContainerBuffer changed;
  const SegmentView view = SegmentView::open(value).value();
  return patch_segment({view, value, id, op, limit_bytes}, {changed, out});
}

bool is_patched(ByteView value, std::uint64_t id, PatchOp op, std::size_t limit_bytes = kNoLimit) {
  ValueBuffer out;
  return patch(value, Id{id}, op, limit_bytes, out).value().has_value();
}

TEST(SegmentPatch, ChangesOneContainer) {
  const base::Bytes value = three_arrays();
  for (std::uint64_t chunk = 5; chunk < 8; ++chunk) {
    EXPECT_TRUE(is_patched(value, chunk << 16 | 2, PatchOp::kInsert));
    EXPECT_TRUE(is_patched(value, chunk << 16 | 301, PatchOp::kRemove));
  }
}

TEST(SegmentPatch, LeavesTheRestToEdits) {
  const base::Bytes value = three_arrays();
  EXPECT_FALSE(is_patched(value, 4 << 16, PatchOp::kInsert)) << "a new chunk";
  EXPECT_FALSE(is_patched(value, std::uint64_t{5} << 32, PatchOp::kInsert)) << "a new bitmap";
  EXPECT_TRUE(is_patched(value, 5 << 16 | 2, PatchOp::kInsert, value.size() + 2));
  EXPECT_FALSE(is_patched(value, 5 << 16 | 2, PatchOp::kInsert, value.size() + 1)) << "the limit";
}

// B-28: what is written to is validated, with its checksum right or not.
TEST(SegmentPatch, RefusesAContainerInDisorder) {
  base::Bytes value = three_arrays();
  // The last two slots of the last chunk change places.
  const std::size_t end = value.size() - 4;
  std::swap(value[end - 1], value[end - 3]);
  std::swap(value[end - 2], value[end - 4]);
  seal(value);
  ValueBuffer out;
  const auto touched = patch(value, Id{7 << 16 | 2}, PatchOp::kInsert, kNoLimit, out);
  ASSERT_FALSE(touched);
  EXPECT_EQ(touched.error().code, ValueFault::kUnorderedSlots);
  EXPECT_TRUE(is_patched(value, 5 << 16 | 2, PatchOp::kInsert)) << "others are copied as they are";
}

}  // namespace
}  // namespace cadastre::bitmap
