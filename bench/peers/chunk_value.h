// ChunkValue: the ids of one chunk as RocksDB keeps them, and how two of them are united.
//
//   00 || u16_le x n, ascending     an id list; what an insert writes
//   01 || portable 32-bit roaring   for more than kListSlotsMax slots
//
// Everything here is pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cadastre::bench {

inline constexpr std::size_t kListSlotsMax = 4096;

// `slots` ascend.
[[nodiscard]] std::string encode_slots(const std::vector<std::uint16_t>& slots);
// Ascending; appends.
void decode_slots(std::string_view value, std::vector<std::uint16_t>& out);

[[nodiscard]] bool chunk_contains(std::string_view value, std::uint16_t slot);
[[nodiscard]] std::string unite_chunks(std::string_view a, std::string_view b);
[[nodiscard]] std::uint64_t count_chunk(std::string_view value);
[[nodiscard]] std::uint64_t count_shared(std::string_view a, std::string_view b);

}  // namespace cadastre::bench
