// The parts of `./dev bench shard`. Budgets are those of shard-algebra.md 11.1 and of the issue.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "bench/report.h"

namespace cadastre::bench {

// Pairs of keys a < b, kInputs of them, from a fixed seed.
struct KeyPair {
  base::Bytes a;
  base::Bytes b;
};

enum class Shape : std::uint8_t {
  kRandom,      // no shared prefix to speak of
  kHalfShared,  // the first half is equal
  kLastByte,    // all but the last byte is equal
  kUnequal,     // b is half as long again as a
  kCarryHeavy,  // 7f ff ff ... against 80 00 00 ...
  kFfRuns,      // tails of ff
};

[[nodiscard]] std::vector<KeyPair> make_pairs(std::size_t size, Shape shape);

void bench_arithmetic(Report& report);
void bench_codec(Report& report);
void bench_planning(Report& report);

}  // namespace cadastre::bench
