#include "server/listen_address.h"

#include <string_view>

#include <gtest/gtest.h>

#include "server/start_error.h"

namespace cadastre::server {
namespace {

TEST(ListenAddress, IsAHostAndAPort) {
  EXPECT_EQ(*parse_listen_address("127.0.0.1:7000"), (ListenAddress{"127.0.0.1", 7000}));
  EXPECT_EQ(*parse_listen_address("[::1]:0"), (ListenAddress{"::1", 0}));
  EXPECT_EQ(to_text({"::1", 5}), "[::1]:5");
  for (const std::string_view text :
       {"", ":", "host", "host:", ":7", "::1:7", "h:65536", "h:-1", "h:7x", "h: 7"})
    EXPECT_FALSE(parse_listen_address(text)) << text;
}

TEST(ListenAddress, OtherThanLoopbackNeedsTlsOrAWord) {
  for (const char* const host : {"127.0.0.1", "127.9.9.9", "::1", "localhost"})
    EXPECT_TRUE(may_listen({host, 1}, Transport::kPlain, PlainPolicy::kLoopbackOnly)) << host;
  for (const char* const host :
       {"0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "example.org", "127.0.0.1.example.org"}) {
    const auto plain = may_listen({host, 1}, Transport::kPlain, PlainPolicy::kLoopbackOnly);
    ASSERT_FALSE(plain) << host;
    EXPECT_EQ(plain.error().code, StartError::kNotLoopback);
    EXPECT_TRUE(may_listen({host, 1}, Transport::kTls, PlainPolicy::kLoopbackOnly)) << host;
    EXPECT_TRUE(may_listen({host, 1}, Transport::kPlain, PlainPolicy::kAnywhere)) << host;
  }
}

}  // namespace
}  // namespace cadastre::server
