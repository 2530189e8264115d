#include "bitmap/slot_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "bitmap/container.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/table_model_testing.h"

namespace cadastre::bitmap {
namespace {

using testing::IdDice;
using Slots = std::vector<std::uint16_t>;

// Slots in memory that ends with them, at an odd address: what reads further is seen by a sanitizer.
class StoredSlots {
 public:
  explicit StoredSlots(const Slots& slots) : bytes_(1 + slots.size() * kSlotBytes) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      base::store_le(bytes_.data() + 1 + i * kSlotBytes, slots[i]);
  }
  [[nodiscard]] ByteView view() const { return ByteView(bytes_).subspan(1); }

 private:
  base::Bytes bytes_;
};

Slots any_slots(IdDice& dice, std::size_t count) {
  std::set<std::uint16_t> slots;
  const std::uint64_t width = dice.below(2) == 0 ? kSlotsPerChunk : 2 * count + 1;
  for (std::size_t i = 0; i < count; ++i)
    slots.insert(static_cast<std::uint16_t>(dice.below(width)));
  return {slots.begin(), slots.end()};
}

void expect_common(const SlotKernels& kernels, const Slots& a, const Slots& b) {
  Slots expected;
  std::ranges::set_intersection(a, b, std::back_inserter(expected));
  const StoredSlots left(a);
  const StoredSlots right(b);
  ASSERT_EQ(kernels.count_common(left.view(), right.view()), expected.size());
  ContainerBuffer out;
  Slots found(kernels.keep_common(left.view(), right.view(), out));
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = slot_at(out.bytes, i);
  ASSERT_EQ(found, expected);
}

TEST(SlotKernels, FindCommonSlots) {
  IdDice dice(3);
  for (int i = 0; i < 3000; ++i) {
    const Slots a = any_slots(dice, dice.below(i % 10 == 0 ? 4097 : 60));
    const Slots b = any_slots(dice, dice.below(i % 10 == 0 ? 4097 : 60));
    expect_common(slot_kernels(), a, b);
    expect_common(portable_slot_kernels(), a, b);
    expect_common(slot_kernels(), a, a);
    if (HasFatalFailure()) return;
  }
}

TEST(SlotKernels, FindThemInFullArrays) {
  Slots even(kArrayCardinalityMax);
  for (std::size_t i = 0; i < even.size(); ++i)
    even[i] = static_cast<std::uint16_t>(2 * i);
  expect_common(slot_kernels(), even, even);
  expect_common(slot_kernels(), even, {0, 1, 8190});
}

TEST(SlotKernels, WidenSlots) {
  IdDice dice(17);
  const Id first{0xffff'ffff'ffff'0000};
  for (std::size_t count = 0; count < 60; ++count) {
    const Slots slots = any_slots(dice, count);
    const StoredSlots stored(slots);
    for (const SlotKernels* const kernels : {&slot_kernels(), &portable_slot_kernels()}) {
      std::vector<Id> ids(slots.size());
      kernels->widen(stored.view(), first, ids.data());
      for (std::size_t i = 0; i < slots.size(); ++i)
        ASSERT_EQ(ids[i], Id{first.value() + slots[i]});
    }
  }
}

// One slot out of order is seen wherever it is.
TEST(SlotKernels, SeeDisorder) {
  IdDice dice(13);
  for (std::size_t count = 0; count < 120; ++count) {
    Slots slots = any_slots(dice, count);
    const StoredSlots ascending(slots);
    EXPECT_TRUE(slot_kernels().ascends(ascending.view()));
    EXPECT_TRUE(portable_slot_kernels().ascends(ascending.view()));
    for (std::size_t i = 1; i < slots.size(); ++i) {
      const std::uint16_t own = slots[i];
      slots[i] = dice.below(2) == 0 ? slots[i - 1] : std::uint16_t{0};
      const StoredSlots disorder(slots);
      EXPECT_FALSE(slot_kernels().ascends(disorder.view())) << i << " of " << count;
      EXPECT_FALSE(portable_slot_kernels().ascends(disorder.view())) << i << " of " << count;
      slots[i] = own;
    }
  }
  EXPECT_TRUE(slot_kernels().ascends(StoredSlots({0, 32767, 32768, 65535}).view()));
}

// What is stored in disorder costs the answer, never memory.
TEST(SlotKernels, StayInTheBufferWhateverTheySee) {
  IdDice dice(5);
  for (int i = 0; i < 200; ++i) {
    Slots a(kArrayCardinalityMax);
    Slots b(kArrayCardinalityMax);
    for (std::size_t j = 0; j < a.size(); ++j) {
      a[j] = static_cast<std::uint16_t>(dice.below(i % 2 == 0 ? 2 : 9));
      b[j] = static_cast<std::uint16_t>(dice.below(i % 2 == 0 ? 2 : 9));
    }
    const StoredSlots left(a);
    const StoredSlots right(b);
    std::vector<ContainerBuffer> out(1);
    EXPECT_LE(slot_kernels().keep_common(left.view(), right.view(), out[0]), kArrayCardinalityMax);
    EXPECT_LE(portable_slot_kernels().keep_common(left.view(), right.view(), out[0]),
              kArrayCardinalityMax);
    (void)slot_kernels().count_common(left.view(), right.view());
  }
}

TEST(SlotKernels, CountCommonBits) {
  IdDice dice(9);
  for (int i = 0; i < 100; ++i) {
    base::Bytes a(1 + kContainerBytesMax);
    base::Bytes b(1 + kContainerBytesMax);
    std::uint32_t expected = 0;
    const std::uint64_t density = 1 + dice.below(5);
    for (std::size_t at = 1; at < a.size(); ++at) {
      a[at] = dice.below(density) == 0 ? std::byte{0xff} : static_cast<std::byte>(dice.below(256));
      b[at] = dice.below(density) == 0 ? std::byte{0xff} : static_cast<std::byte>(dice.below(256));
      expected +=
          static_cast<std::uint32_t>(__builtin_popcount(std::to_integer<unsigned>(a[at] & b[at])));
    }
    const ByteView left = ByteView(a).subspan(1);
    const ByteView right = ByteView(b).subspan(1);
    ASSERT_EQ(slot_kernels().count_common_bits(left, right), expected);
    ASSERT_EQ(portable_slot_kernels().count_common_bits(left, right), expected);
  }
  const base::Bytes full(kContainerBytesMax, std::byte{0xff});
  EXPECT_EQ(slot_kernels().count_common_bits(full, full), kSlotsPerChunk);
}

}  // namespace
}  // namespace cadastre::bitmap
