#include "node/coordination.h"

#include <chrono>

#include <gtest/gtest.h>

#include "client/remote_coordination.h"
#include "node/remote_access.h"

namespace cadastre::node {
namespace {

TEST(OpenCoordination, OpensTheMemoryBackend) {
  EXPECT_TRUE(open_coordination("memory", {}).has_value());
}

TEST(OpenCoordination, SaysWhatItCannotOpen) {
  for (const char* name : {"disk", "host:", "host:0", ":7000"}) {
    const auto opened = open_coordination(name, {});
    ASSERT_FALSE(opened.has_value()) << name;
    EXPECT_EQ(opened.error().code, OpenError::kUnknownBackend) << name;
  }
}

TEST(OpenCoordination, OpensAServerWithoutAskingIt) {
  EXPECT_TRUE(open_coordination("127.0.0.1:7000", {}).has_value());
}

// A token is worth as much as the tenant's records.
TEST(OpenCoordination, SendsNoTokenInClearToAnotherMachine) {
  const RemoteAccess with_token{.token = "secret"};
  EXPECT_TRUE(open_coordination("127.0.0.1:7000", {}, with_token).has_value());
  const auto opened = open_coordination("10.0.0.1:7000", {}, with_token);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, OpenError::kBadAccess);
  const RemoteAccess under_tls{.token = "secret", .tls = client::TlsOptions{}};
  EXPECT_TRUE(open_coordination("10.0.0.1:7000", {}, under_tls).has_value());
  const RemoteAccess half{.tls = client::TlsOptions{.certificate = "pem"}};
  EXPECT_FALSE(open_coordination("10.0.0.1:7000", {}, half).has_value());
}

// Nothing is asked of an etcd before the first operation.
TEST(OpenCoordination, TakesAnEtcdByItsMembersAndAPrefix) {
  for (const char* name : {"etcd:127.0.0.1:1", "etcd:a:1,b:2,[::1]:3/team/x", "etcd:a:1/"})
    EXPECT_TRUE(open_coordination(name, {}).has_value()) << name;
}

TEST(OpenCoordination, RefusesAnEtcdThatIsNoPlace) {
  for (const char* name : {"etcd:", "etcd:host", "etcd:host:0", "etcd:a:1,", "etcd:a:1/x/",
                           "etcd:a:1//x", "etcd:user:secret@a:1"}) {
    const auto opened = open_coordination(name, {});
    ASSERT_FALSE(opened.has_value()) << name;
    EXPECT_EQ(opened.error().code, OpenError::kUnknownBackend) << name;
    EXPECT_FALSE(opened.error().detail.contains("secret")) << opened.error().detail;
  }
  const auto endless =
      open_coordination("etcd:a:1", {}, {}, {.owner_ttl = std::chrono::seconds{0}});
  ASSERT_FALSE(endless.has_value());
  EXPECT_EQ(endless.error().code, OpenError::kUnknownBackend);
  const auto unread = open_coordination("etcd:a:1", {}, {}, {.ca = "/nowhere/ca.pem"});
  ASSERT_FALSE(unread.has_value());
  EXPECT_EQ(unread.error().code, OpenError::kCannotOpen);
}

}  // namespace
}  // namespace cadastre::node
