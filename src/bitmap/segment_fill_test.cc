// T-P6: how full segments are after single inserts, and that a set at a border does not go back and forth.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/kv.h"
#include "kv/memory_testing.h"
#include "kv/recording_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using testing::IdDice;
using testing::must;
using testing::OpenTable;

const base::ByteView kKey = base::as_bytes("key");

// Of S, on average over the segments.
double fill(const KeyStats& stats, const Config& config) {
  return static_cast<double>(stats.value_bytes) /
         (static_cast<double>(stats.segments) * config.segment_bytes_max);
}

TEST(SegmentFill, AscendingIdsLeaveFullSegments) {
  for (const std::uint64_t stride : std::array<std::uint64_t, 3>{700, 40'000, 3'000'000'000}) {
    SCOPED_TRACE(stride);
    OpenTable open(Config{});
    TableWriter& table = open.table();
    std::uint64_t id = 5;
    for (; must(table.stats(kKey)).segments < 4; id += stride)
      (void)must(table.insert(kKey, Id{id}));
    // The last one has just begun.
    const KeyStats stats = must(table.stats(kKey));
    EXPECT_GT(static_cast<double>(stats.value_bytes) / (3.0 * kSegmentBytesDefault), 0.95);
  }
}

TEST(SegmentFill, DescendingIdsLeaveFullSegments) {
  OpenTable open(Config{});
  TableWriter& table = open.table();
  std::uint64_t id = std::uint64_t{1} << 40;
  for (; must(table.stats(kKey)).segments < 4; id -= 700)
    (void)must(table.insert(kKey, Id{id}));
  EXPECT_GT(static_cast<double>(must(table.stats(kKey)).value_bytes) / (3.0 * kSegmentBytesDefault),
            0.95);
}

TEST(SegmentFill, RandomIdsFillTwoThirds) {
  constexpr Config kSmall{.segment_bytes_max = 4080};
  OpenTable open(kSmall);
  TableWriter& table = open.table();
  IdDice dice(31);
  for (int i = 0; i < 60'000; ++i)
    (void)must(table.insert(kKey, Id{dice.below(std::uint64_t{1} << 27)}));
  const KeyStats stats = must(table.stats(kKey));
  EXPECT_GT(stats.segments, 20U);
  EXPECT_GT(fill(stats, kSmall), 0.55);
  EXPECT_LT(fill(stats, kSmall), 0.80);
}

// Batches that overflow a segment by a little leave two halves, not a full one and a crumb.
TEST(SegmentFill, BatchesOfRandomIdsFillTwoThirdsToo) {
  constexpr Config kSmall{.segment_bytes_max = 4080};
  OpenTable open(kSmall);
  TableWriter& table = open.table();
  IdDice dice(43);
  for (int batch = 0; batch < 60; ++batch) {
    std::vector<Id> ids;
    for (int i = 0; i < 1000; ++i)
      ids.emplace_back(dice.below(std::uint64_t{1} << 27));
    (void)must(table.insert_many(kKey, ids));
  }
  const KeyStats stats = must(table.stats(kKey));
  EXPECT_GT(stats.segments, 20U);
  EXPECT_GT(fill(stats, kSmall), 0.55);
  EXPECT_LT(fill(stats, kSmall), 0.80);
}

// A table whose puts are counted.
class CountedPuts {
 public:
  explicit CountedPuts(const Config& config)
      : store_(kv::open_memory_store()),
        space_(must(store_->open_space("t"))),
        txn_(must(store_->begin_write())),
        writer_(txn_->writer(space_), script_),
        table_(must(TableWriter::create(writer_, config))) {}

  [[nodiscard]] TableWriter& table() { return table_; }
  [[nodiscard]] std::uint64_t segments() const { return must(table_.stats(kKey)).segments; }
  [[nodiscard]] std::uint64_t puts() const { return script_.count(kv::Call::kPut); }

 private:
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
  kv::CallScript script_;
  kv::RecordingWriter writer_;
  TableWriter table_;
};

// Takes `id` in and out; the most segments that a step wrote. Their number changes once at most.
std::uint64_t alternate(CountedPuts& counted, Id id) {
  std::uint64_t most = 0;
  int changes = 0;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t segments = counted.segments();
    const std::uint64_t puts = counted.puts();
    const bool done = i % 2 == 0 ? must(counted.table().remove(kKey, id))
                                 : must(counted.table().insert(kKey, id));
    EXPECT_TRUE(done);
    most = std::max(most, counted.puts() - puts);
    changes += counted.segments() != segments ? 1 : 0;
  }
  EXPECT_LE(changes, 1);
  return most;
}

// Without statistics, whose puts would count too.
constexpr Config kTiny{.segment_bytes_max = kSegmentBytesLeast, .stats = Stats::kNone};

TEST(SegmentFill, ACutIsNotUndoneByTheNextRemoval) {
  CountedPuts counted(kTiny);
  std::vector<Id> ids;
  IdDice dice(37);
  while (counted.segments() < 2) {
    const Id id{dice.below(std::uint64_t{1} << 40)};
    if (must(counted.table().insert(kKey, id))) ids.push_back(id);
  }
  EXPECT_LE(alternate(counted, ids.back()), 2U);
  EXPECT_EQ(counted.segments(), 2U);
}

TEST(SegmentFill, AMergeIsNotUndoneByTheNextInsertion) {
  CountedPuts counted(kTiny);
  std::vector<Id> ids;
  IdDice dice(41);
  while (counted.segments() < 2) {
    const Id id{dice.below(std::uint64_t{1} << 40)};
    if (must(counted.table().insert(kKey, id))) ids.push_back(id);
  }
  while (counted.segments() == 2) {
    EXPECT_TRUE(must(counted.table().remove(kKey, ids.back())));
    if (counted.segments() == 2) ids.pop_back();
  }
  EXPECT_TRUE(must(counted.table().insert(kKey, ids.back())));
  EXPECT_LE(alternate(counted, ids.back()), 2U);
  EXPECT_EQ(counted.segments(), 1U);
}

}  // namespace
}  // namespace cadastre::bitmap
