// Tables under byte-coded programs: after every step the table has answered as its model, and in the
// end every invariant holds (spec 6.4, table_ops). Over the store in memory.
//
// Input: a byte each for shards, grain, segment size and statistics, then the choices of a program
// (bitmap/table_program_testing.h) until the bytes end.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/config.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_program_testing.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

constexpr std::array<std::uint16_t, 3> kShards = {1, 3, 16};
constexpr std::array<std::uint8_t, 2> kGrainBits = {16, 0};
constexpr std::array<std::uint32_t, 2> kSegmentBytes = {1024, 8176};

constexpr int kStepsMax = 200;
constexpr std::uint64_t kOperationsMax = 240;
// An input may change so many ids, so that one run takes milliseconds.
constexpr std::uint64_t kChangedIdsMax = 4'000;
constexpr bitmap::testing::StepBounds kBounds{
    .ids_added = 200, .ids_removed = 20, .ids_ascending = 40, .range_ids = 600, .ids_asked = 4};

class InputChoices {
 public:
  explicit InputChoices(Input& in) : in_(&in) {}

  [[nodiscard]] bool done() const { return in_->done(); }
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    return bound <= 65536 ? in_->below(bound) : word() % bound;
  }
  [[nodiscard]] std::uint64_t word() { return in_->number(); }
  [[nodiscard]] std::uint64_t id() { return bitmap::testing::troublesome_id(*this); }
  // By one number: a batch that took bytes for every id would leave none for what comes after it.
  [[nodiscard]] std::vector<std::uint64_t> ids(std::size_t count) {
    return bitmap::testing::IdDice(word()).ids(count);
  }

 private:
  Input* in_;
};

using Program = bitmap::testing::Program<InputChoices>;

bitmap::Config any_config(Input& in) {
  bitmap::Config config;
  config.shard_count = kShards[in.below(kShards.size())];
  config.shard_grain_bits = kGrainBits[in.below(kGrainBits.size())];
  config.segment_bytes_max = kSegmentBytes[in.below(kSegmentBytes.size())];
  config.stats = in.below(2) == 0 ? bitmap::Stats::kKept : bitmap::Stats::kNone;
  return config;
}

void require_equal(const Program& program) {
  if (program.difference()) std::cerr << *program.difference() << '\n';
  CAD_CHECK(!program.difference(), "the table answers as its model");
}

bool may_go_on(Program& program) {
  return !program.choices().done() && program.counts().operations < kOperationsMax &&
         program.counts().changed_ids < kChangedIdsMax;
}

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  const bitmap::Config config = any_config(in);
  Program program(config, InputChoices(in), kBounds);
  for (int steps = 0; steps < kStepsMax && may_go_on(program); ++steps) {
    program.step();
    require_equal(program);
  }
  program.check_all();
  require_equal(program);
}

}  // namespace cadastre::fuzz
