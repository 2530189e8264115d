#include "coord/memory/shard_table.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coord/identity.h"
#include "coord/memory/record_pool.h"
#include "shard/key_space_testing.h"

namespace cadastre::coord::memory {
namespace {

using shard::SampleStream;

// Two tenants share the keys, each with some of them.
TenantId tenant_of(const ShardKey& key) {
  return TenantId::from_bytes({std::byte{1}, std::byte(key.shard.raw() % 2)});
}

// A table beside a std::map, over few enough keys that they come and go often.
class Double {
 public:
  explicit Double(std::uint64_t seed) : table_(pool_, seed) {}

  void insert(const ShardKey& key) {
    const Number number = pool_.allocate();
    pool_[number].state.tenant = tenant_of(key);
    pool_[number].state.run = key.run;
    pool_[number].state.shard = key.shard;
    table_.insert(number);
    model_.emplace(plain(key), number);
  }
  void erase(const ShardKey& key) {
    const auto at = model_.find(plain(key));
    table_.erase(at->second);
    pool_.free(at->second);
    model_.erase(at);
  }
  [[nodiscard]] bool has(const ShardKey& key) const { return model_.contains(plain(key)); }

  void expect_equal(const std::vector<ShardKey>& keys) const {
    ASSERT_EQ(table_.size(), model_.size());
    for (const ShardKey& key : keys) {
      const auto at = model_.find(plain(key));
      const auto expected = at == model_.end() ? std::nullopt : std::optional(at->second);
      ASSERT_EQ(table_.find(tenant_of(key), key), expected) << to_string(key);
      ASSERT_EQ(table_.find(TenantId(), key), std::nullopt) << "another tenant's";
    }
  }

  ShardTable& table() { return table_; }

 private:
  using Plain = std::pair<std::uint64_t, std::uint64_t>;
  static Plain plain(const ShardKey& key) { return {key.run.raw(), key.shard.raw()}; }

  RecordPool pool_;
  ShardTable table_;
  std::map<Plain, Number> model_;
};

std::vector<ShardKey> keys_of(std::uint64_t runs, std::uint64_t shards) {
  std::vector<ShardKey> keys;
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (std::uint64_t shard = 0; shard < shards; ++shard)
      keys.push_back({RunId::from_raw(run), ShardId::from_raw(shard)});
  }
  return keys;
}

TEST(ShardTable, FindsNothingInNothing) {
  const Double both(0);
  both.expect_equal(keys_of(2, 2));
}

void toggle(Double& both, const ShardKey& key) {
  if (both.has(key)) {
    both.erase(key);
  } else {
    both.insert(key);
  }
}

// Twelve entries of sixteen slots: every erasure has neighbours to move, often around the end.
TEST(ShardTable, ErasuresCloseTheirGap) {
  const std::vector<ShardKey> keys = keys_of(2, 6);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SampleStream stream(seed);
    Double both(seed);
    for (const ShardKey& key : keys)
      both.insert(key);
    both.expect_equal(keys);
    for (int i = 0; i < 40; ++i) {
      toggle(both, keys[stream.below(keys.size())]);
      both.expect_equal(keys);
    }
  }
}

TEST(ShardTable, GrowsAndEmpties) {
  const std::vector<ShardKey> keys = keys_of(3, 700);
  Double both(42);
  for (const ShardKey& key : keys)
    both.insert(key);
  both.expect_equal(keys);
  SampleStream stream(1);
  for (int i = 0; i < 4000; ++i) {
    const ShardKey& key = keys[stream.below(keys.size())];
    if (both.has(key)) both.erase(key);
    if (i % 500 == 0) both.expect_equal(keys);
  }
  both.expect_equal(keys);
  for (const ShardKey& key : keys) {
    if (both.has(key)) both.erase(key);
  }
  both.expect_equal(keys);
}

TEST(ShardTable, ReservingChangesNothing) {
  const std::vector<ShardKey> keys = keys_of(1, 20);
  Double both(7);
  for (std::size_t i = 0; i < 10; ++i)
    both.insert(keys[i]);
  both.table().reserve(1000);
  both.expect_equal(keys);
}

}  // namespace
}  // namespace cadastre::coord::memory
