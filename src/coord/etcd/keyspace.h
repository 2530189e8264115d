// Keyspace: where coordination keeps what in etcd.
//
//   {prefix}/tenants/{tenant}/shard_count                          u64
//   {prefix}/tenants/{tenant}/runs/{run}                           run record
//   {prefix}/tenants/{tenant}/runs/{run}/shards/{shard}            shard record
//   {prefix}/tenants/{tenant}/runs/{run}/shards/{shard}/owner      owner value, bound to an etcd lease
//   {prefix}/tenants/{tenant}/runs/{run}/shards_active/{shard}     empty; exists exactly if the shard is Active
//   {prefix}/tenants/{tenant}/runs_active/{run}                    empty; exists exactly if the run is Active
//
// ASCII. A tenant is 64 and an id 16 lower-case hexadecimal digits, so that keys sort as numbers do. Scans
// begin with a prefix that ends in '/': `runs/` never matches `runs_active/`.
//
// A value; every function is pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "base/result.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {

inline constexpr std::string_view kPrefixDefault = "/cadastre/v1";

enum class PrefixError : std::uint8_t {
  kEmpty,
  kMustStartWithSlash,
  kMustNotEndWithSlash,  // "/" itself is fine
  kContainsDoubleSlash,
};

// What a key under `shards/` is.
enum class ShardKeyKind : std::uint8_t {
  kRecord,
  kOwner,
};
struct ParsedShardKey {
  ShardKeyKind kind = ShardKeyKind::kRecord;
  ShardId shard;

  friend bool operator==(const ParsedShardKey&, const ParsedShardKey&) = default;
};

class Keyspace {
 public:
  // Spaces around the prefix do not count.
  [[nodiscard]] static Result<Keyspace, PrefixError> make(std::string_view prefix);

  [[nodiscard]] std::string_view prefix() const noexcept CAD_LIFETIMEBOUND {
    return prefix_.empty() ? std::string_view("/") : std::string_view(prefix_);
  }

  [[nodiscard]] std::string tenants() const;  // …/tenants/
  [[nodiscard]] std::string tenant(const TenantId& tenant) const;
  [[nodiscard]] std::string shard_count(const TenantId& tenant) const;
  [[nodiscard]] std::string runs(const TenantId& tenant) const;  // …/runs/
  [[nodiscard]] std::string run(const TenantId& tenant, RunId run) const;
  [[nodiscard]] std::string runs_active(const TenantId& tenant) const;  // …/runs_active/
  [[nodiscard]] std::string run_active(const TenantId& tenant, RunId run) const;
  [[nodiscard]] std::string shards(const TenantId& tenant, RunId run) const;  // …/shards/
  [[nodiscard]] std::string shard(const TenantId& tenant, const ShardKey& key) const;
  [[nodiscard]] std::string owner(const TenantId& tenant, const ShardKey& key) const;
  [[nodiscard]] std::string shards_active(const TenantId& tenant, RunId run) const;
  [[nodiscard]] std::string shard_active(const TenantId& tenant, const ShardKey& key) const;

  // The tenant's 64 digits in any key of this keyspace.
  [[nodiscard]] std::optional<std::string_view> tenant_digits(
      std::string_view key CAD_LIFETIMEBOUND) const noexcept;
  // The run in any key under runs(tenant); whether the key is the run's record itself.
  struct RunOfKey {
    RunId run;
    bool is_record = false;
  };
  [[nodiscard]] std::optional<RunOfKey> run_of_key(const TenantId& tenant,
                                                   std::string_view key) const;

 private:
  explicit Keyspace(std::string prefix) : prefix_(std::move(prefix)) {}
  std::string prefix_;  // without the slash behind it; empty for "/"
};

// A record or an owner, by what follows the last "/shards/"; nothing for any other key.
[[nodiscard]] std::optional<ParsedShardKey> parse_shard_key(std::string_view key) noexcept;
// 16 lower-case hexadecimal digits.
[[nodiscard]] std::optional<std::uint64_t> parse_id(std::string_view digits) noexcept;

// The first key behind everything that begins with `prefix`, which is not empty and does not end in ff.
[[nodiscard]] std::string end_of(std::string prefix);
[[nodiscard]] Range all_under(std::string prefix, Fields fields = Fields::kAll);
[[nodiscard]] Range only(std::string key);

}  // namespace cadastre::coord::etcd
