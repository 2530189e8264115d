// EtcdConfig: how to reach an etcd and how to use it (10.6), its validation, and its text for people.
//
// No I/O here: certificates and passwords are given as text, whoever reads the files. text_of() is what may be
// logged: no password, no key, no credentials of an endpoint.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coord/shard_limits.h"

namespace cadastre::coord::etcd {

using base::Result;

struct EtcdUser {
  std::string name;
  std::string password;
};

// PEM. An empty CA: those that the system trusts. Certificate and key: both or none.
struct EtcdTls {
  std::string ca;
  std::string certificate;
  std::string key;
};

struct EtcdConfig {
  std::vector<std::string> endpoints = {"http://localhost:2379"};  // tried in this order
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds call_timeout{5000};  // of one request, all its attempts together
  // A run whose lease lasts longer by the wall clock is refused (D-35).
  std::chrono::seconds owner_lease_ttl{60};
  std::uint32_t txn_retries = 8;
  std::size_t children_per_op = 8;
  ShardLimits limits = {};
  std::optional<EtcdUser> user = {};
  std::optional<EtcdTls> tls = {};
};

enum class EtcdConfigError : std::uint8_t {
  kNoEndpoint,  // Name one at least.
  kEndpoint,    // The detail names its index and what is wrong.
  kTimeout,
  kOwnerTtl,
  kNumber,  // Retries, children or shard limits are out of their range.
  kUser,
  kTls,
};

[[nodiscard]] Result<void, EtcdConfigError> validate(const EtcdConfig& config);

// One line. Endpoints with credentials as scheme://***@host, passwords as [REDACTED], TLS as [configured].
[[nodiscard]] std::string text_of(const EtcdConfig& config);
[[nodiscard]] std::string redacted_endpoint(std::string_view endpoint);

enum class Scheme : std::uint8_t {
  kHttp,
  kHttps,
};

struct EndpointParts {
  Scheme scheme = Scheme::kHttp;
  std::string host_port;
};
// The error says what is wrong, without the endpoint's text.
[[nodiscard]] Result<EndpointParts, EtcdConfigError> parse_endpoint(std::string_view endpoint);

}  // namespace cadastre::coord::etcd
