#include "shard/hint_shards.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "shard/error_text_testing.h"
#include "shard/hexrun_testing.h"
#include "shard/hint.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/shard_arena.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/spec_from_keys.h"

namespace cadastre::shard {
namespace {

using PrefixCode = PrefixShardError::Code;

class HintShards : public testing::Test {
 protected:
  // The three helpers agree with each other and with what went in.
  static void expect_metadata(const ShardSpecRef& spec,
                              const ShardHint& hint,
                              std::string_view extra) {
    const auto metadata = decode_metadata(spec);
    ASSERT_TRUE(metadata.has_value());
    EXPECT_TRUE(metadata->hint == hint);
    EXPECT_EQ(shown(metadata->connector_extra), extra);
    EXPECT_TRUE(*decode_hint(spec) == hint);
    EXPECT_EQ(shown(*decode_connector_extra(spec)), extra);
    EXPECT_TRUE(check_hint_matches_range(spec).has_value());
    EXPECT_TRUE(validate(spec).has_value());
  }

  ShardSpecScratch scratch_;
  ShardArena arena_{4, 65536};
  base::Bytes extra_ = hex("637478");
};

// 9.1 #30
TEST_F(HintShards, ARangeShardRoundTrips) {
  const auto start = hex("61");
  const auto end = hex("7a");
  const auto spec = range_shard_ref({start, end}, extra_, scratch_);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(shown(spec->start()), "61");
  EXPECT_EQ(shown(spec->end()), "7a");
  expect_metadata(*spec, ShardHint::range(), "637478");
}

// Section 5.5: open sides are a manifest's business, not the constructor's.
TEST_F(HintShards, ARangeShardTakesOpenSides) {
  const auto key = hex("6d");
  EXPECT_TRUE(range_shard_ref({{}, {}}, {}, scratch_).has_value());
  EXPECT_TRUE(range_shard_ref({key, {}}, {}, scratch_).has_value());
  EXPECT_TRUE(range_shard_ref({{}, key}, {}, scratch_).has_value());
}

// 9.1 #30 #17
TEST_F(HintShards, APrefixShardRoundTrips) {
  const auto prefix = hex("7372632f");
  const auto spec = prefix_shard_ref(prefix, extra_, scratch_);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(shown(spec->start()), "7372632f");
  EXPECT_EQ(shown(spec->end()), "73726330");
  expect_metadata(*spec, ShardHint::prefix(prefix), "637478");
}

// 9.1 #30
TEST_F(HintShards, AManifestShardRoundTrips) {
  const auto spec = manifest_shard_ref({42, 100, 200}, extra_, scratch_);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(shown(spec->start()), "000000000000002a0000000000000064");
  EXPECT_EQ(shown(spec->end()), "000000000000002a00000000000000c8");
  expect_metadata(*spec, ShardHint::manifest({42, 100, 200}), "637478");
}

// 9.1 #30: the arena's copy is the view's, and the scratch is free at once.
TEST_F(HintShards, TheIntoFormsStoreTheSameSpec) {
  const auto start = hex("61");
  const auto prefix = hex("7372632f");
  const auto range = range_shard_into(arena_, {start, {}}, extra_, scratch_);
  const auto under = prefix_shard_into(arena_, prefix, extra_, scratch_);
  const auto rows = manifest_shard_into(arena_, {42, 100, 200}, extra_, scratch_);
  scratch_.clear();
  ASSERT_TRUE(range.has_value() && under.has_value() && rows.has_value());
  EXPECT_TRUE(arena_.view(*range) == *range_shard_ref({start, {}}, extra_, scratch_));
  EXPECT_TRUE(arena_.view(*under) == *prefix_shard_ref(prefix, extra_, scratch_));
  EXPECT_TRUE(arena_.view(*rows) == *manifest_shard_ref({42, 100, 200}, extra_, scratch_));
  expect_metadata(arena_.view(*under), ShardHint::prefix(prefix), "637478");
}

TEST_F(HintShards, TheIntoFormsTellBuildFromArena) {
  ShardArena full(1, 16);
  const auto prefix = hex("7372632f");
  const auto refused = prefix_shard_into(full, {}, {}, scratch_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().stage, IntoError<PrefixShardError>::Stage::kBuild);
  EXPECT_EQ(refused.error().build.code, PrefixCode::kEmptyPrefix);
  EXPECT_EQ(code_name(refused.error()), "empty_prefix");
  const auto no_room = prefix_shard_into(full, prefix, extra_, scratch_);
  ASSERT_FALSE(no_room.has_value());
  EXPECT_EQ(no_room.error().stage, IntoError<PrefixShardError>::Stage::kArena);
  EXPECT_EQ(full.live_specs(), 0U);
}

// 9.1 #31: prefix errors first, whatever the envelope would say.
TEST_F(HintShards, APrefixShardRefusesEmptyAllMaxAndOversizedPrefixes) {
  const auto huge = hex("(ab*20000)");
  EXPECT_EQ(prefix_shard_ref({}, huge, scratch_).error(),
            (PrefixShardError{PrefixCode::kEmptyPrefix}));
  EXPECT_EQ(prefix_shard_ref(hex("ffff"), huge, scratch_).error(),
            (PrefixShardError{PrefixCode::kNoSuccessor}));
  EXPECT_EQ(prefix_shard_ref(hex("(70*4097)"), {}, scratch_).error(),
            (PrefixShardError{PrefixCode::kPrefixTooLarge, 4097, 4096}));
  EXPECT_EQ(prefix_shard_ref(hex("(70*16380)"), huge, scratch_).error(),
            (PrefixShardError{PrefixCode::kPrefixTooLarge, 16380, 4096}));
  EXPECT_EQ(prefix_shard_ref(hex("(ff*4097)"), {}, scratch_).error(),
            (PrefixShardError{PrefixCode::kPrefixTooLarge, 4097, 4096}));
}

// 9.1 #39: up to the limit, and one byte more.
TEST_F(HintShards, RefuseOversizedMetadata) {
  const auto start = hex("61");
  const auto prefix = hex("(70*4096)");
  const SpecError one_too_many = SpecError::metadata_too_large(16385, 16384);
  EXPECT_TRUE(range_shard_ref({start, {}}, hex("(ab*16379)"), scratch_).has_value());
  EXPECT_EQ(range_shard_ref({start, {}}, hex("(ab*16380)"), scratch_).error(), one_too_many);
  EXPECT_TRUE(prefix_shard_ref(prefix, hex("(ab*12279)"), scratch_).has_value());
  EXPECT_EQ(prefix_shard_ref(prefix, hex("(ab*12280)"), scratch_).error(),
            PrefixShardError::invalid_spec(one_too_many));
  EXPECT_TRUE(manifest_shard_ref({1, 0, 1}, hex("(ab*16355)"), scratch_).has_value());
  EXPECT_EQ(manifest_shard_ref({1, 0, 1}, hex("(ab*16356)"), scratch_).error(), one_too_many);
}

// Section 5.5: metadata, then the bounds' sizes, then their order.
TEST_F(HintShards, ARangeShardRefusesInTheOrderOfTheTable) {
  const auto low = hex("61");
  const auto high = hex("7a");
  const auto wide = hex("(7a*4097)");
  const auto huge = hex("(ab*16380)");
  EXPECT_EQ(range_shard_ref({wide, low}, huge, scratch_).error(),
            SpecError::metadata_too_large(16385, 16384));
  const auto start_error = range_shard_ref({wide, wide}, {}, scratch_).error();
  EXPECT_EQ(start_error, SpecError::key_too_large(4097, 4096));
  EXPECT_EQ(start_error.which, SpecError::Bound::kStart);
  const auto end_error = range_shard_ref({low, wide}, {}, scratch_).error();
  EXPECT_EQ(end_error, SpecError::key_too_large(4097, 4096));
  EXPECT_EQ(end_error.which, SpecError::Bound::kEnd);
  EXPECT_EQ(range_shard_ref({high, low}, {}, scratch_).error(), SpecError::inverted_range(1, 1));
  EXPECT_EQ(range_shard_ref({low, low}, {}, scratch_).error(), SpecError::inverted_range(1, 1));
}

// 9.1 #40: here rows are judged before the metadata's size.
TEST_F(HintShards, AManifestShardRefusesInvertedRowsFirst) {
  const auto huge = hex("(ab*20000)");
  const SpecError inverted = SpecError::inverted_range(16, 16);
  EXPECT_EQ(manifest_shard_ref({1, 5, 5}, {}, scratch_).error(), inverted);
  EXPECT_EQ(manifest_shard_ref({1, 6, 5}, {}, scratch_).error(), inverted);
  EXPECT_EQ(manifest_shard_ref({1, 6, 5}, huge, scratch_).error(), inverted);
}

// 9.1 #18, section 4.4: the raw constructor judges rows after the metadata's size.
TEST_F(HintShards, ARawManifestRangeJudgesRowsLast) {
  const auto huge = hex("(ab*16385)");
  const auto inverted =
      shard_spec_from_manifest_range_ref({1, 6, 5}, {}, scratch_.start, scratch_.end);
  EXPECT_EQ(inverted.error(), SpecError::inverted_range(16, 16));
  const auto both =
      shard_spec_from_manifest_range_ref({1, 6, 5}, huge, scratch_.start, scratch_.end);
  EXPECT_EQ(both.error(), SpecError::metadata_too_large(16385, 16384));
}

// 9.1 #17, section 4.4: a raw prefix keeps the caller's metadata as it is.
TEST_F(HintShards, ARawPrefixRangeKeepsTheMetadata) {
  const auto prefix = hex("6162ff");
  const auto spec = shard_spec_from_prefix_ref(prefix, extra_, scratch_.end);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(shown(spec->start()), "6162ff");
  EXPECT_EQ(shown(spec->end()), "6163");
  EXPECT_EQ(shown(spec->metadata()), "637478");
  const auto stored = shard_spec_from_prefix_into(arena_, prefix, extra_, scratch_.end);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(shown(arena_.view(*stored).end()), "6163");
  EXPECT_EQ(shard_spec_from_prefix_ref(prefix, hex("(ab*16385)"), scratch_.end).error(),
            PrefixShardError::invalid_spec(SpecError::metadata_too_large(16385, 16384)));
}

// 9.1 #19 #20
TEST(PrefixShardErrors, TellTheirNumbersAndNoKeyBytes) {
  ShardSpecScratch scratch;
  std::string secret;
  while (secret.size() <= kMaxKeySize)
    secret += "hunter2/";
  const auto too_large = prefix_shard_ref(base::as_bytes(secret), {}, scratch);
  ASSERT_FALSE(too_large.has_value());
  const std::string text = text_of(too_large.error());
  EXPECT_NE(text.find("4104"), std::string::npos) << text;
  EXPECT_NE(text.find("4096"), std::string::npos) << text;
  EXPECT_EQ(text.find("hunter2"), std::string::npos) << text;

  const SpecError inner = SpecError::metadata_too_large(16385, 16384);
  const auto wrapped = PrefixShardError::invalid_spec(inner);
  EXPECT_EQ(wrapped.spec_error, inner);
  EXPECT_EQ(code_name(wrapped), "metadata_too_large");
  EXPECT_EQ(text_of(wrapped), text_of(inner));
  EXPECT_NE(text_of(wrapped).find("16385"), std::string::npos);

  EXPECT_FALSE(text_of(PrefixShardError{PrefixCode::kEmptyPrefix}).empty());
  EXPECT_FALSE(text_of(PrefixShardError{PrefixCode::kNoSuccessor}).empty());
  EXPECT_EQ(code_name(PrefixShardError{PrefixCode::kEmptyPrefix}), "empty_prefix");
  EXPECT_EQ(code_name(PrefixShardError{PrefixCode::kNoSuccessor}), "no_successor");
}

TEST(SpecErrors, TellTheirNumbersAndTheBound) {
  EXPECT_EQ(text_of(SpecError::key_too_large(4097, 4096, SpecError::Bound::kStart)),
            "start key of 4097 bytes exceeds the limit of 4096");
  EXPECT_EQ(text_of(SpecError::key_too_large(4097, 4096, SpecError::Bound::kEnd)),
            "end key of 4097 bytes exceeds the limit of 4096");
  EXPECT_EQ(text_of(SpecError::inverted_range(3, 5)), "start (3 bytes) is not below end (5 bytes)");
}

}  // namespace
}  // namespace cadastre::shard
