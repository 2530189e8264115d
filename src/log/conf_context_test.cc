#include "log/conf_context.h"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cadastre::log {
namespace {

ConfContext some() {
  return {.recovered = true,
          .addresses = {{NodeId{4}, {"h4:2", "h4:1"}}, {NodeId{9}, {"h9:2", ""}}},
          .removed = {NodeId{2}, NodeId{7}}};
}

TEST(ConfContext, HasTheBytesOfItsTable) {  // L-91: they stay as they are
  EXPECT_EQ(base::to_hex(encode_conf_context(some())),
            "0100"
            "0100"
            "0200"
            "0200"
            "0400000000000000"
            "0c00"
            "0400"
            "68343a32"
            "0400"
            "68343a31"
            "0900000000000000"
            "0800"
            "0400"
            "68393a32"
            "0000"
            "0200000000000000"
            "0700000000000000");
  EXPECT_EQ(decode_conf_context(encode_conf_context(some())), some());
}

TEST(ConfContext, NoBytesAreAGroupThatNeverChanged) {
  EXPECT_EQ(decode_conf_context({}), ConfContext{});
  EXPECT_EQ(context_of({}), ConfContext{});
}

TEST(ConfContext, KnowsWhoHasLeft) {  // L-90
  EXPECT_TRUE(some().has_left(NodeId{7}));
  EXPECT_FALSE(some().has_left(NodeId{4}));
}

TEST(ConfContext, RefusesEveryPrefixAndWhatItDoesNotKnow) {
  const base::Bytes whole = encode_conf_context(some());
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(decode_conf_context(base::ByteView{whole}.first(bytes))) << bytes;
  const auto changed = [&](std::size_t at, unsigned char to) {
    base::Bytes bytes = whole;
    bytes[at] = std::byte{to};
    return decode_conf_context(bytes);
  };
  EXPECT_FALSE(changed(0, 2));                 // Version.
  EXPECT_FALSE(changed(2, 3));                 // A flag.
  EXPECT_FALSE(changed(8, 9));                 // The same node twice.
  EXPECT_FALSE(changed(8, 0));                 // No node.
  EXPECT_FALSE(changed(whole.size() - 8, 1));  // Removed nodes out of order.
  base::Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_conf_context(longer));
}

}  // namespace
}  // namespace cadastre::log
