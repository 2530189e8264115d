#include "coord/etcd/etcd_config.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "coord/etcd/grpc_limits.h"
#include "coord/etcd/limits.h"

namespace cadastre::coord::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(EtcdConfig, TheDefaultsAreValid) {
  EXPECT_TRUE(validate(EtcdConfig{}));
}

// C-10.6
TEST(EtcdConfig, RefusesWhatIsOutOfItsRangeWithATypedError) {
  struct Case {
    std::string_view what;
    std::function<void(EtcdConfig&)> change;
    EtcdConfigError error;
  };
  const std::vector<Case> cases = {
      {"no endpoint", [](auto& c) { c.endpoints.clear(); }, EtcdConfigError::kNoEndpoint},
      {"an empty endpoint", [](auto& c) { c.endpoints = {""}; }, EtcdConfigError::kEndpoint},
      {"no scheme", [](auto& c) { c.endpoints = {"localhost:2379"}; }, EtcdConfigError::kEndpoint},
      {"another scheme", [](auto& c) { c.endpoints = {"ftp://a:1"}; }, EtcdConfigError::kEndpoint},
      {"no port", [](auto& c) { c.endpoints = {"http://a"}; }, EtcdConfigError::kEndpoint},
      {"port 0", [](auto& c) { c.endpoints = {"http://a:0"}; }, EtcdConfigError::kEndpoint},
      {"port 65536", [](auto& c) { c.endpoints = {"http://a:65536"}; }, EtcdConfigError::kEndpoint},
      {"a path", [](auto& c) { c.endpoints = {"http://a:1/x"}; }, EtcdConfigError::kEndpoint},
      {"a list in one", [](auto& c) { c.endpoints = {"http://a:1,b:2"}; },
       EtcdConfigError::kEndpoint},
      {"credentials", [](auto& c) { c.endpoints = {"http://u:p@a:1"}; },
       EtcdConfigError::kEndpoint},
      {"too many", [](auto& c) { c.endpoints.assign(kEndpointsMax + 1, "http://a:1"); },
       EtcdConfigError::kEndpoint},
      {"no time to connect", [](auto& c) { c.connect_timeout = {}; }, EtcdConfigError::kTimeout},
      {"too long a call", [](auto& c) { c.call_timeout = kTimeoutMax + milliseconds{1}; },
       EtcdConfigError::kTimeout},
      {"no owner lease", [](auto& c) { c.owner_lease_ttl = {}; }, EtcdConfigError::kOwnerTtl},
      {"an endless owner lease",
       [](auto& c) { c.owner_lease_ttl = kOwnerLeaseTtlMax + seconds{1}; },
       EtcdConfigError::kOwnerTtl},
      {"no try", [](auto& c) { c.txn_retries = 0; }, EtcdConfigError::kNumber},
      {"65 tries", [](auto& c) { c.txn_retries = 65; }, EtcdConfigError::kNumber},
      {"no child", [](auto& c) { c.children_per_op = 0; }, EtcdConfigError::kNumber},
      {"40 children", [](auto& c) { c.children_per_op = 40; }, EtcdConfigError::kNumber},
      {"no shard of a tenant", [](auto& c) { c.limits.per_tenant_max = 0; },
       EtcdConfigError::kNumber},
      {"no shard at all", [](auto& c) { c.limits.total_max = 0; }, EtcdConfigError::kNumber},
      {"no password", [](auto& c) { c.user = EtcdUser{"root", ""}; }, EtcdConfigError::kUser},
      {"https without TLS", [](auto& c) { c.endpoints = {"https://a:1"}; }, EtcdConfigError::kTls},
      {"TLS without https", [](auto& c) { c.tls = EtcdTls{}; }, EtcdConfigError::kTls},
      {"a certificate without its key",
       [](auto& c) {
         c.endpoints = {"https://a:1"};
         c.tls = EtcdTls{.ca = {}, .certificate = "-----BEGIN CERTIFICATE-----", .key = {}};
       },
       EtcdConfigError::kTls},
      {"no PEM",
       [](auto& c) {
         c.endpoints = {"https://a:1"};
         c.tls = EtcdTls{.ca = "/etc/ca.pem", .certificate = {}, .key = {}};
       },
       EtcdConfigError::kTls},
  };
  for (const Case& row : cases) {
    EtcdConfig config;
    row.change(config);
    const auto valid = validate(config);
    ASSERT_FALSE(valid) << row.what;
    EXPECT_EQ(valid.error().code, row.error) << row.what << ": " << valid.error().detail;
  }
}

TEST(EtcdConfig, AcceptsTheEndsOfEveryRange) {
  EtcdConfig config;
  config.endpoints = {"http://a-1.example_x:1", "http://[::1]:65535/"};
  config.txn_retries = kTxnRetriesMax;
  config.children_per_op = kChildrenPerOpMax;
  config.owner_lease_ttl = seconds{1};
  config.connect_timeout = kTimeoutMin;
  config.call_timeout = kTimeoutMax;
  EXPECT_TRUE(validate(config));
}

TEST(EtcdConfig, NamesTheIndexOfTheWrongEndpoint) {
  EtcdConfig config;
  config.endpoints = {"http://a:1", "http://secret@b:2"};
  const auto valid = validate(config);
  ASSERT_FALSE(valid);
  EXPECT_TRUE(valid.error().detail.contains("endpoint 1")) << valid.error().detail;
  EXPECT_FALSE(valid.error().detail.contains("secret")) << valid.error().detail;
}

// C-7.6, config
TEST(EtcdConfig, ItsTextHasNoSecret) {
  EtcdConfig config;
  config.endpoints = {"https://MARK:MARK@a:1", "https://b:2"};
  config.user = EtcdUser{"root", "MARK"};
  config.tls = EtcdTls{.ca = "MARK", .certificate = "MARK", .key = "MARK"};
  const std::string text = text_of(config);
  EXPECT_FALSE(text.contains("MARK")) << text;
  EXPECT_TRUE(text.contains("https://***@a:1,https://b:2")) << text;
  EXPECT_TRUE(text.contains("root:[REDACTED]")) << text;
  EXPECT_TRUE(text.contains("tls=[configured]")) << text;
}

TEST(EtcdConfig, RedactsAnEndpointOfAnyForm) {
  EXPECT_EQ(redacted_endpoint("http://a:1"), "http://a:1");
  EXPECT_EQ(redacted_endpoint("http://u:p@w@a:1"), "http://***@a:1");
  EXPECT_EQ(redacted_endpoint("u:p@a:1"), "***@a:1");
  EXPECT_EQ(redacted_endpoint("u@a://b"), "***@a://b");
}

}  // namespace
}  // namespace cadastre::coord::etcd
