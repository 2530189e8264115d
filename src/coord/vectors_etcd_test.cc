// The sections about etcd: keys, retries, transactions.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "coord/backend.h"
#include "coord/etcd/core.h"
#include "coord/etcd/delay.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/limits.h"
#include "coord/etcd/model_home.h"
#include "coord/etcd/model_store.h"
#include "coord/etcd/records.h"
#include "coord/etcd/shapes.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/one_shard_testing.h"
#include "coord/vector_values_testing.h"
#include "coord/vectors_testing.h"
#include "shard/bytes_testing.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/vector_entry_testing.h"

namespace cadastre::coord::vectors {
namespace {

using etcd::Keyspace;

std::string key_of_row(VectorEntry& entry, const Keyspace& keys) {
  const TenantId tenant = to_tenant(entry.at("tenant_hex"));
  const std::string kind = entry.text("key");
  if (kind == "tenant_counter") return keys.shard_count(tenant);
  const RunId run = RunId::from_raw(entry.number("run"));
  if (kind == "run_record") return keys.run(tenant, run);
  if (kind == "run_active_marker") return keys.run_active(tenant, run);
  if (kind == "shard_scan_prefix") return keys.shards(tenant, run);
  const ShardKey key{run, ShardId::from_raw(entry.number("shard"))};
  if (kind == "shard_record") return keys.shard(tenant, key);
  if (kind == "owner") return keys.owner(tenant, key);
  if (kind == "shard_active_marker") return keys.shard_active(tenant, key);
  ADD_FAILURE() << "no check for key " << kind;
  return "";
}

std::string name_of(etcd::PrefixError error) {
  switch (error) {
    case etcd::PrefixError::kEmpty: return "empty_prefix";
    case etcd::PrefixError::kMustStartWithSlash: return "prefix_must_start_with_slash";
    case etcd::PrefixError::kMustNotEndWithSlash: return "prefix_must_not_end_with_slash";
    case etcd::PrefixError::kContainsDoubleSlash: return "prefix_contains_double_slash";
  }
  return "";
}

}  // namespace

// Spec 10.2
void check_keyspace(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const Keyspace keys = Keyspace::make(entry.text("prefix")).value();
    EXPECT_EQ(key_of_row(entry, keys), entry.text("text"));
  });
}

void check_prefixes(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const auto keys = Keyspace::make(entry.text("prefix"));
    if (entry.has("error")) {
      ASSERT_FALSE(keys.has_value());
      EXPECT_EQ(name_of(keys.error().code), entry.at("error").at("name").get<std::string>());
    } else {
      ASSERT_TRUE(keys.has_value());
      EXPECT_EQ(keys->prefix(), entry.at("expect").at("prefix").get<std::string>());
    }
  });
}

void check_key_kinds(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    const auto parsed = etcd::parse_shard_key(entry.text("text"));
    const std::string expected = entry.text("expect");
    if (expected == "neither") {
      EXPECT_FALSE(parsed.has_value());
      return;
    }
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->kind,
              expected == "owner" ? etcd::ShardKeyKind::kOwner : etcd::ShardKeyKind::kRecord);
  });
}

// Spec 10.6
void check_retry_delays(const Section& section) {
  shard::for_each_entry(section.rows, [](VectorEntry& entry) {
    if (entry.has("attempt")) {
      const auto attempt = static_cast<std::uint32_t>(entry.number("attempt"));
      EXPECT_EQ(static_cast<std::uint64_t>(etcd::retry_delay(attempt).count()),
                entry.number("expect_delay_ms"));
      return;
    }
    const double least = entry.at("jitter_factor_at_least").get<double>();
    const double bound = entry.at("jitter_factor_below").get<double>();
    base::SeededRandom random(7);
    double seen_least = bound;
    double seen_most = least;
    for (int i = 0; i < 10'000; ++i) {
      const auto jittered = etcd::jittered(std::chrono::seconds(1), random);
      const double factor = std::chrono::duration<double>(jittered).count();
      seen_least = std::min(seen_least, factor);
      seen_most = std::max(seen_most, factor);
    }
    EXPECT_GE(seen_least, least);
    EXPECT_LT(seen_most, bound);
    EXPECT_LT(seen_least, least + 0.01);  // all of the interval is used
    EXPECT_GT(seen_most, bound - 0.01);
  });
}

namespace {

ShardDump shard_named(ShardId id) {
  ShardDump shard;
  shard.state.run = RunId::from_raw(1);
  shard.state.shard = id;
  if (id.is_derived()) shard.state.parent = ShardId::from_raw(1);
  shard.start = base::to_owned(base::as_bytes(std::string_view("a")));
  shard.end = base::to_owned(base::as_bytes(std::string_view("z")));
  return shard;
}

etcd::Transaction split_of(std::size_t children, const Keyspace& keys) {
  etcd::LoadedShard parent{
      shard_named(ShardId::from_raw(1)), etcd::Revision(5),
      etcd::LoadedOwner{{WorkerId::from_raw(1), FenceEpoch::from_raw(2)}, etcd::LeaseId(9)}};
  etcd::SplitWrites writes{parent.record, {}, {}};
  for (std::size_t i = 0; i < children; ++i)
    writes.fresh.push_back(shard_named(ShardId::from_raw((std::uint64_t{1} << 63U) + i)));
  return etcd::Shapes(keys).split_replace(parent, writes);
}

void expect_sizes(VectorEntry& entry, const etcd::Transaction& transaction) {
  EXPECT_EQ(transaction.success.size(), entry.number("writes"));
  EXPECT_EQ(transaction.compares.size(), entry.number("compares"));
  EXPECT_EQ(transaction.success.size() + transaction.compares.size(), entry.number("total"));
}

// How many transactions a registration of so many shards takes beside its first and its last.
std::size_t batches_of(std::size_t shards, const Keyspace& keys) {
  etcd::ModelHome home({.keyspace = keys}, {});
  const TenantId tenant;
  const RunId run = RunId::from_raw(1);
  EXPECT_TRUE(home.create_run(LogicalTime::from_raw(1), tenant, run, {.lease_duration = 100}));
  std::vector<base::Bytes> bounds;
  for (std::size_t i = 0; i <= shards; ++i)
    bounds.push_back({std::byte{1}, static_cast<std::byte>(i)});
  std::vector<InitialShardInput> manifest;
  for (std::size_t i = 0; i < shards; ++i) {
    manifest.push_back({ShardId::from_raw(i + 1), ShardSpecRef::unchecked(bounds[i], bounds[i + 1]),
                        CursorUpdate::initial()});
  }
  const auto before = home.store.counters().commits;
  EXPECT_TRUE(
      home.register_shards(LogicalTime::from_raw(2), tenant, run, manifest, OpId::from_raw(1)));
  return home.store.counters().commits - before - 2;
}

}  // namespace

// Spec 10.5
void check_transaction_sizes(const Section& section) {
  const Keyspace keys = Keyspace::make(etcd::kPrefixDefault).value();
  shard::for_each_entry(section.rows, [&](VectorEntry& entry) {
    const bool fits = entry.text("expect") == "ok";
    if (entry.text("operation") == "split_replace") {
      const std::size_t children = entry.number("children");
      expect_sizes(entry, split_of(children, keys));
      EXPECT_EQ(children <= etcd::children_max_of(etcd::kTxnOpsDefault), fits);
      return;
    }
    const std::size_t shards = entry.number("shards");
    EXPECT_TRUE(fits);
    EXPECT_EQ(batches_of(shards, keys), entry.number("batches"));
    if (!entry.has("writes")) return;
    std::vector<ShardDump> batch;
    for (std::size_t i = 1; i <= shards; ++i)
      batch.push_back(shard_named(ShardId::from_raw(i)));
    expect_sizes(entry, etcd::Shapes(keys).batch({}, batch));
  });
}

}  // namespace cadastre::coord::vectors
