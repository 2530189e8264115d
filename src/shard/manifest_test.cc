#include "shard/manifest.h"

#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "shard/bytes_testing.h"
#include "shard/cursor.h"
#include "shard/error_text_testing.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"

namespace cadastre::shard {
namespace {

using testing::operator""_b;
using testing::repeated;
using Code = ManifestError::Code;

InitialShardInput row(std::uint64_t id,
                      ByteView start,
                      ByteView end,
                      const CursorUpdate& cursor = CursorUpdate::initial()) {
  return {ShardId::from_raw(id), ShardSpecRef::unchecked(start, end), cursor};
}

Result<void, ManifestError> check(const std::vector<InitialShardInput>& rows) {
  std::vector<std::uint32_t> scratch(rows.size());
  return validate_manifest(rows, scratch);
}

ManifestError refused(const std::vector<InitialShardInput>& rows) {
  const auto result = check(rows);
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? ManifestError{} : result.error();
}

TEST(ValidateManifest, AcceptsGapsAndAnyOrder) {
  EXPECT_TRUE(check({row(0, "a"_b, "b"_b)}));
  EXPECT_TRUE(check({row(5, "x"_b, "z"_b), row(1, "a"_b, "b"_b), row(3, "b"_b, "c"_b)}));
}

TEST(ValidateManifest, CountsBeforeItLooksAtAnyEntry) {
  const std::vector<InitialShardInput> rows(kMaxInitialShards + 1,
                                            row(kDerivedShardBit, ""_b, ""_b));
  const auto error = refused(rows);
  EXPECT_EQ(error.code, Code::kTooManyShards);
  EXPECT_EQ(error.size, 10001U);
  EXPECT_EQ(error.max, 10000U);
  EXPECT_EQ(refused({}).code, Code::kEmpty);
}

TEST(ValidateManifest, RefusesDerivedIdsBeforeDuplicates) {
  const auto error =
      refused({row(1, "a"_b, "b"_b), row(1, "a"_b, "b"_b), row(kDerivedShardBit | 9, "a"_b, "b"_b),
               row(kDerivedShardBit | 2, "a"_b, "b"_b)});
  EXPECT_EQ(error.code, Code::kDerivedShardId);
  EXPECT_EQ(error.shard.raw(), kDerivedShardBit | 9) << "the first in input order";
}

TEST(ValidateManifest, NamesTheSmallestDuplicatedIdBeforeOpenRanges) {
  const auto error = refused(
      {row(9, ""_b, "b"_b), row(9, "a"_b, "b"_b), row(4, "a"_b, "b"_b), row(4, "a"_b, "b"_b)});
  EXPECT_EQ(error.code, Code::kDuplicateIds);
  EXPECT_EQ(error.shard.raw(), 4U);
}

TEST(ValidateManifest, RefusesOpenRangesBeforeInvalidSpecs) {
  const auto error = refused({row(0, "b"_b, "a"_b), row(7, "c"_b, ""_b), row(3, ""_b, "d"_b)});
  EXPECT_EQ(error.code, Code::kUnboundedRange);
  EXPECT_EQ(error.shard.raw(), 7U) << "the first in input order";
}

TEST(ValidateManifest, CarriesTheSpecError) {
  const auto big = repeated('m', kMaxMetadataSize + 1);
  auto bad = row(2, "a"_b, "b"_b);
  bad.spec = ShardSpecRef::unchecked("a"_b, "b"_b, big);
  const auto error = refused({row(0, "x"_b, "y"_b), bad, row(3, "z"_b, "y"_b)});
  EXPECT_EQ(error.code, Code::kInvalidSpec);
  EXPECT_EQ(error.shard.raw(), 2U);
  EXPECT_EQ(error.spec_error, SpecError::metadata_too_large(16385, 16384));
  EXPECT_EQ(text_of(error), "shard 2: metadata of 16385 bytes exceeds the limit of 16384");
}

TEST(ValidateManifest, NamesTheFirstOverlappingNeighboursByStart) {
  const auto error = refused({row(8, "m"_b, "p"_b), row(2, "a"_b, "n"_b), row(5, "n"_b, "o"_b)});
  EXPECT_EQ(error.code, Code::kOverlappingRanges);
  EXPECT_EQ(error.shard.raw(), 2U);
  EXPECT_EQ(error.other.raw(), 8U);
  EXPECT_EQ(text_of(error), "shards 2 and 8 overlap");
}

TEST(ValidateManifest, BreaksTiesOfEqualStartsByAscendingId) {
  const auto error = refused({row(9, "a"_b, "c"_b), row(4, "a"_b, "b"_b)});
  EXPECT_EQ(error.shard.raw(), 4U);
  EXPECT_EQ(error.other.raw(), 9U);
}

TEST(ValidateManifest, ChecksCursorSizesBeforeCursorBounds) {
  const auto big_key = repeated('z', kMaxKeySize + 1);
  const auto big_token = repeated('t', kMaxTokenSize + 1);
  const auto outside = row(0, "a"_b, "b"_b, CursorUpdate::make("x"_b));
  auto error = refused({outside, row(1, "c"_b, "d"_b, CursorUpdate::make(big_key, big_token))});
  EXPECT_EQ(error.code, Code::kCursorKeyTooLarge);
  EXPECT_EQ(error.shard.raw(), 1U);
  EXPECT_EQ(error.size, 4097U);
  error = refused({outside, row(1, "c"_b, "d"_b, CursorUpdate::make("c"_b, big_token))});
  EXPECT_EQ(error.code, Code::kCursorTokenTooLarge);
  EXPECT_EQ(error.size, 16385U);
  error = refused({row(1, "c"_b, "d"_b, CursorUpdate::make("c"_b)), outside});
  EXPECT_EQ(error.code, Code::kCursorOutOfBounds);
  EXPECT_EQ(error.shard.raw(), 0U);
}

TEST(ValidateManifestDeathTest, NeedsScratchForEveryRow) {
  const std::vector<InitialShardInput> rows = {row(0, "a"_b, "b"_b), row(1, "b"_b, "c"_b)};
  std::vector<std::uint32_t> scratch(1);
  EXPECT_DEATH(std::ignore = validate_manifest(rows, scratch), "one index for each row");
}

}  // namespace
}  // namespace cadastre::shard
