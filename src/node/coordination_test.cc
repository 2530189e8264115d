#include "node/coordination.h"

#include <gtest/gtest.h>

#include "client/remote_coordination.h"
#include "node/remote_access.h"

namespace cadastre::node {
namespace {

TEST(OpenCoordination, OpensTheMemoryBackend) {
  EXPECT_TRUE(open_coordination("memory", {}).has_value());
}

TEST(OpenCoordination, SaysWhatItCannotOpen) {
  const auto etcd = open_coordination("etcd:127.0.0.1:2379", {});
  ASSERT_FALSE(etcd.has_value());
  EXPECT_EQ(etcd.error().code, OpenError::kBackendUnavailable);
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

}  // namespace
}  // namespace cadastre::node
