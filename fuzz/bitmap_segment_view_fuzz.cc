// SegmentView on any bytes: what opens can be read in every way without leaving it, and if its content
// is valid too, every answer is the one that its list of ids gives. A value with a checksum is run as
// given and with the checksum made right.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/container.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"
#include "fuzz/bitmap_values.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using bitmap::ContainerBuffer;
using bitmap::Id;
using bitmap::ReadCheck;
using bitmap::SegmentView;

std::vector<std::uint64_t> probes(const SegmentView& view) {
  std::vector<std::uint64_t> all{0, 1, 0xffff, 0x10000, 0xffffffff, 0x100000000, ~std::uint64_t{0}};
  for (const Id id : {view.min(), view.max(), view.select(view.cardinality() / 2).value_or(Id{5})})
    all.insert(all.end(), {id.value() - 1, id.value(), id.value() + 1});
  return all;
}

// Whatever the content is, reading ends and stays inside.
void read_everything(const SegmentView& view) {
  ContainerBuffer buffer;
  for (const std::uint64_t id : probes(view)) {
    (void)view.contains(Id{id});
    (void)view.rank(Id{id});
    (void)view.select(id);
    (void)view.floor(id >> bitmap::kSlotBits, buffer);
    const auto it = view.seek(id >> bitmap::kSlotBits);
    if (it != view.end()) (void)bitmap::count_runs(*it);
  }
  std::size_t containers = 0;
  for (auto it = view.begin(); it != view.end(); ++it, ++containers)
    (void)bitmap::validate(*it);
  CAD_CHECK(containers == view.container_count(), "the walk meets every container");
}

void check_answers(const SegmentView& view) {
  const std::vector<std::uint64_t> ids = ids_of(view);
  CAD_CHECK(ids.size() == view.cardinality(), "cardinality counts ids");
  CAD_CHECK(std::ranges::adjacent_find(ids, std::ranges::greater_equal{}) == ids.end(),
            "ids ascend");
  CAD_CHECK(view.min().value() == ids.front() && view.max().value() == ids.back(), "ends");
  for (const std::uint64_t id : probes(view)) {
    const auto behind = std::ranges::upper_bound(ids, id);
    const bool is_member = behind != ids.begin() && *(behind - 1) == id;
    CAD_CHECK(view.contains(Id{id}) == is_member, "contains");
    CAD_CHECK(view.rank(Id{id}) == static_cast<std::uint64_t>(behind - ids.begin()), "rank");
  }
  for (std::size_t i = 0; i < ids.size(); i += 1 + ids.size() / 16)
    CAD_CHECK(view.select(i) == Id{ids[i]}, "select");
  ContainerBuffer buffer;
  for (auto it = view.begin(); it != view.end(); ++it) {
    CAD_CHECK((*view.seek((*it).chunk)).chunk == (*it).chunk, "seek");
    CAD_CHECK(view.floor((*it).chunk, buffer)->cardinality == (*it).cardinality, "floor");
  }
}

void check_value(base::ByteView value) {
  const auto structure = SegmentView::open(value, ReadCheck::kStructure);
  const auto checked = SegmentView::open(value, ReadCheck::kChecksum);
  if (!checked) CAD_CHECK(name(checked.error().code) != "unknown", "a fault has a name");
  CAD_CHECK(structure.has_value() || !checked.has_value(), "the checksum is one check more");
  if (!structure) return;
  read_everything(*structure);
  if (checked && checked->check_contents()) check_answers(*checked);
}

}  // namespace

void run_one(base::ByteView input) {
  check_value(input);
  check_value(resealed(input));
}

}  // namespace cadastre::fuzz
