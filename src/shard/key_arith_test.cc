#include "shard/key_arith.h"

#include <csignal>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "shard/hexrun_testing.h"
#include "shard/key_buf.h"
#include "shard/limits.h"

namespace cadastre::shard {
namespace {

// 9.1 #10
TEST(PrefixSuccessor, DropsTheTrailingRunBeforeItAddsOne) {
  struct Case {
    std::string_view what;
    std::string_view prefix;
    std::string_view result;
  };
  const std::vector<Case> cases = {
      {"the last byte goes up", "616263", "616264"},
      {"a trailing ff is dropped, not carried into a zero", "6162ff", "6163"},
      {"so is a whole run", "61ffff", "62"},
      {"an ff in the middle stays", "61ff62", "61ff63"},
      {"a byte at the sign bit goes up unsigned", "7f", "80"},
      {"at the size limit", "(50*4096)", "(50*4095)51"},
      {"a run down to one byte", "61(ff*4095)", "62"},
  };
  for (const auto& row : cases) {
    KeyBuf out;
    EXPECT_EQ(shown(prefix_successor(hex(row.prefix), out)), shown(hex(row.result))) << row.what;
  }
}

// 9.1 #10
TEST(PrefixSuccessor, IsAbsentForEmptyAllMaxAndOversizedPrefixes) {
  KeyBuf out;
  for (const std::string_view prefix : {"", "ff", "ffffff", "(ff*4096)", "(61*4097)", "(61*9000)"})
    EXPECT_EQ(prefix_successor(hex(prefix), out), std::nullopt) << prefix;
}

// 9.1 #12
TEST(KeySuccessor, AppendsBelowTheLimitIncrementsAtItAndEndsAboveIt) {
  KeyBuf out;
  EXPECT_EQ(shown(key_successor(hex("(ff*4095)"), out)), shown(hex("(ff*4095)00")));
  EXPECT_EQ(shown(key_successor(hex("(61*4096)"), out)), shown(hex("(61*4095)62")));
  EXPECT_EQ(shown(key_successor(hex("(61*4095)ff"), out)), shown(hex("(61*4094)62")));
  EXPECT_EQ(key_successor(hex("(ff*4096)"), out), std::nullopt);
  EXPECT_EQ(key_successor(hex("(61*4097)"), out), std::nullopt);
}

// 9.1 #74
TEST(KeySuccessor, WorksInPlace) {
  KeyBuf buf;
  buf.assign(hex("6162"));
  EXPECT_EQ(shown(key_successor(buf.view(), buf)), "616200");
  EXPECT_EQ(shown(key_successor(buf.view(), buf)), "61620000");
  buf.assign(hex("(61*4095)fe"));
  EXPECT_EQ(shown(key_successor(buf.view(), buf)), shown(hex("(61*4095)ff")));
  EXPECT_EQ(shown(key_successor(buf.view(), buf)), shown(hex("(61*4094)62")));
}

// 9.1 #74
TEST(PrefixSuccessor, WorksInPlace) {
  KeyBuf buf;
  buf.assign(hex("6161ffff"));
  EXPECT_EQ(shown(prefix_successor(buf.view(), buf)), "6162");
  EXPECT_EQ(shown(buf.view()), "6162");
}

// 9.1 #74: a buffer whose whole storage is the input's neighbour is not an overlap.
TEST(ByteMidpoint, TakesInputsFromOtherBuffers) {
  KeyBuf a;
  KeyBuf b;
  KeyBuf out;
  a.assign(hex("61"));
  b.assign(hex("7a"));
  EXPECT_EQ(shown(byte_midpoint(a.view(), b.view(), out)), "6d");
  EXPECT_EQ(shown(a.view()), "61");
  EXPECT_EQ(shown(b.view()), "7a");
}

// 9.1 #75
TEST(KeyArithmetic, TakesNullViewsForTheEmptyKey) {
  const base::ByteView null;
  ASSERT_EQ(null.data(), nullptr);
  KeyBuf out;
  EXPECT_EQ(prefix_successor(null, out), std::nullopt);
  EXPECT_EQ(shown(key_successor(null, out)), "00");
  EXPECT_EQ(shown(byte_midpoint(null, hex("ff"), out)), "7f");
  EXPECT_EQ(byte_midpoint(null, null, out), std::nullopt);
  EXPECT_EQ(byte_midpoint(hex("61"), null, out), std::nullopt);
  EXPECT_EQ(shown(balanced_split_point(null, null, out)), "80");
  EXPECT_EQ(shown(balanced_split_point(null, hex("80"), out)), "40");
  EXPECT_EQ(shown(balanced_split_point(hex("ff"), null, out)), "ff80");
  EXPECT_EQ(shown(interpolate_key({null, null}, {1, 4}, out)), "40");
}

// 9.1 #75
TEST(KeyArithmetic, OrdersBytesUnsigned) {
  KeyBuf out;
  EXPECT_EQ(shown(byte_midpoint(hex("7f"), hex("81"), out)), "80");
  EXPECT_EQ(byte_midpoint(hex("81"), hex("7f"), out), std::nullopt);
  EXPECT_EQ(shown(balanced_split_point(hex("00"), hex("ff"), out)), "7f80");
}

// 9.1 #16
TEST(ByteMidpoint, CarriesOutOfTheTopByte) {
  KeyBuf out;
  EXPECT_EQ(shown(byte_midpoint(hex("40"), hex("c0"), out)), "80");
  EXPECT_EQ(shown(byte_midpoint(hex("80"), hex("ff"), out)), "bf");
  EXPECT_EQ(shown(byte_midpoint(hex("fffffffffffffffe00"), hex("ffffffffffffffff"), out)),
            "fffffffffffffffe80");
}

// 9.1 #15: words of eight bytes are walked from the right; every alignment gets its turn.
TEST(ByteMidpoint, CarriesAcrossWordsAtEveryWidth) {
  for (std::size_t width = 2; width < 40; ++width) {
    base::Bytes below(width, std::byte{0xff});  // 61ff...ff
    base::Bytes above(width, std::byte{0x00});  // 6200...01
    base::Bytes middle(width, std::byte{0x00});
    below.front() = std::byte{0x61};
    above.front() = std::byte{0x62};
    above.back() = std::byte{0x01};
    middle.front() = std::byte{0x62};
    KeyBuf out;
    EXPECT_EQ(shown(byte_midpoint(below, above, out)), shown(middle)) << width;
  }
}

// 9.1 #14
TEST(ByteMidpoint, RefusesOversizedInputsAndStaysWithinTheLimit) {
  KeyBuf out;
  EXPECT_EQ(byte_midpoint(hex("(40*4097)"), hex("c0"), out), std::nullopt);
  EXPECT_EQ(byte_midpoint(hex("40"), hex("(c0*4097)"), out), std::nullopt);
  const auto middle = byte_midpoint(hex("(61*4095)00"), hex("(61*4095)02"), out);
  ASSERT_TRUE(middle.has_value());
  EXPECT_EQ(middle->size(), kMaxKeySize);
  EXPECT_EQ(byte_midpoint(hex("(61*4095)00"), hex("(61*4095)01"), out), std::nullopt);
}

TEST(InterpolateKey, RefusesPositionsOutsideThePlan) {
  KeyBuf out;
  const auto start = hex("61");
  const auto end = hex("62");
  for (const CutPosition cut : {CutPosition{0, 4}, CutPosition{4, 4}, CutPosition{5, 4},
                                CutPosition{1, 1}, CutPosition{0, 0}, CutPosition{1, 0}}) {
    EXPECT_EQ(interpolate_key({start, end}, cut, out), std::nullopt)
        << cut.index << " of " << cut.count;
  }
}

// 9.1 #74
TEST(KeyArithmeticDeathTest, AbortsWhereAnInputOverlapsTheResult) {
  if constexpr (base::kSlowChecks) {
    KeyBuf buf;
    buf.assign(hex("616263"));
    const auto other = hex("70");
    const auto aborts = testing::KilledBySignal(SIGABRT);
    const base::ByteView tail = buf.view().subspan(1);
    EXPECT_EXIT((void)prefix_successor(tail, buf), aborts, "does not overlap");
    EXPECT_EXIT((void)key_successor(tail, buf), aborts, "does not overlap");
    EXPECT_EXIT((void)byte_midpoint(buf.view(), other, buf), aborts, "do not overlap");
    EXPECT_EXIT((void)byte_midpoint(other, tail, buf), aborts, "do not overlap");
    EXPECT_EXIT((void)balanced_split_point(buf.view(), other, buf), aborts, "do not overlap");
    EXPECT_EXIT((void)balanced_split_point({}, tail, buf), aborts, "do not overlap");
    EXPECT_EXIT((void)interpolate_key({buf.view(), {}}, {1, 2}, buf), aborts, "do not overlap");
    EXPECT_EXIT((void)interpolate_key({{}, tail}, {1, 2}, buf), aborts, "do not overlap");
  } else {
    KeyBuf buf;
    buf.assign(hex("616263"));
    EXPECT_EQ(shown(key_successor(buf.view(), buf)), "61626300");  // Not looked for: no abort.
  }
}

}  // namespace
}  // namespace cadastre::shard
