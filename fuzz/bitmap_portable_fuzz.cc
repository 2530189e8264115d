// Bitmap::from_portable on any bytes, and our parser against CRoaring's: what ours accepts, CRoaring's
// 32-bit parser accepts, with the same members; and what is exported again is the same set in one
// encoding.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <roaring/roaring.h>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/bitmap.h"
#include "bitmap/bitmap_build.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/portable_format.h"
#include "fuzz/bitmap_values.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using bitmap::Bitmap;
using bitmap::Id;
using bitmap::PortableMap;
using bitmap::PortableMaps;

constexpr std::uint64_t kIdsMax = 500'000;
constexpr unsigned kLowBits = 32;

struct Free {
  void operator()(roaring_bitmap_t* inner) const noexcept { roaring_bitmap_free(inner); }
};

// One 32-bit bitmap, read by both parsers.
void check_inner(const PortableMap& map, std::vector<std::uint64_t>& ids) {
  const std::size_t before = ids.size();
  for (std::size_t i = 0; i < map.count(); ++i)
    append_ids(map.container(i), ids);
  const base::Bytes owned = base::to_owned(map.bytes());
  const std::unique_ptr<roaring_bitmap_t, Free> theirs(roaring_bitmap_portable_deserialize_safe(
      reinterpret_cast<const char*>(owned.data()), owned.size()));
  CAD_CHECK(theirs != nullptr, "CRoaring accepts it too");
  std::vector<std::uint32_t> lows(roaring_bitmap_get_cardinality(theirs.get()));
  CAD_CHECK(lows.size() == ids.size() - before, "as many members");
  roaring_bitmap_to_uint32_array(theirs.get(), lows.data());
  for (std::size_t i = 0; i < lows.size(); ++i) {
    const std::uint64_t theirs_id = std::uint64_t{map.high()} << kLowBits | lows[i];
    CAD_CHECK(ids[before + i] == theirs_id, "the same members");
  }
}

}  // namespace

void run_one(base::ByteView input) {
  const auto maps = PortableMaps::parse(input, bitmap::EmptyMaps::kAccepted);
  const auto bitmap = Bitmap::from_portable(input);
  CAD_CHECK(maps.has_value() || !bitmap.has_value(), "what does not parse is refused");
  if (!bitmap || maps->cardinality() > kIdsMax) return;

  std::vector<std::uint64_t> ids;
  for (std::size_t at = PortableMaps::first_at(); at < maps->end_at();) {
    const PortableMap map = maps->map_at(at);
    check_inner(map, ids);
    at = PortableMaps::next_at(at, map);
  }
  CAD_CHECK(bitmap->cardinality() == ids.size(), "cardinality");
  CAD_CHECK(std::ranges::equal(*bitmap, ids, {}, &Id::value), "members");
  for (const bitmap::Runs runs : {bitmap::Runs::kAllowed, bitmap::Runs::kNone}) {
    const base::Bytes exported = bitmap->to_portable(runs);
    const auto again = Bitmap::from_portable(exported);
    CAD_CHECK(again.has_value() && *again == *bitmap, "an export is the same set");
    CAD_CHECK(base::equal(again->to_portable(runs), exported), "and has one encoding");
  }
}

}  // namespace cadastre::fuzz
