#include "client/address.h"

#include <string_view>

#include <gtest/gtest.h>

namespace cadastre::client {
namespace {

TEST(Address, IsAHostAndAPort) {
  for (const std::string_view text : {"localhost:1", "10.0.0.1:65535", "[::1]:7420", "a.b:80"})
    EXPECT_TRUE(is_address(text)) << text;
  for (const std::string_view text : {"", "host", "host:", ":1", "host:0", "host:65536", "host:x",
                                      "host:1x", "::1:80", "[]:80", "a/b:80", "host:-1", "a b:1"})
    EXPECT_FALSE(is_address(text)) << text;
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
