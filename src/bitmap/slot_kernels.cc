#include "bitmap/slot_kernels.h"

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bitmap/container.h"
#include "bitmap/container_bytes.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {
namespace {

// Where a walk over two arrays stands.
struct Walk {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t count = 0;
};

std::size_t slots_in(ByteView array) noexcept {
  return array.size() / kSlotBytes;
}

// Slot by slot: the whole of a walk, or the end that is too short for anything wider.
std::uint32_t finish_count(ByteView a, ByteView b, Walk walk) noexcept {
  while (walk.i < slots_in(a) && walk.j < slots_in(b)) {
    const std::uint16_t left = slot_at(a, walk.i);
    const std::uint16_t right = slot_at(b, walk.j);
    walk.count += left == right ? 1 : 0;
    walk.i += left <= right ? 1 : 0;
    walk.j += right <= left ? 1 : 0;
  }
  return static_cast<std::uint32_t>(walk.count);
}

std::size_t finish_keep(ByteView a, ByteView b, Walk walk, ContainerBuffer& out) noexcept {
  while (walk.i < slots_in(a) && walk.j < slots_in(b) && walk.count < kArrayCardinalityMax) {
    const std::uint16_t left = slot_at(a, walk.i);
    const std::uint16_t right = slot_at(b, walk.j);
    put_slot(out, walk.count, left);
    walk.count += left == right ? 1 : 0;
    walk.i += left <= right ? 1 : 0;
    walk.j += right <= left ? 1 : 0;
  }
  return walk.count;
}

std::uint32_t count_common_portable(ByteView a, ByteView b) noexcept {
  return finish_count(a, b, {});
}

std::size_t keep_common_portable(ByteView a, ByteView b, ContainerBuffer& out) noexcept {
  return finish_keep(a, b, {}, out);
}

// From slot `i` on, which has one before it.
bool finish_ascends(ByteView array, std::size_t i) noexcept {
  std::uint32_t wrong = 0;
  for (; i < slots_in(array); ++i)
    wrong += slot_at(array, i) <= slot_at(array, i - 1) ? 1 : 0;
  return wrong == 0;
}

bool ascends_portable(ByteView array) noexcept {
  return finish_ascends(array, 1);
}

void finish_widen(ByteView array, Id first, std::size_t i, Id* out) noexcept {
  for (; i < slots_in(array); ++i)
    out[i] = Id{first.value() | slot_at(array, i)};
}

void widen_portable(ByteView array, Id first, Id* out) noexcept {
  finish_widen(array, first, 0, out);
}

std::uint32_t count_common_bits_portable(ByteView a, ByteView b) noexcept {
  ContainerBuffer both;
  for (std::size_t i = 0; i < kBitsetWords; ++i)
    put_word(both, i, word_at(a, i) & word_at(b, i));
  return count_bits(both.bytes);
}

constexpr SlotKernels kPortable{count_common_portable, keep_common_portable, ascends_portable,
                                widen_portable, count_common_bits_portable};

#if defined(__x86_64__)

// ---- AVX2 ------------------------------------------------------------------------------------
//
// Eight slots of each array are compared with one another at once, all 64 pairs; then the block whose
// last slot is not greater moves on.

#define CAD_AVX2 __attribute__((target("avx2,popcnt")))

constexpr std::size_t kBlockSlots = 8;
constexpr std::size_t kBlockBytes = kBlockSlots * kSlotBytes;

CAD_AVX2 inline __m128i load_block(ByteView array, std::size_t slot) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the instruction takes
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(array.data() + slot * kSlotBytes));
}

// One bit for each slot of `a`: whether it is among those of `b`.
CAD_AVX2 inline unsigned match_blocks(__m128i a, __m128i b) noexcept {
  // The second half compares with `b` turned by four slots; three turns by one do the rest.
  constexpr int kHalf = kBlockBytes / 2;
  const __m256i left = _mm256_broadcastsi128_si256(a);
  __m256i right =
      _mm256_inserti128_si256(_mm256_castsi128_si256(b), _mm_alignr_epi8(b, b, kHalf), 1);
  __m256i equal = _mm256_cmpeq_epi16(left, right);
  right = _mm256_alignr_epi8(right, right, kSlotBytes);
  equal = _mm256_or_si256(equal, _mm256_cmpeq_epi16(left, right));
  right = _mm256_alignr_epi8(right, right, kSlotBytes);
  equal = _mm256_or_si256(equal, _mm256_cmpeq_epi16(left, right));
  right = _mm256_alignr_epi8(right, right, kSlotBytes);
  equal = _mm256_or_si256(equal, _mm256_cmpeq_epi16(left, right));
  const __m128i any =
      _mm_or_si128(_mm256_castsi256_si128(equal), _mm256_extracti128_si256(equal, 1));
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(any, _mm_setzero_si128())));
}

inline void move_on(ByteView a, ByteView b, Walk& walk) noexcept {
  const std::uint16_t left = slot_at(a, walk.i + kBlockSlots - 1);
  const std::uint16_t right = slot_at(b, walk.j + kBlockSlots - 1);
  walk.i += left <= right ? kBlockSlots : 0;
  walk.j += right <= left ? kBlockSlots : 0;
}

CAD_AVX2 std::uint32_t count_common_avx2(ByteView a, ByteView b) noexcept {
  Walk walk;
  while (walk.i + kBlockSlots <= slots_in(a) && walk.j + kBlockSlots <= slots_in(b)) {
    const unsigned matches = match_blocks(load_block(a, walk.i), load_block(b, walk.j));
    walk.count += static_cast<unsigned>(__builtin_popcount(matches));
    move_on(a, b, walk);
  }
  return finish_count(a, b, walk);
}

// For each set of slots in a block, the bytes that bring them to its front.
using Compaction = std::array<std::array<std::uint8_t, kBlockBytes>, std::size_t{1} << kBlockSlots>;
constexpr Compaction make_compaction() {
  Compaction table{};
  for (std::size_t set = 0; set < table.size(); ++set) {
    std::size_t at = 0;
    for (std::size_t slot = 0; slot < kBlockSlots; ++slot) {
      if ((set >> slot & 1) == 0) continue;
      table[set][at++] = static_cast<std::uint8_t>(slot * kSlotBytes);
      table[set][at++] = static_cast<std::uint8_t>(slot * kSlotBytes + 1);
    }
  }
  return table;
}
constexpr Compaction kCompaction = make_compaction();

CAD_AVX2 std::size_t keep_common_avx2(ByteView a, ByteView b, ContainerBuffer& out) noexcept {
  Walk walk;
  while (walk.i + kBlockSlots <= slots_in(a) && walk.j + kBlockSlots <= slots_in(b) &&
         walk.count + kBlockSlots <= kArrayCardinalityMax) {
    const __m128i block = load_block(a, walk.i);
    const unsigned set = match_blocks(block, load_block(b, walk.j));
    // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): what the instructions take
    const __m128i order =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(kCompaction[set].data()));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.bytes.data() + walk.count * kSlotBytes),
                     _mm_shuffle_epi8(block, order));
    // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
    walk.count += static_cast<unsigned>(__builtin_popcount(set));
    move_on(a, b, walk);
  }
  return finish_keep(a, b, walk, out);
}

// A slot that is not greater leaves nothing when the one before is subtracted.
CAD_AVX2 bool ascends_avx2(ByteView array) noexcept {
  constexpr std::size_t kVectorSlots = 16;
  const __m256i zero = _mm256_setzero_si256();
  __m256i wrong = zero;
  std::size_t i = 1;
  for (; i + kVectorSlots <= slots_in(array); i += kVectorSlots) {
    // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): what the instructions take
    const auto* const at = reinterpret_cast<const __m256i*>(array.data() + i * kSlotBytes);
    const auto* const before =
        reinterpret_cast<const __m256i*>(array.data() + (i - 1) * kSlotBytes);
    // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
    const __m256i step = _mm256_subs_epu16(_mm256_loadu_si256(at), _mm256_loadu_si256(before));
    wrong = _mm256_or_si256(wrong, _mm256_cmpeq_epi16(step, zero));
  }
  return _mm256_testz_si256(wrong, wrong) != 0 && finish_ascends(array, i);
}

CAD_AVX2 void widen_avx2(ByteView array, Id first, Id* out) noexcept {
  static_assert(sizeof(Id) == sizeof(std::uint64_t), "ids are stored as such");
  constexpr std::size_t kVectorIds = 4;
  const __m256i base = _mm256_set1_epi64x(static_cast<std::int64_t>(first.value()));
  std::size_t i = 0;
  for (; i + kBlockSlots <= slots_in(array); i += kBlockSlots) {
    const __m128i block = load_block(array, i);
    const __m256i low = _mm256_cvtepu16_epi64(block);
    const __m256i high = _mm256_cvtepu16_epi64(_mm_unpackhi_epi64(block, block));
    // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): what the instructions take
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_or_si256(low, base));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + kVectorIds),
                        _mm256_or_si256(high, base));
    // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  }
  finish_widen(array, first, i, out);
}

// Bits of each half byte by a table, summed over each half of a container before they overflow.
CAD_AVX2 std::uint32_t count_common_bits_avx2(ByteView a, ByteView b) noexcept {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                         0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(0x0f);
  constexpr int kHalfByte = 4;
  constexpr std::size_t kVectorBytes = 32;
  constexpr std::size_t kVectorsPerSum = 16;  // 16 times 8 bits fit a byte
  __m256i sums = _mm256_setzero_si256();
  for (std::size_t at = 0; at < kContainerBytesMax;) {
    __m256i bytes = _mm256_setzero_si256();
    for (std::size_t i = 0; i < kVectorsPerSum; ++i, at += kVectorBytes) {
      // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): what the instructions take
      const __m256i both =
          _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.data() + at)),
                           _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b.data() + at)));
      // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
      bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(table, _mm256_and_si256(both, low)));
      const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(both, kHalfByte), low);
      bytes = _mm256_add_epi8(bytes, _mm256_shuffle_epi8(table, upper));
    }
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
  }
  const __m128i half =
      _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}

constexpr SlotKernels kAvx2{count_common_avx2, keep_common_avx2, ascends_avx2, widen_avx2,
                            count_common_bits_avx2};

const SlotKernels& choose() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0 ? kAvx2
                                                                                      : kPortable;
}

#undef CAD_AVX2

#else

const SlotKernels& choose() noexcept {
  return kPortable;
}

#endif

const SlotKernels& chosen = choose();

}  // namespace

const SlotKernels& portable_slot_kernels() noexcept {
  return kPortable;
}

const SlotKernels& slot_kernels() noexcept {
  return chosen;
}

}  // namespace cadastre::bitmap
