// What a table does when the store fails it, when it is asked for nothing, and when stored bytes are
// not what was written.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "bitmap/verify.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/memory_testing.h"
#include "kv/recording_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using base::ByteView;
using testing::as_ids;
using testing::IdDice;
using testing::must;

constexpr Config kTiny{.segment_bytes_max = 1024};
const ByteView kKey = as_bytes("key");

using Records = std::map<base::Bytes, base::Bytes>;

// A store whose table "t" has been filled and committed.
class Filled {
 public:
  Filled() : store_(kv::open_memory_store()), space_(must(store_->open_space("t"))) {
    const auto txn = must(store_->begin_write());
    auto table = must(TableWriter::create(txn->writer(space_), kTiny));
    IdDice dice(7);
    for (int i = 0; i < 8; ++i)
      (void)must(table.insert_many(kKey, as_ids(dice.ids(150))));
    (void)must(table.insert(as_bytes("other"), Id{5}));
    must(txn->commit());
  }

  [[nodiscard]] std::unique_ptr<kv::WriteTransaction> begin() {
    return must(store_->begin_write());
  }
  [[nodiscard]] kv::SpaceId space() const { return space_; }

  [[nodiscard]] Records records() {
    const auto txn = must(store_->begin_read());
    const auto cursor = must(txn->reader(space_).cursor());
    Records all;
    for (auto entry = must(cursor->next()); entry; entry = must(cursor->next()))
      all.emplace(base::to_owned(entry->key), base::to_owned(entry->value));
    return all;
  }

 private:
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
};

struct Operation {
  const char* name;
  std::function<Result<void, Error>(TableWriter&)> run;
};

template <class Call>
std::function<Result<void, Error>(TableWriter&)> ignoring(Call call) {
  return [call](TableWriter& table) -> Result<void, Error> {
    (void)CAD_TRY(call(table));
    return {};
  };
}

std::vector<Operation> changing_operations() {
  const auto far = as_ids({1, 70'000, 5'000'000'000});
  return {
      {"insert", ignoring([](TableWriter& t) { return t.insert(kKey, Id{123'456'789'000}); })},
      {"insert into a new key",
       ignoring([](TableWriter& t) { return t.insert(as_bytes("new"), Id{1}); })},
      {"insert many", ignoring([](TableWriter& t) {
         IdDice dice(99);
         return t.insert_many(kKey, as_ids(dice.ids(30)));
       })},
      {"remove range", ignoring([](TableWriter& t) {
         return t.remove_range(kKey, {Id{0}, Id{std::uint64_t{1} << 40}});
       })},
      {"insert range", ignoring([](TableWriter& t) {
         return t.insert_range(kKey, {Id{1'000'000}, Id{3'000'000}});
       })},
      {"remove many", ignoring([](TableWriter& t) {
         std::vector<Id> ids;
         for (std::uint64_t id = 0; id < 200; ++id)
           ids.emplace_back(id);
         return t.remove_many(kKey, ids);
       })},
      {"erase", ignoring([](TableWriter& t) { return t.erase_key(kKey); })},
      {"compact", ignoring([](TableWriter& t) { return t.compact(kKey); })},
  };
}

// T-C3: whichever call of the store fails, the operation fails, asks for nothing more, and an abort
// leaves what was there.
TEST(TableFaults, EveryFailingCallIsReported) {
  Filled filled;
  const Records before = filled.records();
  for (const Operation& operation : changing_operations()) {
    std::uint64_t failures = 0;
    for (std::uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE(std::string(operation.name) + ", call " + std::to_string(nth));
      const auto txn = filled.begin();
      kv::CallScript script;
      kv::RecordingWriter writer(txn->writer(filled.space()), script);
      auto table = must(TableWriter::open(writer));
      script.fail_call(nth, {kv::ErrorCode::kIo});
      const auto result = operation.run(table);
      if (!script.has_failed()) {
        ASSERT_TRUE(result.has_value()) << to_string(result.error());
        break;
      }
      ++failures;
      ASSERT_FALSE(result.has_value());
      EXPECT_EQ(result.error().code, ErrorCode::kStorage);
      EXPECT_EQ(script.calls_after_failure(), 0U);
      txn->abort();
    }
    EXPECT_GT(failures, 0U) << operation.name;
    EXPECT_EQ(filled.records(), before) << operation.name;
  }
}

// T-P7.
TEST(TableFaults, WhatChangesNothingWritesNothing) {
  Filled filled;
  const auto txn = filled.begin();
  kv::CallScript script;
  kv::RecordingWriter writer(txn->writer(filled.space()), script);
  auto table = must(TableWriter::open(writer));
  (void)must(table.compact(kKey));
  std::vector<Id> members;
  const Stream stream = must(table.stream(kKey));
  must(for_each(*stream, [&members](std::span<const Id> block) {
    members.insert(members.end(), block.begin(), block.end());
    return true;
  }));
  const std::uint64_t before = writer.mutation_count();
  EXPECT_EQ(must(table.insert_many(kKey, members)), 0U);
  for (std::size_t i = 0; i < members.size(); i += 37)
    EXPECT_FALSE(must(table.insert(kKey, members[i])));
  EXPECT_FALSE(must(table.remove(kKey, Id{(std::uint64_t{1} << 50) + 12'345})));
  EXPECT_FALSE(must(table.remove(as_bytes("absent"), Id{1})));
  EXPECT_EQ(must(table.remove_range(as_bytes("absent"), {Id{0}, kIdMax})), 0U);
  EXPECT_FALSE(must(table.erase_key(as_bytes("absent"))));
  (void)must(table.compact(kKey));
  EXPECT_EQ(must(table.repair_stats(kKey)).changed, 0U);
  EXPECT_EQ(writer.mutation_count(), before);
}

// ---- Damage ----------------------------------------------------------------------------------

// A table whose records were tampered with, in one write transaction.
class Damaged {
 public:
  Damaged() : txn_(filled_.begin()) {}

  [[nodiscard]] kv::Writer& writer() { return txn_->writer(filled_.space()); }
  [[nodiscard]] TableWriter table() { return must(TableWriter::open(writer())); }
  [[nodiscard]] Records records() { return filled_.records(); }
  // Keys of the segments of kKey, in order.
  [[nodiscard]] std::vector<base::Bytes> segments() {
    std::vector<base::Bytes> keys;
    for (const auto& [key, value] : filled_.records()) {
      const auto decoded = decode_key(key);
      const auto* const segment = std::get_if<SegmentKey>(&*decoded);
      if (segment != nullptr && base::equal(segment->base_key, kKey)) keys.push_back(key);
    }
    return keys;
  }
  [[nodiscard]] base::Bytes value_of(const base::Bytes& key) {
    return base::to_owned(*must(writer().get(key)));
  }
  void put(const base::Bytes& key, const base::Bytes& value) { must(writer().put(key, value)); }
  void erase(const base::Bytes& key) { must(writer().erase(key)); }

  template <class Fault>
  void expect_found(Fault fault) {
    for (const Finding& finding : must(table().verify_all(100))) {
      if (const auto* found = std::get_if<Fault>(&finding.what); found && *found == fault) return;
    }
    ADD_FAILURE() << "verify does not find: " << name(fault);
  }

 private:
  Filled filled_;
  std::unique_ptr<kv::WriteTransaction> txn_;
};

Result<std::uint64_t, Error> count_all(TableWriter& table) {
  return count(*CAD_TRY(table.stream(kKey)));
}

TEST(TableDamage, AFlippedBitIsFoundByStreamsAndEdits) {
  Damaged damaged;
  const auto keys = damaged.segments();
  ASSERT_GT(keys.size(), 5U);
  const base::Bytes good = damaged.value_of(keys[2]);
  for (std::size_t bit = 0; bit < good.size() * 8; bit += 7) {
    base::Bytes bad = good;
    bad[bit / 8] ^= std::byte(1U << (bit % 8));
    damaged.put(keys[2], bad);
    auto table = damaged.table();
    const auto counted = count_all(table);
    ASSERT_FALSE(counted.has_value()) << bit;
    EXPECT_TRUE(counted.error().code == ErrorCode::kCorrupt ||
                counted.error().code == ErrorCode::kUnsupportedForm);
    EXPECT_EQ(counted.error().raw_key, keys[2]);
    // B-30: nothing that cannot be read is replaced.
    const auto decoded = decode_key(keys[2]);
    const Id inside = std::get<SegmentKey>(*decoded).fence;
    const auto inserted = table.insert_range(kKey, {inside, inside});
    ASSERT_FALSE(inserted.has_value()) << bit;
    EXPECT_EQ(damaged.value_of(keys[2]), bad);
  }
  damaged.put(keys[2], good);
  auto table = damaged.table();
  EXPECT_TRUE(count_all(table).has_value());
}

TEST(TableDamage, EveryTruncationIsFound) {
  Damaged damaged;
  const auto keys = damaged.segments();
  const base::Bytes good = damaged.value_of(keys[1]);
  for (std::size_t size = 0; size < good.size(); ++size) {
    damaged.put(keys[1],
                base::Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    auto table = damaged.table();
    ASSERT_FALSE(count_all(table).has_value()) << size;
    ASSERT_FALSE(must(table.verify(kKey, 10)).empty()) << size;
  }
}

// I-2.
TEST(TableDamage, AMissingFirstSegmentIsFound) {
  Damaged damaged;
  const auto keys = damaged.segments();
  damaged.erase(keys[0]);
  damaged.expect_found(PartitionFault::kFirstFenceNotZero);
  const auto asked = damaged.table().contains(kKey, Id{0});
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().cause, Error::Cause(PartitionFault::kFirstFenceNotZero));
}

// I-6.
TEST(TableDamage, AMissingSegmentIsFoundByTheCounts) {
  Damaged damaged;
  damaged.erase(damaged.segments()[3]);
  damaged.expect_found(PartitionFault::kStatsDiffer);
  auto table = damaged.table();
  EXPECT_EQ(must(table.repair_stats(kKey)).changed, 1U);
  EXPECT_TRUE(must(table.verify(kKey, 10)).empty());
}

// I-3.
TEST(TableDamage, OverlappingSegmentsAreFound) {
  Damaged damaged;
  const auto keys = damaged.segments();
  damaged.put(keys[4], damaged.value_of(keys[3]));
  damaged.expect_found(PartitionFault::kIdOutsideInterval);
  auto table = damaged.table();
  const auto counted = count_all(table);
  ASSERT_FALSE(counted.has_value());
  EXPECT_EQ(counted.error().cause, Error::Cause(PartitionFault::kIdOutsideInterval));
}

TEST(TableDamage, AWrongFenceIsFound) {
  Damaged damaged;
  const auto keys = damaged.segments();
  const auto segment = std::get<SegmentKey>(*decode_key(keys[3]));
  const StoredKey moved = segment_key(kKey, segment.shard, Id{segment.fence.value() + 3});
  damaged.put(base::to_owned(moved), damaged.value_of(keys[3]));
  damaged.erase(keys[3]);
  damaged.expect_found(PartitionFault::kFenceUnaligned);
  auto table = damaged.table();
  EXPECT_FALSE(count_all(table).has_value());
}

// I-4, I-5.
TEST(TableDamage, AWrongShardAndAnOversizeValueAreFound) {
  Damaged damaged;
  const auto keys = damaged.segments();
  damaged.put(base::to_owned(segment_key(as_bytes("stray"), Shard{3}, Id{})),
              damaged.value_of(keys[0]));
  damaged.expect_found(PartitionFault::kWrongShard);
  must(damaged.table().set_segment_bytes_max(65520));
  auto table = damaged.table();
  (void)must(table.insert_range(as_bytes("large"), {Id{0}, Id{std::uint64_t{1} << 26}}));
  must(table.set_segment_bytes_max(1024));
  damaged.expect_found(PartitionFault::kOversize);
}

TEST(TableDamage, DamagedRecordsAreFound) {
  Damaged damaged;
  const base::Bytes stats = base::to_owned(stats_key(kKey, Shard{}));
  base::Bytes record = damaged.value_of(stats);
  record[3] ^= std::byte{1};
  damaged.put(stats, record);
  damaged.expect_found(PartitionFault::kStatsDiffer);
  record.pop_back();
  damaged.put(stats, record);
  damaged.expect_found(RecordFault::kBadLength);
  EXPECT_EQ(damaged.table().cardinality(kKey).error().code, ErrorCode::kCorrupt);
  damaged.put({std::byte{0}, std::byte{0}, std::byte{0}, std::byte{5}, std::byte{'a'}}, {});
  damaged.expect_found(KeyFault::kTruncated);
}

TEST(TableDamage, ADamagedDescriptorOpensNothing) {
  Damaged damaged;
  const base::Bytes key = base::to_owned(descriptor_key());
  base::Bytes value = damaged.value_of(key);
  value[10] ^= std::byte{1};
  damaged.put(key, value);
  EXPECT_EQ(TableWriter::open(damaged.writer()).error().code, ErrorCode::kCorrupt);
  damaged.erase(key);
  EXPECT_EQ(TableWriter::open(damaged.writer()).error().code, ErrorCode::kConfigMismatch);
}

// ---- Arguments -------------------------------------------------------------------------------

// B-16, B-17, B-18.
TEST(TableArguments, AreCheckedBeforeAnythingIsTouched) {
  Filled filled;
  const auto txn = filled.begin();
  kv::Writer& writer = txn->writer(filled.space());
  EXPECT_EQ(TableWriter::create(writer, kTiny).error(), misuse(Misuse::kTableExists));
  Config other = kTiny;
  other.shard_count = 2;
  EXPECT_EQ(TableWriter::open(writer, other).error().code, ErrorCode::kConfigMismatch);
  other.shard_count = 0;
  EXPECT_EQ(TableWriter::open(writer, other).error(), misuse(Misuse::kConfig));
  auto table = must(TableWriter::open(writer));
  const std::uint64_t before = writer.mutation_count();
  const base::Bytes longest(497);
  const base::Bytes too_long(498);
  EXPECT_EQ(table.insert(too_long, Id{1}).error(), misuse(Misuse::kKeyTooLong));
  EXPECT_EQ(table.contains(too_long, Id{1}).error(), misuse(Misuse::kKeyTooLong));
  EXPECT_EQ(table.insert_range(kKey, {Id{2}, Id{1}}).error(), misuse(Misuse::kBadRange));
  EXPECT_EQ(table.insert_range(kKey, {Id{0}, kIdMax}).error(), misuse(Misuse::kBadRange));
  const auto unsorted = as_ids({2, 1});
  EXPECT_EQ(table.insert_many(kKey, SortedIds{unsorted}).error(), misuse(Misuse::kUnsortedIds));
  EXPECT_EQ(table.get(kKey, 10).error(), misuse(Misuse::kResultTooLarge));
  EXPECT_EQ(writer.mutation_count(), before);
  EXPECT_TRUE(must(table.insert(longest, Id{1})));
  EXPECT_TRUE(must(table.contains(longest, Id{1})));
}

// B-10, R-26.
TEST(TableArguments, KeysAreListedByLengthAndBytes) {
  const auto store = kv::open_memory_store();
  const auto space = must(store->open_space("t"));
  const auto txn = must(store->begin_write());
  auto table = must(TableWriter::create(txn->writer(space), kTiny));
  const std::vector<std::string> keys{"",    "a",   "b",      "ab",      "b\xff",
                                      "aaa", "abz", "ba\x01", "abcdefgh"};
  for (const std::string& key : keys)
    (void)must(table.insert_many(as_bytes(key), as_ids({1, 100'000, 7'000'000})));
  const auto listed = [&](const std::string& prefix, std::optional<std::string> after) {
    std::vector<std::string> found;
    auto cursor =
        must(table.keys(as_bytes(prefix), after ? std::optional(as_bytes(*after)) : std::nullopt));
    while (const auto key = must(cursor.next()))
      found.emplace_back(reinterpret_cast<const char*>(key->data()), key->size());
    return found;
  };
  EXPECT_EQ(listed("", {}), keys);
  EXPECT_EQ(listed("a", {}), (std::vector<std::string>{"a", "ab", "aaa", "abz", "abcdefgh"}));
  EXPECT_EQ(listed("ab", {}), (std::vector<std::string>{"ab", "abz", "abcdefgh"}));
  EXPECT_EQ(listed("b", {}), (std::vector<std::string>{"b", "b\xff", "ba\x01"}));
  EXPECT_EQ(listed("a", "ab"), (std::vector<std::string>{"aaa", "abz", "abcdefgh"}));
  EXPECT_EQ(listed("", "abz"), (std::vector<std::string>{"ba\x01", "abcdefgh"}));
  EXPECT_TRUE(listed("zz", {}).empty());
}

}  // namespace
}  // namespace cadastre::bitmap
