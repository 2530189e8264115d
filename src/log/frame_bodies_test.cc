#include "log/frame_bodies.h"

#include <string>

#include <gtest/gtest.h>

#include "log/frame_limits.h"

namespace cadastre::log {
namespace {

TEST(SnapshotReport, HasOneForm) {  // L-75
  const SnapshotReport report{Index{258}, true};
  const base::Bytes bytes = encode_snapshot_report(report);
  EXPECT_EQ(base::to_hex(bytes), "020100000000000001");
  EXPECT_EQ(decode_snapshot_report(bytes), report);
  for (const char* bad : {"", "0201000000000000", "020100000000000002", "02010000000000000100"})
    EXPECT_FALSE(decode_snapshot_report(*base::from_hex(bad))) << bad;
}

TEST(AddressHint, HasOneForm) {  // L-69
  const NodeAddress address{"b:1", "c"};
  const base::Bytes bytes = encode_address_hint(address);
  EXPECT_EQ(base::to_hex(bytes), "0300623a31010063");
  EXPECT_EQ(decode_address_hint(bytes), address);
  const NodeAddress lone{"b:1", ""};
  EXPECT_EQ(decode_address_hint(encode_address_hint(lone)), lone);
}

TEST(AddressHint, IsRefusedIfItIsNoAddress) {  // L-69
  const std::string longest(kAddressBytesMax, 'a');
  EXPECT_TRUE(is_address(longest));
  EXPECT_FALSE(is_address(longest + "a"));
  for (const char* bad : {
           "",                    // Nothing.
           "00000000",            // No peer address.
           "0300623a31",          // Half of it.
           "0300623a310100",      // A text that is cut short.
           "0300623a3101006300",  // More than it says.
           "0300620a31010063",    // A line break.
           "0300627f31010063",    // Not visible.
           "030062ff31010063",    // Not ASCII.
       })
    EXPECT_FALSE(decode_address_hint(*base::from_hex(bad))) << bad;
}

TEST(NotHere, HasOneForm) {  // L-68
  EXPECT_EQ(base::to_hex(encode_not_here(Index{7})), "0700000000000000");
  EXPECT_EQ(decode_not_here(encode_not_here(Index{7})), Index{7});
  EXPECT_FALSE(decode_not_here({}));
  EXPECT_FALSE(decode_not_here(*base::from_hex("070000000000000000")));
}

}  // namespace
}  // namespace cadastre::log
