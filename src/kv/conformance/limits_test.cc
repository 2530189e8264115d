// Limits of keys, values and room; key spaces and their names.

#include "kv/limits.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "kv/conformance/suite_testing.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {
namespace {

TEST_P(Conformance, AKeyHasOneTo511Bytes) {  // B-18
  const std::string longest(kKeyBytesMax, 'k');
  const std::string too_long(kKeyBytesMax + 1, 'k');
  const auto txn = write();
  Writer& writer = txn->writer(one());
  EXPECT_EQ(writer.limits().key_bytes_max, 511U);
  EXPECT_EQ(store().limits().key_bytes_max, 511U);
  for (const auto& [key, code] : {std::pair{too_long, ErrorCode::kKeyTooLong},
                                  std::pair{std::string(), ErrorCode::kInvalidKey}}) {
    EXPECT_EQ(shown(writer.put(base::as_bytes(key), {})), shown(code));
    EXPECT_EQ(get(writer, key), shown(code));
    EXPECT_EQ(shown(writer.erase(base::as_bytes(key))), shown(code));
    const auto reader = read();
    EXPECT_EQ(get(reader->reader(one()), key), shown(code));
  }
  EXPECT_EQ(writer.mutation_count(), 0U);  // Nothing was attempted, and the transaction goes on.
  put(writer, {longest, "v"});
  ASSERT_EQ(shown(txn->commit()), "done");
  EXPECT_EQ(committed(), (Texts{longest + "=v"}));
}

TEST_P(Conformance, AValueHasItsLimit) {  // B-19
  const auto txn = write();
  Writer& writer = txn->writer(one());
  const std::size_t value_bytes_max = writer.limits().value_bytes_max;
  const base::Bytes largest(value_bytes_max, std::byte{7});
  const base::Bytes too_large(value_bytes_max + 1, std::byte{7});
  EXPECT_EQ(shown(writer.put(base::as_bytes("a"), too_large)), shown(ErrorCode::kValueTooLarge));
  EXPECT_EQ(writer.mutation_count(), 0U);
  ASSERT_EQ(shown(writer.put(base::as_bytes("a"), largest)), "done");
  ASSERT_EQ(shown(txn->commit()), "done");
  const auto reader = read();
  EXPECT_TRUE(base::equal(reader->reader(one()).get(base::as_bytes("a")).value().value(), largest));
}

TEST_P(Conformance, ValuesOfEverySizeComeBack) {  // Around what fits a leaf and whole pages (B-19).
  const std::vector<std::size_t> sizes = {0,      1,      2'000,  2'028,    2'029, 2'030,
                                          2'031,  4'079,  4'080,  4'081,    8'176, 8'225,
                                          16'368, 16'369, 65'520, 1'048'560};
  const auto value_of = [](std::size_t size) {
    return std::string(size, static_cast<char>('a' + size % 26));
  };
  const auto txn = write();
  for (const std::size_t size : sizes)
    put(txn->writer(one()), {std::to_string(size), value_of(size)});
  ASSERT_EQ(shown(txn->commit()), "done");
  const auto reader = read();
  for (const std::size_t size : sizes)
    EXPECT_TRUE(get(reader->reader(one()), std::to_string(size)) == value_of(size)) << size;
}

TEST_P(Conformance, OneTransactionSpansSeveralSpaces) {
  const SpaceId two = store().open_space("two").value();
  EXPECT_NE(one(), two);
  {
    const auto txn = write();
    put(txn->writer(one()), {"k", "1"});
    put(txn->writer(two), {"k", "2"});
    EXPECT_EQ(get(txn->reader(one()), "k"), "1");
    EXPECT_EQ(get(txn->reader(two), "k"), "2");
    txn->abort();
  }
  const auto reader = read();
  EXPECT_EQ(get(reader->reader(two), "k"), "nothing");
  {
    const auto txn = write();
    put(txn->writer(one()), {"k", "1"});
    put(txn->writer(two), {"k", "2"});
    ASSERT_EQ(shown(txn->commit()), "done");
  }
  EXPECT_EQ(get(reader->reader(one()), "k"), "nothing");
  const auto later = read();
  EXPECT_EQ(get(later->reader(one()), "k"), "1");
  EXPECT_EQ(get(later->reader(two), "k"), "2");
}

TEST_P(Conformance, ASpaceMadeLaterIsEmpty) {
  const auto early = read();
  const SpaceId two = store().open_space("two").value();
  {
    const auto txn = write();
    put(txn->writer(two), {"k", "2"});
    ASSERT_EQ(shown(txn->commit()), "done");
  }
  EXPECT_EQ(get(early->reader(two), "k"), "nothing");
  EXPECT_EQ(get(early->reader(two), ""), shown(ErrorCode::kInvalidKey));
  const auto cursor = early->reader(two).cursor().value();
  EXPECT_EQ(shown(cursor->next()), "nothing");
  EXPECT_EQ(shown(cursor->prev()), "nothing");
  EXPECT_EQ(shown(cursor->seek_floor(base::as_bytes("z"))), "nothing");
  EXPECT_EQ(shown(cursor->seek_ceiling(base::as_bytes("a"))), "nothing");
  const auto late = read();
  EXPECT_EQ(get(late->reader(two), "k"), "2");
}

TEST_P(Conformance, SpacesHaveNames) {
  const SpaceId two = store().open_space("two").value();
  EXPECT_EQ(store().open_space("two"), two);
  EXPECT_EQ(store().find_space("two"), two);
  EXPECT_FALSE(store().find_space("three"));
  ASSERT_TRUE(store().open_space(std::string(kSpaceNameBytesMax, 'n')));
  EXPECT_EQ(store().space_names(), (Texts{std::string(kSpaceNameBytesMax, 'n'), "one", "two"}));
  for (const std::string& name :
       {std::string(), std::string(kSpaceNameBytesMax + 1, 'n'), std::string("a\0b", 3)})
    EXPECT_EQ(store().open_space(name).error(), Error{ErrorCode::kInvalidName});
  EXPECT_EQ(store().space_names().size(), 3U);
}

TEST_P(Conformance, SpacesAreBounded) {
  open({.spaces_max = 2});
  ASSERT_TRUE(store().open_space("two"));
  EXPECT_EQ(store().open_space("three").error().code, ErrorCode::kTooManySpaces);
  EXPECT_EQ(store().space_names(), (Texts{"one", "two"}));
  commit({{"a", "1"}});  // The refusal left nothing behind.
  EXPECT_EQ(committed(), (Texts{"a=1"}));
}

// T-C5: full, a clean abort, larger, and the same calls succeed.
TEST_P(Conformance, AFullStoreGrows) {
  constexpr std::uint64_t kSmall = 256U << 10;
  open({.capacity_bytes = kSmall, .capacity_bytes_max = 4 * kSmall});
  commit({{"a", "1"}});
  const std::string value(1'000, 'v');
  int puts = 0;
  {
    const auto txn = write();
    Writer& writer = txn->writer(one());
    const auto cursor = writer.cursor().value();
    Result<void, Error> answer;
    for (; answer; ++puts)
      answer = writer.put(base::as_bytes("k" + std::to_string(puts)), base::as_bytes(value));
    EXPECT_EQ(answer.error().code, ErrorCode::kMapFull);
    EXPECT_EQ(get(writer, "a"), shown(ErrorCode::kEnded));
    EXPECT_EQ(shown(writer.put(base::as_bytes("b"), {})), shown(ErrorCode::kEnded));
    EXPECT_EQ(shown(cursor->next()), shown(ErrorCode::kEnded));
    EXPECT_EQ(store().grow(OpenTransactions::kRefuse).error(), Error{ErrorCode::kBusy});
    EXPECT_EQ(shown(txn->commit()), shown(ErrorCode::kEnded));
  }
  EXPECT_EQ(committed(), (Texts{"a=1"}));
  {
    const auto reader = read();
    EXPECT_EQ(store().grow(OpenTransactions::kRefuse).error(), Error{ErrorCode::kBusy});
  }
  EXPECT_EQ(store().grow(OpenTransactions::kRefuse), 2 * kSmall);
  EXPECT_EQ(store().stats().capacity_bytes, 2 * kSmall);
  EXPECT_EQ(committed(), (Texts{"a=1"}));
  const auto txn = write();
  for (int i = 0; i < puts; ++i)
    put(txn->writer(one()), {"k" + std::to_string(i), value});
  EXPECT_EQ(shown(txn->commit()), "done");
  EXPECT_EQ(committed().size(), static_cast<std::size_t>(puts) + 1);
}

TEST_P(Conformance, GrowthIsBounded) {
  constexpr std::uint64_t kSmall = 64U << 10;
  open({.capacity_bytes = kSmall, .capacity_bytes_max = 3 * kSmall});
  EXPECT_EQ(store().grow(OpenTransactions::kWait), 2 * kSmall);
  EXPECT_EQ(store().grow(OpenTransactions::kWait), 3 * kSmall);
  EXPECT_EQ(store().grow(OpenTransactions::kWait).error(), Error{ErrorCode::kMapFull});
  EXPECT_EQ(store().stats().capacity_bytes_max, 3 * kSmall);
  commit({{"a", "1"}});
  EXPECT_EQ(committed(), (Texts{"a=1"}));
}

TEST_P(Conformance, UsedBytesGrowWithTheData) {
  const std::uint64_t before = store().stats().used_bytes;
  commit({{"a", std::string(100'000, 'v')}});
  EXPECT_GE(store().stats().used_bytes, before + 100'000);
  EXPECT_TRUE(store().sync());
}

}  // namespace
}  // namespace cadastre::kv::conformance
