#include "bitmap/rolled_import.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "bitmap/bitmap.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/segment_form.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "kv/kv.h"
#include "kv/memory_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::as_bytes;
using testing::as_ids;
using testing::IdDice;
using testing::ids_of;
using testing::Model;
using testing::must;
using testing::OpenTable;

constexpr std::size_t kFindings = 10;

// A table in the rolled layout, as its document has it, written by hand.
class RolledTable {
 public:
  RolledTable()
      : store_(kv::open_memory_store()),
        space_(must(store_->open_space("rolled"))),
        txn_(must(store_->begin_write())) {}

  void segment(const std::string& key,
               std::uint16_t shard,
               std::uint16_t number,
               const Bitmap& ids) {
    base::Bytes value{std::byte{0x01}};
    const base::Bytes portable = ids.to_portable(Runs::kNone);
    value.insert(value.end(), portable.begin(), portable.end());
    put(rolled_segment_key(as_bytes(key), Shard{shard}, number), value);
  }
  void head(const std::string& key, std::uint16_t shard, std::uint16_t number) {
    std::array<std::byte, 2> bytes{};
    base::store_be(bytes.data(), number);
    put(stats_key(as_bytes(key), Shard{shard}), bytes);
  }
  void put(ByteView key, ByteView value) { must(txn_->writer(space_).put(key, value)); }
  [[nodiscard]] kv::Reader& reader() { return txn_->writer(space_); }

 private:
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
};

Bitmap set_of(const std::vector<std::uint64_t>& ids) {
  return Bitmap(as_ids(ids));
}

std::vector<std::uint64_t> members(OpenTable& open, const std::string& key) {
  return ids_of(*must(open.table().stream(as_bytes(key))));
}

void expect_fault(RolledTable& rolled,
                  RolledFault fault,
                  ByteView raw_key,
                  AcceptGaps gaps = AcceptGaps::kNo) {
  OpenTable open({});
  const auto imported = import_rolled(rolled.reader(), open.table(), {.gaps = gaps});
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error(), (ImportError{fault, base::to_owned(raw_key)}))
      << to_string(imported.error());
}

// The key of the specification's vector (2.1).
TEST(RolledImport, ReadsTheDocumentedKey) {
  RolledTable rolled;
  for (std::uint16_t number = 0; number < 2; ++number)
    rolled.segment("user_123", 5, number, set_of({number}));
  const auto key = base::from_hex("00000008757365725f31323300050002");
  const auto value =
      base::from_hex("010100000000000000000000003a3000000100000000000000100000002a00");
  rolled.put(key.value(), value.value());
  OpenTable open({});
  const auto report = must(import_rolled(rolled.reader(), open.table(), {}));
  EXPECT_EQ(report.segments, 3U);
  EXPECT_EQ(report.added, 3U);
  EXPECT_EQ(report.gaps, 0U);
  EXPECT_EQ(members(open, "user_123"), (std::vector<std::uint64_t>{0, 1, 42}));
}

// W-1: an id may be in several segments, and in any shard.
TEST(RolledImport, CountsAnIdOnce) {
  RolledTable rolled;
  rolled.segment("k", 0, 0, set_of({1, 2, 3}));
  rolled.segment("k", 0, 1, set_of({3, 4}));
  rolled.segment("k", 65535, 0, set_of({4, ~std::uint64_t{0}}));
  rolled.head("k", 0, 1);
  OpenTable open({});
  (void)must(open.table().insert(as_bytes("k"), Id{2}));
  const auto report = must(import_rolled(rolled.reader(), open.table(), {}));
  EXPECT_EQ(report.added, 4U);
  EXPECT_EQ(members(open, "k"), (std::vector<std::uint64_t>{1, 2, 3, 4, ~std::uint64_t{0}}));
}

TEST(RolledImport, GoesOnWhereTheBudgetStoppedIt) {
  RolledTable rolled;
  IdDice dice(11);
  Model model;
  for (const std::string key : {"", "a", "b", "ab"}) {
    for (std::uint16_t shard = 0; shard < 3; ++shard) {
      const auto segments = static_cast<std::uint16_t>(1 + dice.below(5));
      for (std::uint16_t number = 0; number < segments; ++number) {
        const auto ids = dice.ids(200);
        rolled.segment(key, shard, number, set_of(ids));
        model[key].insert(ids.begin(), ids.end());
      }
      if (shard != 1) rolled.head(key, shard, static_cast<std::uint16_t>(segments - 1));
    }
  }
  for (const std::size_t budget : {std::size_t{1}, std::size_t{5000}, std::size_t{1} << 30}) {
    SCOPED_TRACE(budget);
    OpenTable open({.shard_count = 2, .segment_bytes_max = 1024});
    std::uint64_t added = 0;
    std::optional<ImportCursor> from;
    do {
      const auto report = must(
          import_rolled(rolled.reader(), open.table(), {.budget_bytes = budget, .from = from}));
      added += report.added;
      from = report.next;
    } while (from);
    std::uint64_t expected = 0;
    for (const auto& [key, ids] : model) {
      EXPECT_EQ(members(open, key), (std::vector<std::uint64_t>{ids.begin(), ids.end()}));
      expected += ids.size();
    }
    EXPECT_EQ(added, expected);
    EXPECT_TRUE(must(open.table().verify_all(kFindings)).empty());
  }
}

// A gap may mean lost data, so the caller has to say that it does not matter.
TEST(RolledImport, StopsAtAGap) {
  RolledTable rolled;
  rolled.segment("k", 0, 0, set_of({1}));
  rolled.segment("k", 0, 3, set_of({4}));
  expect_fault(rolled, RolledFault::kGap, rolled_segment_key(as_bytes("k"), Shard{}, 3));

  OpenTable open({});
  const auto report =
      must(import_rolled(rolled.reader(), open.table(), {.gaps = AcceptGaps::kYes}));
  EXPECT_EQ(report.gaps, 2U);
  EXPECT_EQ(members(open, "k"), (std::vector<std::uint64_t>{1, 4}));
}

TEST(RolledImport, StopsAtAGapBetweenTwoCalls) {
  RolledTable rolled;
  rolled.segment("k", 0, 0, set_of({1}));
  rolled.segment("k", 0, 2, set_of({3}));
  OpenTable open({});
  const auto first = must(import_rolled(rolled.reader(), open.table(), {.budget_bytes = 1}));
  ASSERT_TRUE(first.next);
  const auto second = import_rolled(rolled.reader(), open.table(), {.from = first.next});
  ASSERT_FALSE(second);
  EXPECT_EQ(std::get<RolledFault>(second.error().cause), RolledFault::kGap);
}

TEST(RolledImport, StopsWhereAShardDoesNotBeginWithZero) {
  RolledTable rolled;
  rolled.segment("k", 1, 1, set_of({1}));
  expect_fault(rolled, RolledFault::kGap, rolled_segment_key(as_bytes("k"), Shard{1}, 1));
}

TEST(RolledImport, TakesTheHeadOnlyIfItIsTheLast) {
  for (const std::uint16_t head : {std::uint16_t{0}, std::uint16_t{2}}) {
    RolledTable rolled;
    rolled.segment("k", 0, 0, set_of({1}));
    rolled.segment("k", 0, 1, set_of({2}));
    rolled.head("k", 0, head);
    rolled.segment("l", 0, 0, set_of({1}));
    expect_fault(rolled, RolledFault::kHeadDiffers, stats_key(as_bytes("k"), Shard{}));
    OpenTable open({});
    EXPECT_EQ(must(import_rolled(rolled.reader(), open.table(), {.gaps = AcceptGaps::kYes})).gaps,
              1U);
  }
  RolledTable empty;
  empty.head("k", 0, 0);
  expect_fault(empty, RolledFault::kHeadDiffers, stats_key(as_bytes("k"), Shard{}));
}

TEST(RolledImport, RefusesAHeadOfAnotherLength) {
  RolledTable rolled;
  rolled.segment("k", 0, 0, set_of({1}));
  const StoredKey key = stats_key(as_bytes("k"), Shard{});
  rolled.put(key, as_bytes("abc"));
  expect_fault(rolled, RolledFault::kBadHead, key, AcceptGaps::kYes);
}

TEST(RolledImport, RefusesForeignRecords) {
  for (const auto& key : {base::to_owned(segment_key(as_bytes("k"), Shard{}, Id{})),
                          base::to_owned(descriptor_key()), base::to_owned(as_bytes("no key"))}) {
    RolledTable rolled;
    rolled.put(key, as_bytes("value"));
    expect_fault(rolled, RolledFault::kForeignRecord, key, AcceptGaps::kYes);
  }
}

TEST(RolledImport, RefusesOtherForms) {
  const StoredKey key = rolled_segment_key(as_bytes("k"), Shard{}, 0);
  for (const char* const value : {"", "0200010001000000000000", "81", "00"}) {
    RolledTable rolled;
    rolled.put(key, base::from_hex(value).value());
    expect_fault(rolled, RolledFault::kBadForm, key, AcceptGaps::kYes);
  }
}

// W-11: damage is named, never an empty set.
TEST(RolledImport, RefusesDamage) {
  const StoredKey key = rolled_segment_key(as_bytes("k"), Shard{}, 0);
  const auto value =
      base::from_hex("010100000000000000000000003a3000000100000000000000100000002a00").value();
  for (std::size_t size = 1; size < value.size(); ++size) {
    RolledTable rolled;
    rolled.put(key, ByteView(value).first(size));
    OpenTable open({});
    const auto imported = import_rolled(rolled.reader(), open.table(), {});
    ASSERT_FALSE(imported) << size;
    const auto* const error = std::get_if<Error>(&imported.error().cause);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code, ErrorCode::kCorrupt);
    EXPECT_TRUE(base::equal(error->raw_key, key));
  }
}

}  // namespace
}  // namespace cadastre::bitmap
