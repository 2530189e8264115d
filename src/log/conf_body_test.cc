#include "log/conf_body.h"

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

TEST(ConfBody, BothPartsComeBack) {
  for (const auto& [change, context] :
       {std::pair{"change", "context"}, std::pair{"", ""}, std::pair{"", "context"}}) {
    const Body body = join_conf_body({base::as_bytes(change), base::as_bytes(context)});
    const auto parts = split_conf_body(body.bytes());
    ASSERT_TRUE(parts);
    EXPECT_EQ(base::as_text(parts->change), change);
    EXPECT_EQ(base::as_text(parts->context), context);
  }
}

TEST(ConfBody, WhatIsTooShortForWhatItSaysIsRefused) {
  const Body body = join_conf_body({base::as_bytes("change"), {}});
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(split_conf_body(body.bytes().first(size))) << size;
}

}  // namespace
}  // namespace cadastre::log
