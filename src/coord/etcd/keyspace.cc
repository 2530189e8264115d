#include "coord/etcd/keyspace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\v\f";
constexpr std::string_view kShardsFolder = "/shards/";
constexpr std::string_view kOwnerLeaf = "/owner";
constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kTenantDigits = 64;

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::string digits(std::uint64_t id) {
  return fmt::format("{:016x}", id);
}

}  // namespace

Result<Keyspace, PrefixError> Keyspace::make(std::string_view prefix) {
  prefix = trimmed(prefix);
  if (prefix.empty()) return base::fail(PrefixError::kEmpty, "the key prefix is empty");
  if (prefix.front() != '/') {
    return base::fail(PrefixError::kMustStartWithSlash, "the key prefix begins with a slash");
  }
  if (prefix == "/") return Keyspace(std::string());
  if (prefix.find("//") != std::string_view::npos) {
    return base::fail(PrefixError::kContainsDoubleSlash, "the key prefix has two slashes in a row");
  }
  if (prefix.back() == '/') {
    return base::fail(PrefixError::kMustNotEndWithSlash, "the key prefix does not end in a slash");
  }
  return Keyspace(std::string(prefix));
}

std::string Keyspace::tenants() const {
  return prefix_ + "/tenants/";
}
std::string Keyspace::tenant(const TenantId& tenant) const {
  return tenants() + base::to_hex(tenant.as_bytes());
}
std::string Keyspace::shard_count(const TenantId& tenant) const {
  return this->tenant(tenant) + "/shard_count";
}
std::string Keyspace::runs(const TenantId& tenant) const {
  return this->tenant(tenant) + "/runs/";
}
std::string Keyspace::run(const TenantId& tenant, RunId run) const {
  return runs(tenant) + digits(run.raw());
}
std::string Keyspace::runs_active(const TenantId& tenant) const {
  return this->tenant(tenant) + "/runs_active/";
}
std::string Keyspace::run_active(const TenantId& tenant, RunId run) const {
  return runs_active(tenant) + digits(run.raw());
}
std::string Keyspace::shards(const TenantId& tenant, RunId run) const {
  return this->run(tenant, run).append(kShardsFolder);
}
std::string Keyspace::shard(const TenantId& tenant, const ShardKey& key) const {
  return shards(tenant, key.run) + digits(key.shard.raw());
}
std::string Keyspace::owner(const TenantId& tenant, const ShardKey& key) const {
  return shard(tenant, key).append(kOwnerLeaf);
}
std::string Keyspace::shards_active(const TenantId& tenant, RunId run) const {
  return this->run(tenant, run) + "/shards_active/";
}
std::string Keyspace::shard_active(const TenantId& tenant, const ShardKey& key) const {
  return shards_active(tenant, key.run) + digits(key.shard.raw());
}

std::optional<std::string_view> Keyspace::tenant_digits(std::string_view key) const noexcept {
  const std::size_t before = prefix_.size() + std::string_view("/tenants/").size();
  if (key.size() < before + kTenantDigits) return std::nullopt;
  return key.substr(before, kTenantDigits);
}

std::optional<Keyspace::RunOfKey> Keyspace::run_of_key(const TenantId& tenant,
                                                       std::string_view key) const {
  const std::string folder = runs(tenant);
  if (!key.starts_with(folder)) return std::nullopt;
  const std::string_view rest = key.substr(folder.size());
  const auto id = parse_id(rest.substr(0, kIdDigits));
  if (!id) return std::nullopt;
  return RunOfKey{RunId::from_raw(*id), rest.size() == kIdDigits};
}

std::optional<std::uint64_t> parse_id(std::string_view digits) noexcept {
  if (digits.size() != kIdDigits) return std::nullopt;
  std::uint64_t id = 0;
  for (const char digit : digits) {
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && (digit < 'a' || digit > 'f')) return std::nullopt;
    id = id << 4U | static_cast<std::uint64_t>(decimal ? digit - '0' : digit - 'a' + 10);
  }
  return id;
}

std::optional<ParsedShardKey> parse_shard_key(std::string_view key) noexcept {
  const auto folder = key.rfind(kShardsFolder);
  if (folder == std::string_view::npos) return std::nullopt;
  std::string_view leaf = key.substr(folder + kShardsFolder.size());
  const bool is_owner = leaf.ends_with(kOwnerLeaf);
  if (is_owner) leaf.remove_suffix(kOwnerLeaf.size());
  const auto id = parse_id(leaf);
  if (!id) return std::nullopt;
  return ParsedShardKey{is_owner ? ShardKeyKind::kOwner : ShardKeyKind::kRecord,
                        ShardId::from_raw(*id)};
}

std::string end_of(std::string prefix) {
  CAD_CHECK(!prefix.empty(), "a scan has a prefix");
  CAD_CHECK(prefix.back() != '\xff', "keys are ASCII");
  ++prefix.back();
  return prefix;
}

Range all_under(std::string prefix, Fields fields) {
  std::string end = end_of(prefix);
  return {.key = std::move(prefix), .end = std::move(end), .limit = 0, .fields = fields};
}

Range only(std::string key) {
  return {.key = std::move(key), .end = {}, .limit = 0, .fields = Fields::kAll};
}

}  // namespace cadastre::coord::etcd
