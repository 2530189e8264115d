// Every peer of the bitmap benchmarks gives the answers of a std::set: a figure of a store that answers
// wrongly would be worth nothing.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/random.h"
#include "bench/peers/blob_store.h"
#include "bench/peers/croaring_store.h"
#include "bench/peers/lmdb_files.h"
#include "bench/peers/redb_store.h"
#include "bench/peers/redis_store.h"
#include "bench/peers/roaring64.h"
#include "bench/peers/rocksdb_store.h"
#include "bench/peers/rolled_store.h"
#include "bench/peers/set_store.h"
#include "bench/peers/sqlite_store.h"
#include "bench/table_store.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "kv/lmdb_testing.h"

namespace cadastre::bench {
namespace {

using Model = std::map<std::string, std::set<Id>, std::less<>>;

struct Factory {
  std::string name;
  std::function<std::unique_ptr<SetStore>(const std::string& directory)> make;
};

template <class Store>
Factory on_disk(std::string name) {
  return {std::move(name), [](const std::string& directory) {
            return std::make_unique<Store>(directory);
          }};
}

class Peer : public testing::TestWithParam<Factory> {
 protected:
  // Ids that crowd a few chunks, and now and then any number at all.
  Id any_id() {
    switch (random_.below(8)) {
      case 0: return Id{random_.next_u64()};
      case 1: return Id{random_.below(std::uint64_t{1} << 33)};
      default: return Id{random_.below(20'000)};
    }
  }
  std::string any_key() { return std::string(1, static_cast<char>('a' + random_.below(3))); }

  std::vector<Id> any_ids(std::size_t count) {
    std::vector<Id> ids(count);
    std::ranges::generate(ids, [this] { return any_id(); });
    return ids;
  }

  void step() {
    const std::string key = any_key();
    switch (random_.below(4)) {
      case 0: {
        const Id id = any_id();
        store_->insert(key, id);
        model_[key].insert(id);
        break;
      }
      case 1: {
        // Not read in the same transaction, which not every peer could.
        removed_[key] = any_ids(200);
        break;
      }
      default: {
        const auto ids = any_ids(random_.below(2000));
        store_->insert_many(key, ids);
        model_[key].insert(ids.begin(), ids.end());
        break;
      }
    }
  }

  void transact() {
    store_->begin();
    for (int i = 0; i < 4; ++i)
      step();
    store_->commit();
    for (const auto& [key, ids] : removed_) {
      store_->begin();
      store_->remove_many(key, ids);
      store_->commit();
      for (const Id id : ids)
        model_[key].erase(id);
    }
    removed_.clear();
  }

  std::vector<Id> stream(SetReader& reader, std::string_view key, IdRange range) {
    std::vector<Id> ids;
    reader.stream(key, range, [&](std::span<const Id> some) {
      ids.insert(ids.end(), some.begin(), some.end());
    });
    std::ranges::sort(ids);  // One of them keeps no order and may repeat.
    const auto repeats = std::ranges::unique(ids);
    ids.erase(repeats.begin(), repeats.end());
    return ids;
  }

  void compare_set(SetReader& reader, std::string_view key) {
    const std::set<Id>& set = model_[std::string(key)];
    EXPECT_EQ(reader.count(key), set.size());
    EXPECT_EQ(reader.materialise(key), set.size());
    EXPECT_EQ(stream(reader, key, kAllIds), std::vector<Id>(set.begin(), set.end()));
    const IdRange range{Id{5000}, Id{std::uint64_t{1} << 63}};
    EXPECT_EQ(stream(reader, key, range),
              std::vector<Id>(set.lower_bound(range.first), set.upper_bound(range.last)));
    std::vector<Id> asked = any_ids(50);
    for (const Id id : asked)
      EXPECT_EQ(reader.contains(key, id), set.contains(id)) << id;
    std::ranges::sort(asked);
    const auto repeats = std::ranges::unique(asked);
    asked.erase(repeats.begin(), repeats.end());
    EXPECT_EQ(reader.count_present(key, asked),
              std::ranges::count_if(asked, [&](Id id) { return set.contains(id); }));
  }

  void compare() {
    const auto reader = store_->reader();
    for (const std::string_view key : {"a", "b", "c", "never"})
      compare_set(*reader, key);
    const std::set<Id>& a = model_["a"];
    const std::set<Id>& b = model_["b"];
    std::vector<Id> both;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    EXPECT_EQ(reader->count_of(SetOperation::kIntersection, "a", "b"), both.size());
    EXPECT_EQ(reader->count_of(SetOperation::kUnion, "a", "b"), a.size() + b.size() - both.size());
    EXPECT_EQ(reader->count_of(SetOperation::kDifference, "a", "b"), a.size() - both.size());
  }

  kv::TemporaryDirectory directory_;
  std::unique_ptr<SetStore> store_ = GetParam().make(directory_.path() + "/store");
  base::SeededRandom random_{7};
  Model model_;
  std::map<std::string, std::vector<Id>> removed_;
};

TEST_P(Peer, AnswersLikeASet) {
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 6; ++i)
      transact();
    compare();
  }
}

TEST_P(Peer, KeepsItsSetsWhenItIsCompactedOrMadeDurable) {
  transact();
  store_->set_durability(Durability::kSync);
  transact();
  compare();
  for (const std::string_view key : {"a", "b", "c"})
    store_->compact(key);
  store_->set_durability(Durability::kNone);
  transact();
  compare();
}

TEST_P(Peer, TellsWhatItWritesAndTakes) {
  store_->set_durability(Durability::kSync);
  const std::uint64_t before = store_->bytes_written();
  const auto ids = any_ids(5000);
  store_->begin();
  store_->insert_many("a", ids);
  store_->commit();
  EXPECT_GT(store_->space().file_bytes, 5000U);
  if (GetParam().name != "croaring") {
    EXPECT_GT(store_->bytes_written() - before, 5000U);
  }
}

// A dense set: containers turn into bitsets on the way.
TEST_P(Peer, HoldsDenseSets) {
  std::vector<Id> ids(100'000);
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = Id{i * 2};
  store_->begin();
  store_->insert_many("a", ids);
  store_->insert_many("b", std::span<const Id>(ids).first(50'000));
  store_->commit();
  model_["a"].insert(ids.begin(), ids.end());
  model_["b"].insert(ids.begin(), ids.begin() + 50'000);
  compare();
}

// Else a figure would be made of a walk that did not reach the end.
TEST_P(Peer, SaysSoWhenItGivesUp) {
  std::vector<Id> ids(100'000);
  for (std::size_t i = 0; i < ids.size(); ++i)
    ids[i] = Id{i * 1000};
  store_->begin();
  store_->insert_many("a", ids);
  store_->commit();
  const auto reader = store_->reader();
  reader->set_patience(std::chrono::steady_clock::now());
  const bool is_streamed = stream(*reader, "a", kAllIds) == ids;
  EXPECT_NE(is_streamed, reader->has_given_up());
  reader->set_patience(std::chrono::steady_clock::now());
  const bool is_counted = reader->intersection_count("a", "a") == ids.size();
  EXPECT_NE(is_counted, reader->has_given_up());
  constexpr std::array kLongWalks = {"rolled", "rocksdb", "sqlite"};
  EXPECT_EQ(reader->has_given_up(), std::ranges::count(kLongWalks, GetParam().name) != 0);
  reader->set_patience(std::nullopt);
  EXPECT_EQ(stream(*reader, "a", kAllIds), ids);
  EXPECT_FALSE(reader->has_given_up());
}

// What is loaded at once lies as what was inserted does.
TEST_P(Peer, IsPreloadedWithTheSameAnswers) {
  const auto ids = any_ids(30'000);
  store_->preload("a", ids);
  store_->preload("b", std::span<const Id>(ids).first(ids.size() / 2));
  model_["a"].insert(ids.begin(), ids.end());
  model_["b"].insert(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(ids.size() / 2));
  compare();
}

std::string name_of(const testing::TestParamInfo<Factory>& info) {
  return info.param.name;
}

std::vector<Factory> every_peer() {
  std::vector<Factory> all = {Factory{"croaring",
                                      [](const std::string&) {
                                        return std::make_unique<CroaringStore>();
                                      }},
                              on_disk<TableStore>("table"),
                              on_disk<BlobStore>("blob"),
                              on_disk<RolledStore>("rolled"),
                              on_disk<RocksdbStore>("rocksdb"),
                              on_disk<SqliteStore>("sqlite"),
                              on_disk<RedisStore>("redis")};
  if (redb_versions()) all.push_back({"redb", make_redb_store});  // Where its crates could be had.
  return all;
}

INSTANTIATE_TEST_SUITE_P(Bitmap, Peer, testing::ValuesIn(every_peer()), name_of);

// Ids that all live in one shard of the rolled layout, so that few of them fill a segment.
std::vector<Id> ids_of_shard(std::string_view key, bitmap::Shard shard, std::size_t count) {
  base::SeededRandom random(11);
  std::vector<Id> ids;
  while (ids.size() < count) {
    const Id id{random.below(std::uint64_t{1} << 34)};
    const bitmap::ShardRule rule{.count = kRolledShards, .grain_bits = 0};
    if (bitmap::choose_shard(base::as_bytes(key), id, rule) == shard) ids.push_back(id);
  }
  return ids;
}

using Records = std::map<std::string, std::string>;

// The rule as it is written (3.8), id by id.
Records rolled_by_the_rule(std::string_view key, bitmap::Shard shard, std::span<const Id> ids) {
  std::vector<Roaring64> segments(1);
  for (const Id id : ids) {
    segments.back().add(id);
    if (1 + segments.back().portable_bytes() <= kRolledBytesMax) continue;
    segments.back().remove(id);
    segments.emplace_back().add(id);
  }
  Records records;
  for (std::uint16_t i = 0; i < segments.size(); ++i) {
    base::Bytes value(1, std::byte{1});
    segments[i].write_portable(value);
    const auto stored = bitmap::rolled_segment_key(base::as_bytes(key), shard, i);
    records[base::to_hex(stored)] = base::to_hex(value);
  }
  base::Bytes head(sizeof(std::uint16_t));
  base::store_be(head.data(), static_cast<std::uint16_t>(segments.size() - 1));
  records[base::to_hex(bitmap::stats_key(base::as_bytes(key), shard))] = base::to_hex(head);
  return records;
}

Records records_of(const std::string& path) {
  Records records;
  LmdbFiles(path).read().for_each({}, [&](const LmdbEntry& entry) {
    records[base::to_hex(entry.key)] = base::to_hex(entry.value);
  });
  return records;
}

Records rolled_by_calls(const std::string& path,
                        std::string_view key,
                        std::span<const Id> ids,
                        std::size_t per_call) {
  {
    RolledStore store(path);
    store.begin();
    for (std::size_t i = 0; i < ids.size(); i += per_call)
      store.insert_many(key, ids.subspan(i, std::min(per_call, ids.size() - i)));
    store.commit();
  }
  return records_of(path);
}

template <class Store>
void expect_preload_stores_what_inserts_do() {
  base::SeededRandom random(13);
  std::vector<Id> ids(150'000);
  std::ranges::generate(ids, [&] { return Id{random.below(std::uint64_t{1} << 33)}; });
  const kv::TemporaryDirectory directory;
  Store(directory.path() + "/at_once").preload("k", ids);
  {
    Store store(directory.path() + "/in_steps");
    constexpr std::size_t kStep = 10'000;
    for (std::size_t i = 0; i < ids.size(); i += kStep) {
      store.begin();
      store.insert_many("k", std::span<const Id>(ids).subspan(i, kStep));
      store.commit();
    }
  }
  EXPECT_EQ(records_of(directory.path() + "/at_once"), records_of(directory.path() + "/in_steps"));
}

TEST(Preload, StoresWhatInsertsDo) {
  expect_preload_stores_what_inserts_do<BlobStore>();
  expect_preload_stores_what_inserts_do<RolledStore>();
}

TEST(Rolled, StoresWhatTheRuleSaysInSmallStepsAndAtOnce) {
  constexpr std::string_view kKey = "k";
  constexpr bitmap::Shard kShard{5};
  const auto ids = ids_of_shard(kKey, kShard, 9000);
  const Records expected = rolled_by_the_rule(kKey, kShard, ids);
  EXPECT_EQ(expected.size(), 3U) << "two segments and a head";
  const kv::TemporaryDirectory directory;
  EXPECT_EQ(rolled_by_calls(directory.path() + "/many", kKey, ids, ids.size()), expected);
  EXPECT_EQ(rolled_by_calls(directory.path() + "/some", kKey, ids, 7), expected);
}

}  // namespace
}  // namespace cadastre::bench
