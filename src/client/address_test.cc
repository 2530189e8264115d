#include "client/address.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "client/limits.h"

namespace cadastre::client {
namespace {

TEST(Address, IsAHostAndAPort) {
  for (const std::string_view text : {"localhost:1", "10.0.0.1:65535", "[::1]:7420", "a.b:80"})
    EXPECT_TRUE(is_address(text)) << text;
  for (const std::string_view text : {"", "host", "host:", ":1", "host:0", "host:65536", "host:x",
                                      "host:1x", "::1:80", "[]:80", "a/b:80", "host:-1", "a b:1"})
    EXPECT_FALSE(is_address(text)) << text;
}

TEST(Address, OfAClusterIsSeveral) {
  using Several = std::vector<std::string_view>;
  EXPECT_EQ(addresses_of("a:1"), (Several{"a:1"}));
  EXPECT_EQ(addresses_of("a:1,[::1]:2,c:3"), (Several{"a:1", "[::1]:2", "c:3"}));
  for (const std::string_view text : {"", ",", "a:1,", ",a:1", "a:1,b", "a:1, b:2"})
    EXPECT_TRUE(addresses_of(text).empty()) << text;
  std::string many = "a:1";
  for (std::size_t i = 1; i < kAddressesMax; ++i)
    many += ",a:1";
  EXPECT_EQ(addresses_of(many).size(), kAddressesMax);
  EXPECT_TRUE(addresses_of(many + ",a:1").empty());
}

TEST(Address, SaysWhetherItStaysHere) {
  for (const std::string_view text : {"localhost:1", "127.0.0.1:1", "127.9.8.7:1", "[::1]:1"})
    EXPECT_TRUE(is_loopback(text)) << text;
  for (const std::string_view text :
       {"host:1", "10.0.0.1:1", "127.example.org:1", "[::2]:1", "localhost.example.org:1"})
    EXPECT_FALSE(is_loopback(text)) << text;
}

}  // namespace
}  // namespace cadastre::client
