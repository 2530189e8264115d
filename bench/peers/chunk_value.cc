#include "bench/peers/chunk_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <roaring/roaring.h>

#include "base/check.h"

namespace cadastre::bench {
namespace {

constexpr char kList = 0;
constexpr char kRoaring = 1;
constexpr std::size_t kSlotBytes = sizeof(std::uint16_t);

struct Free {
  void operator()(roaring_bitmap_t* bitmap) const noexcept { roaring_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<roaring_bitmap_t, Free>;

bool is_list(std::string_view value) {
  CAD_CHECK(!value.empty(), "a chunk is never empty");
  return value.front() == kList;
}

// Lists of a little-endian machine, at any address.
std::size_t list_size(std::string_view list) {
  return (list.size() - 1) / kSlotBytes;
}
std::uint16_t slot_at(std::string_view list, std::size_t index) {
  std::uint16_t slot = 0;
  std::memcpy(&slot, list.data() + 1 + index * kSlotBytes, kSlotBytes);
  return slot;
}

Bitmap to_bitmap(std::string_view value) {
  if (!is_list(value)) {
    return Bitmap(roaring_bitmap_portable_deserialize_safe(value.data() + 1, value.size() - 1));
  }
  Bitmap out(roaring_bitmap_create());
  for (std::size_t i = 0; i < list_size(value); ++i)
    roaring_bitmap_add(out.get(), slot_at(value, i));
  return out;
}

std::string to_value(const roaring_bitmap_t* bitmap) {
  std::string out(1 + roaring_bitmap_portable_size_in_bytes(bitmap), kRoaring);
  roaring_bitmap_portable_serialize(bitmap, out.data() + 1);
  return out;
}

// The slots of two lists: all of them, ascending, once each.
std::string unite_lists(std::string_view a, std::string_view b) {
  const std::size_t a_size = list_size(a);
  const std::size_t b_size = list_size(b);
  std::string out(1 + (a_size + b_size) * kSlotBytes, kList);
  char* to = out.data() + 1;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a_size || j < b_size) {
    const bool takes_a = j == b_size || (i < a_size && slot_at(a, i) <= slot_at(b, j));
    const std::uint16_t slot = takes_a ? slot_at(a, i) : slot_at(b, j);
    if (i < a_size && slot_at(a, i) == slot) ++i;
    if (j < b_size && slot_at(b, j) == slot) ++j;
    std::memcpy(to, &slot, kSlotBytes);
    to += kSlotBytes;
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  return out;
}

}  // namespace

std::string encode_slots(const std::vector<std::uint16_t>& slots) {
  if (slots.size() > kListSlotsMax) {
    const Bitmap bitmap(roaring_bitmap_create());
    for (const std::uint16_t slot : slots)
      roaring_bitmap_add(bitmap.get(), slot);
    return to_value(bitmap.get());
  }
  std::string out(1 + slots.size() * kSlotBytes, kList);
  std::memcpy(out.data() + 1, slots.data(), slots.size() * kSlotBytes);
  return out;
}

void decode_slots(std::string_view value, std::vector<std::uint16_t>& out) {
  if (is_list(value)) {
    const std::size_t before = out.size();
    out.resize(before + list_size(value));
    std::memcpy(out.data() + before, value.data() + 1, value.size() - 1);
    return;
  }
  const Bitmap bitmap = to_bitmap(value);
  std::vector<std::uint32_t> wide(roaring_bitmap_get_cardinality(bitmap.get()));
  roaring_bitmap_to_uint32_array(bitmap.get(), wide.data());
  std::ranges::transform(wide, std::back_inserter(out),
                         [](std::uint32_t slot) { return static_cast<std::uint16_t>(slot); });
}

bool chunk_contains(std::string_view value, std::uint16_t slot) {
  if (!is_list(value)) return roaring_bitmap_contains(to_bitmap(value).get(), slot);
  std::size_t first = 0;
  std::size_t last = list_size(value);
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    if (slot_at(value, middle) < slot) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < list_size(value) && slot_at(value, first) == slot;
}

std::string unite_chunks(std::string_view a, std::string_view b) {
  if (is_list(a) && is_list(b) && list_size(a) + list_size(b) <= kListSlotsMax) {
    return unite_lists(a, b);
  }
  const Bitmap bitmap = to_bitmap(a);
  roaring_bitmap_or_inplace(bitmap.get(), to_bitmap(b).get());
  return to_value(bitmap.get());
}

std::uint64_t count_chunk(std::string_view value) {
  if (is_list(value)) return list_size(value);
  return roaring_bitmap_get_cardinality(to_bitmap(value).get());
}

std::uint64_t count_shared(std::string_view a, std::string_view b) {
  if (!is_list(a) || !is_list(b)) {
    return roaring_bitmap_and_cardinality(to_bitmap(a).get(), to_bitmap(b).get());
  }
  std::uint64_t shared = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < list_size(a) && j < list_size(b)) {
    const std::uint16_t x = slot_at(a, i);
    const std::uint16_t y = slot_at(b, j);
    shared += x == y ? 1 : 0;
    i += x <= y ? 1 : 0;
    j += y <= x ? 1 : 0;
  }
  return shared;
}

}  // namespace cadastre::bench
