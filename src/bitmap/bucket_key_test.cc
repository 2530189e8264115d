#include "bitmap/bucket_key.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/bucket_range.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/memory_testing.h"
#include "kv/recording_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using testing::IdDice;
using testing::ids_of;
using testing::must;
using testing::OpenTable;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr BucketRange kAll{0, kMax};

void insert(TableWriter& table, std::uint64_t bucket, const std::string& key, std::uint64_t id) {
  (void)must(table.insert(bucket_key(bucket, as_bytes(key)).value(), Id{id}));
}

std::vector<std::uint64_t> between(const TableReader& table,
                                   const std::string& key,
                                   BucketRange range,
                                   Direction direction = Direction::kAscending) {
  const auto stream = must(table.stream_buckets(as_bytes(key), range, direction));
  return ids_of(*stream);
}

TEST(BucketKey, IsTheNumberInBigEndianAndTheKey) {
  const auto key = bucket_key(0x0102030405060708, as_bytes("red")).value();
  EXPECT_EQ(base::to_hex(key), "0102030405060708726564");
  const auto back = decode_bucket_key(key).value();
  EXPECT_EQ(back.bucket, 0x0102030405060708U);
  EXPECT_TRUE(base::equal(back.key, as_bytes("red")));
}

TEST(BucketKey, IsBoundedByTheBaseKey) {
  EXPECT_TRUE(bucket_key(1, as_bytes(std::string(kBucketedKeyBytesMax, 'x'))));
  const auto longer = bucket_key(1, as_bytes(std::string(kBucketedKeyBytesMax + 1, 'x')));
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, KeyFault::kTooLong);
  const auto shorter = decode_bucket_key(as_bytes("seven b"));
  ASSERT_FALSE(shorter);
  EXPECT_EQ(shorter.error().code, KeyFault::kTruncated);
}

TEST(Buckets, CoverARangeWithoutOverflow) {
  EXPECT_FALSE(Buckets::of_size(0));
  const Buckets tens = *Buckets::of_size(10);
  EXPECT_EQ(tens.covering({10, 19}), (BucketRange{1, 1}));
  EXPECT_EQ(tens.covering({9, 20}), (BucketRange{0, 2}));
  EXPECT_EQ(tens.covering({0, kMax}), (BucketRange{0, kMax / 10}));
  EXPECT_EQ(Buckets::of_size(1)->covering({kMax, kMax}), (BucketRange{kMax, kMax}));
}

// Numbers above 2^63 - 1 are buckets as well, and the last one ends the walk.
TEST(BucketRanges, ReachTheGreatestNumber) {
  OpenTable open({});
  insert(open.table(), kMax, "k", 7);
  insert(open.table(), kMax - 1, "k", 6);
  insert(open.table(), kMax / 2 + 1, "k", 5);
  EXPECT_EQ(between(open.table(), "k", kAll), (std::vector<std::uint64_t>{5, 6, 7}));
  EXPECT_EQ(between(open.table(), "k", {kMax, kMax}), (std::vector<std::uint64_t>{7}));
  EXPECT_EQ(between(open.table(), "k", kAll, Direction::kDescending),
            (std::vector<std::uint64_t>{7, 6, 5}));
}

TEST(BucketRanges, RefuseWhatIsNoRange) {
  OpenTable open({});
  EXPECT_EQ(open.table().buckets({}, {2, 1}).error(), misuse(Misuse::kBadRange));
  EXPECT_EQ(open.table().erase_buckets({2, 1}).error(), misuse(Misuse::kBadRange));
  const std::string longer(kBucketedKeyBytesMax + 1, 'x');
  EXPECT_EQ(open.table().buckets(as_bytes(longer), kAll).error(), misuse(Misuse::kKeyTooLong));
}

// However many numbers lie between them.
TEST(BucketRanges, CostOneLookupForEachBucketThatIsPresent) {
  OpenTable open({});
  for (const std::uint64_t bucket : {std::uint64_t{3}, std::uint64_t{1} << 40, kMax - 5})
    insert(open.table(), bucket, "k", 1);
  kv::CallScript script;
  kv::RecordingWriter writer(open.writer(), script);
  const auto cursor = must(writer.cursor());
  EXPECT_EQ(must(find_buckets(*cursor, as_bytes("k"), kAll)).size(), 3U);
  EXPECT_EQ(script.count(kv::Call::kSeek), 4U);  // The last one finds the end.
}

TEST(BucketRanges, AreBoundedInNumber) {
  OpenTable open({});
  for (std::uint64_t bucket = 0; bucket < kBucketsMax; ++bucket)
    insert(open.table(), bucket, "k", bucket);
  EXPECT_EQ(between(open.table(), "k", kAll).size(), kBucketsMax);
  insert(open.table(), kBucketsMax, "k", 0);
  EXPECT_EQ(open.table().buckets(as_bytes("k"), kAll).error(), misuse(Misuse::kTooManyBuckets));
  EXPECT_EQ(between(open.table(), "k", {1, kBucketsMax}).size(), kBucketsMax);
}

// A model of buckets: the sets by (bucket, key).
class BucketProgram {
 public:
  explicit BucketProgram(std::uint64_t seed)
      : open_({.shard_count = static_cast<std::uint16_t>(1 + seed % 3), .segment_bytes_max = 1024}),
        dice_(seed) {}

  void step() {
    switch (dice_.below(10)) {
      case 0: erase(); break;
      case 1: ask(); break;
      default: add(); break;
    }
  }

 private:
  std::string any_key() {
    static const std::vector<std::string> keys{"", "a", "b", "\xff\xff", "ab", "b\x01"};
    return keys[dice_.below(keys.size())];
  }
  std::uint64_t any_bucket() {
    return dice_.below(4) == 0 ? kMax - dice_.below(3) : dice_.below(40);
  }
  BucketRange any_range() {
    const std::uint64_t a = any_bucket();
    const std::uint64_t b = any_bucket();
    return {std::min(a, b), std::max(a, b)};
  }
  void add() {
    const std::uint64_t bucket = any_bucket();
    const std::string key = any_key();
    const std::uint64_t id = dice_.id();
    insert(open_.table(), bucket, key, id);
    model_[bucket][key].insert(id);
  }
  void erase() {
    const std::uint64_t first = any_bucket();
    const BucketRange range{first, first < kMax - 2 ? first + dice_.below(3) : first};
    bool expected = false;
    for (auto at = model_.lower_bound(range.first);
         at != model_.end() && at->first <= range.last;) {
      expected = true;
      at = model_.erase(at);
    }
    ASSERT_EQ(must(open_.table().erase_buckets(range)), expected);
  }
  void ask() {
    const std::string key = any_key();
    const BucketRange range = any_range();
    std::vector<std::uint64_t> numbers;
    std::set<std::uint64_t> ids;
    for (auto at = model_.lower_bound(range.first); at != model_.end() && at->first <= range.last;
         ++at) {
      const auto set = at->second.find(key);
      if (set == at->second.end()) continue;
      numbers.push_back(at->first);
      ids.insert(set->second.begin(), set->second.end());
    }
    ASSERT_EQ(must(open_.table().buckets(as_bytes(key), range)), numbers);
    ASSERT_EQ(between(open_.table(), key, range),
              (std::vector<std::uint64_t>{ids.begin(), ids.end()}));
  }

  OpenTable open_;
  IdDice dice_;
  std::map<std::uint64_t, std::map<std::string, std::set<std::uint64_t>>> model_;
};

TEST(BucketRanges, AnswerAsTheModel) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    BucketProgram program(seed);
    for (int i = 0; i < 600; ++i) {
      program.step();
      if (HasFatalFailure()) return;
    }
  }
}

// Old buckets are merged into one set: read from a snapshot, written, and erased in one transaction (8).
TEST(BucketRanges, MergeIntoOneKey) {
  const auto store = kv::open_memory_store();
  const auto space = must(store->open_space("t"));
  {
    const auto txn = must(store->begin_write());
    auto table = must(TableWriter::create(txn->writer(space), {}));
    for (std::uint64_t hour = 0; hour < 24; ++hour)
      insert(table, hour, "red", hour * 1000);
    must(txn->commit());
  }
  const auto snapshot = must(store->begin_read());
  const auto before = must(TableReader::open(snapshot->reader(space)));
  const auto txn = must(store->begin_write());
  auto table = must(TableWriter::open(txn->writer(space)));
  (void)must(table.erase_buckets({0, 23}));
  const auto hours = must(before.stream_buckets(as_bytes("red"), {0, 23}));
  must(table.assign(bucket_key(0, as_bytes("red")).value(), *hours));
  EXPECT_EQ(between(table, "red", kAll).size(), 24U);
  EXPECT_EQ(must(table.buckets(as_bytes("red"), kAll)), (std::vector<std::uint64_t>{0}));
}

}  // namespace
}  // namespace cadastre::bitmap
