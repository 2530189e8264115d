#include "node/coordination.h"

#include <gtest/gtest.h>

namespace cadastre::node {
namespace {

TEST(OpenCoordination, OpensTheMemoryBackend) {
  EXPECT_TRUE(open_coordination("memory", {}).has_value());
}

TEST(OpenCoordination, SaysWhatItCannotOpen) {
  for (const char* name : {"etcd:127.0.0.1:2379", "127.0.0.1:7000"}) {
    const auto opened = open_coordination(name, {});
    ASSERT_FALSE(opened.has_value()) << name;
    EXPECT_EQ(opened.error().code, OpenError::kBackendUnavailable) << name;
  }
  const auto opened = open_coordination("disk", {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, OpenError::kUnknownBackend);
}

}  // namespace
}  // namespace cadastre::node
