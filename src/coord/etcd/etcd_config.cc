#include "coord/etcd/etcd_config.h"

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/result.h"
#include "coord/etcd/grpc_limits.h"
#include "coord/etcd/limits.h"

namespace cadastre::coord::etcd {
namespace {

using base::fail;

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr unsigned kPortMax = 65'535;

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port >= 1 && port <= kPortMax;
}

// Letters, digits, dot, dash and underscore; or an IPv6 address in brackets.
bool is_host(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (bracketed) text = text.substr(1, text.size() - 2);
  return !text.empty() &&
         text.find_first_not_of(bracketed ? "0123456789abcdefABCDEF:."
                                          : "abcdefghijklmnopqrstuvwxyz"
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789.-_") == std::string_view::npos;
}

Result<void, EtcdConfigError> validate_endpoints(const EtcdConfig& config) {
  if (config.endpoints.empty())
    return fail(EtcdConfigError::kNoEndpoint,
                "etcd needs an endpoint, such as http://localhost:2379");
  if (config.endpoints.size() > kEndpointsMax)
    return fail(EtcdConfigError::kEndpoint, fmt::format("at most {} endpoints", kEndpointsMax));
  for (std::size_t i = 0; i < config.endpoints.size(); ++i) {
    const auto parts = parse_endpoint(config.endpoints[i]);
    if (!parts)
      return fail(EtcdConfigError::kEndpoint,
                  fmt::format("endpoint {}: {}", i, parts.error().detail));
    if ((parts->scheme == Scheme::kHttps) != config.tls.has_value())
      return fail(EtcdConfigError::kTls,
                  fmt::format("endpoint {}: https:// and TLS options go together", i));
  }
  return {};
}

Result<void, EtcdConfigError> validate_numbers(const EtcdConfig& config) {
  for (const std::chrono::milliseconds timeout : {config.connect_timeout, config.call_timeout}) {
    if (timeout < kTimeoutMin || timeout > kTimeoutMax)
      return fail(EtcdConfigError::kTimeout, fmt::format("a timeout is {} to {} ms",
                                                         kTimeoutMin.count(), kTimeoutMax.count()));
  }
  if (config.owner_lease_ttl.count() < 1 || config.owner_lease_ttl > kOwnerLeaseTtlMax)
    return fail(EtcdConfigError::kOwnerTtl,
                fmt::format("the owners' lease is 1 to {} s", kOwnerLeaseTtlMax.count()));
  if (config.txn_retries < 1 || config.txn_retries > kTxnRetriesMax)
    return fail(EtcdConfigError::kNumber,
                fmt::format("a transaction is tried 1 to {} times", kTxnRetriesMax));
  if (config.children_per_op < 1 || config.children_per_op > kChildrenPerOpMax)
    return fail(EtcdConfigError::kNumber,
                fmt::format("a split has 1 to {} children", kChildrenPerOpMax));
  if (config.limits.per_tenant_max == 0 || config.limits.total_max == 0)
    return fail(EtcdConfigError::kNumber, "the limits of shards are at least 1");
  return {};
}

bool is_credential(std::string_view text) {
  return !text.empty() && text.size() <= kCredentialBytesMax;
}

Result<void, EtcdConfigError> validate_secrets(const EtcdConfig& config) {
  if (config.user && (!is_credential(config.user->name) || !is_credential(config.user->password)))
    return fail(
        EtcdConfigError::kUser,
        fmt::format("a user has a name and a password of 1 to {} bytes", kCredentialBytesMax));
  if (!config.tls) return {};
  const EtcdTls& tls = *config.tls;
  if (tls.certificate.empty() != tls.key.empty())
    return fail(EtcdConfigError::kTls, "a client certificate and its key go together");
  for (const std::string_view pem : {tls.ca, tls.certificate, tls.key}) {
    if (pem.size() > kPemBytesMax || (!pem.empty() && !pem.contains("-----BEGIN ")))
      return fail(EtcdConfigError::kTls, "certificates and keys are PEM files of at most 1 MiB");
  }
  return {};
}

}  // namespace

Result<EndpointParts, EtcdConfigError> parse_endpoint(std::string_view endpoint) {
  EndpointParts parts;
  if (endpoint.size() > kEndpointBytesMax)
    return fail(EtcdConfigError::kEndpoint, fmt::format("at most {} bytes", kEndpointBytesMax));
  if (endpoint.starts_with(kHttps)) {
    parts.scheme = Scheme::kHttps;
    endpoint.remove_prefix(kHttps.size());
  } else if (endpoint.starts_with(kHttp)) {
    endpoint.remove_prefix(kHttp.size());
  } else {
    return fail(EtcdConfigError::kEndpoint, "starts with http:// or https://");
  }
  if (endpoint.contains('@'))
    return fail(EtcdConfigError::kEndpoint, "credentials are options of their own");
  if (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  const std::size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos || !is_host(endpoint.substr(0, colon)) ||
      !is_port(endpoint.substr(colon + 1)))
    return fail(EtcdConfigError::kEndpoint, "is scheme://HOST:PORT");
  parts.host_port = endpoint;
  return parts;
}

Result<void, EtcdConfigError> validate(const EtcdConfig& config) {
  CAD_TRY(validate_endpoints(config));
  CAD_TRY(validate_numbers(config));
  return validate_secrets(config);
}

std::string redacted_endpoint(std::string_view endpoint) {
  const std::size_t at = endpoint.rfind('@');
  if (at == std::string_view::npos) return std::string(endpoint);
  const std::size_t scheme = endpoint.find("://");
  const std::string_view head = scheme < at ? endpoint.substr(0, scheme + 3) : std::string_view{};
  return fmt::format("{}***{}", head, endpoint.substr(at));
}

std::string text_of(const EtcdConfig& config) {
  std::string endpoints;
  for (const std::string& endpoint : config.endpoints)
    endpoints.append(endpoints.empty() ? "" : ",").append(redacted_endpoint(endpoint));
  return fmt::format(
      "endpoints={} connect_timeout={}ms call_timeout={}ms owner_lease_ttl={}s txn_retries={} "
      "children_per_op={} user={} tls={}",
      endpoints, config.connect_timeout.count(), config.call_timeout.count(),
      config.owner_lease_ttl.count(), config.txn_retries, config.children_per_op,
      config.user ? config.user->name + ":[REDACTED]" : "none",
      config.tls ? "[configured]" : "none");
}

}  // namespace cadastre::coord::etcd
