// What coord_victim does and says, for those who kill it.
//
//   coord_victim work DIR LIFE     creates a run of kVictimWorkers shards if it is not there; each worker takes its own
//                                  shard and moves its cursor for ever, one checkpoint after the other; once in a life
//                                  it gives the right end of its shard away. A word for each answer.
//   coord_victim verify DIR 0      for each worker four words: the number under its cursor, that of the newest
//                                  checkpoint in its op-log, how many shards it gave away, its fence; then exits 0 if all
//                                  records name each other and cover the registered ranges exactly.
//
// A number is life << 32 | count, so that it rises from life to life. An answer is worker << 56 | number, a
// split's count is kSplitCount.

#pragma once

#include <cstdint>

namespace cadastre::coord {

inline constexpr std::uint64_t kVictimWorkers = 16;
inline constexpr std::uint64_t kSplitCount = 0xffffffff;
inline constexpr std::uint64_t kSplitAfter = 10;  // Checkpoints.
inline constexpr std::uint64_t kWordsPerWorker = 4;

struct VictimAnswer {
  std::uint64_t worker = 0;
  std::uint64_t life = 0;
  std::uint64_t count = 0;

  [[nodiscard]] std::uint64_t number() const { return life << 32 | count; }
  [[nodiscard]] std::uint64_t word() const { return worker << 56 | number(); }
  [[nodiscard]] static VictimAnswer of(std::uint64_t word) {
    return {word >> 56, (word >> 32) & 0xffffff, word & 0xffffffff};
  }
};

}  // namespace cadastre::coord
