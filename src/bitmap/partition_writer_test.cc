// The partition layer by itself, over both values of the SegmentValue seam: whatever a value is
// made of, its ids are where 3.1 says, and a walk over the stored keys finds them. Every view that the
// store hands out is spoilt by the next change (B-21).

// g++ 12 takes an optional that is looked at only where it holds something for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "bitmap/partition_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/config.h"
#include "bitmap/fixed_set_testing.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/limits.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_value.h"
#include "bitmap/spoiling_testing.h"
#include "bitmap/stats_record.h"
#include "bitmap/table_model_testing.h"
#include "kv/kv.h"
#include "kv/memory_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using testing::as_ids;
using testing::IdDice;
using testing::ModelSet;
using testing::must;

constexpr Config kTiny{.segment_bytes_max = kSegmentBytesLeast};
constexpr int kSteps = base::kSlowChecks ? 2'000 : 20'000;
constexpr int kStepsBetweenWalks = 5;

// One shard of one key. The partition layer believes whoever names the shard.
using Place = std::pair<std::string, std::uint16_t>;

struct StoredShard {
  std::uint64_t segments = 0;
  std::uint64_t value_bytes = 0;
  std::optional<StatsRecord> stats;
  ModelSet ids;
};
using StoredShards = std::map<Place, StoredShard>;

Place place_of(base::ByteView base_key, Shard shard) {
  return {std::string(reinterpret_cast<const char*>(base_key.data()), base_key.size()),
          shard.value()};
}

template <SegmentValue Value>
void take_segment(const SegmentKey& key, base::ByteView value, StoredShard& shard) {
  const auto view = Value::View::open(value, ReadCheck::kChecksum);
  ASSERT_TRUE(view.has_value());
  ASSERT_TRUE(view->check_contents().has_value());
  ASSERT_GT(view->cardinality(), 0U) << "I-1";
  ASSERT_EQ(slot_of(key.fence), 0U) << "I-2";
  ASSERT_TRUE(shard.segments != 0 || key.fence == Id{}) << "I-2";
  ASSERT_GE(view->min(), key.fence) << "I-3";
  ASSERT_TRUE(shard.ids.empty() || *shard.ids.rbegin() < key.fence.value()) << "I-3";
  const bool is_one_chunk = chunk_of(view->min()) == chunk_of(view->max());
  ASSERT_TRUE(value.size() <= kTiny.segment_bytes_max || is_one_chunk) << "I-5";
  for (std::uint64_t i = 0; i < view->cardinality(); ++i)
    shard.ids.insert(shard.ids.end(), view->select(i)->value());
  shard.segments += 1;
  shard.value_bytes += value.size();
}

// Everything that is stored, held against I-1 to I-3, I-5 and I-6.
template <SegmentValue Value>
void walk(kv::Reader& reader, StoredShards& shards) {
  const auto cursor = must(reader.cursor());
  for (auto entry = must(cursor->next()); entry; entry = must(cursor->next())) {
    const auto decoded = decode_key(entry->key);
    ASSERT_TRUE(decoded.has_value());
    if (const auto* const stats = std::get_if<StatsKey>(&*decoded)) {
      const auto record = decode_stats(entry->value);
      ASSERT_TRUE(record.has_value());
      shards[place_of(stats->base_key, stats->shard)].stats = *record;
      continue;
    }
    const auto& segment = std::get<SegmentKey>(*decoded);
    take_segment<Value>(segment, entry->value, shards[place_of(segment.base_key, segment.shard)]);
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (const auto& [place, shard] : shards) {
    const StatsRecord counted{shard.ids.size(), static_cast<std::uint32_t>(shard.segments),
                              shard.value_bytes};
    ASSERT_EQ(shard.stats, shard.segments >= 2 ? std::optional(counted) : std::nullopt) << "I-6";
  }
}

template <SegmentValue Value>
class Partition {
 public:
  Partition()
      : store_(kv::open_memory_store()),
        space_(must(store_->open_space("t"))),
        txn_(must(store_->begin_write())),
        writer_(txn_->writer(space_)),
        partition_(must(PartitionWriter<Value>::open(writer_, kTiny, kBulkFillPercentDefault))) {}

  void step() {
    const Place place = any_place();
    const std::uint64_t before = writer_.mutation_count();
    std::uint64_t changed = 0;
    switch (dice_.below(10)) {
      case 0:
      case 1:
      case 2: changed = insert(place, any_id()); break;
      case 3:
      case 4: changed = remove(place, member_or_any(place)); break;
      case 5: changed = merge(place, any_ids(place), SetOp::kAdd); break;
      case 6: changed = merge(place, any_ids(place), SetOp::kRemove); break;
      case 7: changed = merge(place, any_range(40), SetOp::kAdd); break;
      case 8:
        changed = merge(place, any_range(dice_.below(16) == 0 ? ~std::uint64_t{0} : 1'000'000),
                        SetOp::kRemove);
        break;
      default: changed = remove_from_the_front(place); break;
    }
    EXPECT_TRUE(changed != 0 || writer_.mutation_count() == before) << "T-P7";
  }

  void check() {
    StoredShards shards;
    walk<Value>(txn_->reader(space_), shards);
    if (::testing::Test::HasFatalFailure()) return;
    for (const auto& [place, members] : model_) {
      const auto stored = shards.find(place);
      const ModelSet found = stored == shards.end() ? ModelSet{} : stored->second.ids;
      ASSERT_EQ(found, members) << "key '" << place.first << "', shard " << place.second;
      const std::uint64_t now = stored == shards.end() ? 0 : stored->second.segments;
      cuts += now > segments_[place] ? 1 : 0;
      merges += now != 0 && now < segments_[place] ? 1 : 0;
      segments_[place] = now;
      shards.erase(place);
    }
    ASSERT_TRUE(shards.empty());
  }

  int cuts = 0;  // walks that found more segments than the one before
  int merges = 0;

 private:
  Place any_place() {
    static const std::array<Place, 4> places{
        {{"a", 0}, {"a", 1}, {std::string(2, '\xff'), 0xffff}, {"", 0}}};
    return places[dice_.below(places.size())];
  }
  // Of eighty chunks, or anywhere.
  std::uint64_t any_id() {
    if (dice_.below(20) == 0) return dice_.id();
    return dice_.below(80) * kSlotsPerChunk + dice_.below(60'000);
  }
  std::uint64_t member_or_any(const Place& place) {
    const ModelSet& members = model_[place];
    if (members.empty() || dice_.below(4) == 0) return any_id();
    const auto at = members.lower_bound(any_id());
    return at == members.end() ? *members.begin() : *at;
  }
  ModelSet any_ids(const Place& place) {
    ModelSet ids;
    for (std::uint64_t i = dice_.below(dice_.below(2) == 0 ? 400 : 20); i > 0; --i)
      ids.insert(member_or_any(place));
    return ids;
  }
  IdRange any_range(std::uint64_t ids_max) {
    const std::uint64_t first = any_id();
    const std::uint64_t width = dice_.below(ids_max);
    return {Id{first}, width > ~first ? kIdMax : Id{first + width}};
  }

  std::uint64_t insert(const Place& place, std::uint64_t id) {
    const bool is_new = model_[place].insert(id).second;
    const auto key = base::as_bytes(place.first);
    EXPECT_EQ(must(partition_.insert(key, Shard{place.second}, Id{id})), is_new);
    return is_new ? 1 : 0;
  }
  std::uint64_t remove(const Place& place, std::uint64_t id) {
    const std::uint64_t removed = model_[place].erase(id);
    const auto key = base::as_bytes(place.first);
    EXPECT_EQ(must(partition_.remove(key, Shard{place.second}, Id{id})), removed == 1);
    return removed;
  }
  std::uint64_t merge(const Place& place, const ModelSet& ids, SetOp op) {
    ModelSet& members = model_[place];
    std::uint64_t changed = 0;
    for (const std::uint64_t id : ids)
      changed += op == SetOp::kAdd ? (members.insert(id).second ? 1 : 0) : members.erase(id);
    const auto sorted = as_ids({ids.begin(), ids.end()});
    EXPECT_EQ(must(partition_.merge(base::as_bytes(place.first), Shard{place.second},
                                    std::span<const Id>(sorted), op)),
              changed);
    return changed;
  }
  std::uint64_t merge(const Place& place, IdRange range, SetOp op) {
    ModelSet& members = model_[place];
    const std::size_t before = members.size();
    if (op == SetOp::kRemove) {
      members.erase(members.lower_bound(range.first.value()),
                    members.upper_bound(range.last.value()));
    }
    for (std::uint64_t id = range.first.value(); op == SetOp::kAdd; ++id) {
      members.insert(id);
      if (id == range.last.value()) break;
    }
    const std::size_t changed =
        op == SetOp::kAdd ? members.size() - before : before - members.size();
    EXPECT_EQ(must(partition_.merge(base::as_bytes(place.first), Shard{place.second}, range, op)),
              changed);
    return changed;
  }
  // One by one, until the first segment is gone and the second has taken its place (I-2).
  std::uint64_t remove_from_the_front(const Place& place) {
    if (dice_.below(8) != 0 || model_[place].empty()) return 0;
    const std::uint64_t count = 1 + dice_.below(200);
    std::uint64_t removed = 0;
    for (; removed < count && !model_[place].empty(); ++removed)
      (void)remove(place, *model_[place].begin());
    return removed;
  }

  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
  testing::SpoilingWriter writer_;
  PartitionWriter<Value> partition_;
  IdDice dice_{17};
  std::map<Place, ModelSet> model_;
  std::map<Place, std::uint64_t> segments_;
};

// ---- Rules, one by one -----------------------------------------------------------------------

// One shard of fixed sets: eight bytes for an id, so that a segment holds 128. Every id has a chunk of
// its own and may be followed by a cut.
class FixedShard {
 public:
  static constexpr std::size_t kIdsMost = kTiny.segment_bytes_max / testing::kFixedIdBytes;

  struct Segment {
    std::uint64_t fence_chunk;
    std::size_t ids;
    friend bool operator==(const Segment&, const Segment&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Segment& segment) {
      return out << segment.ids << " ids from chunk " << segment.fence_chunk;
    }
  };

  FixedShard()
      : store_(kv::open_memory_store()),
        space_(must(store_->open_space("t"))),
        txn_(must(store_->begin_write())),
        writer_(txn_->writer(space_)),
        partition_(must(PartitionWriter<testing::FixedSetValue>::open(
            writer_, kTiny, kBulkFillPercentDefault))) {}

  void insert(std::uint64_t chunk) {
    EXPECT_TRUE(must(partition_.insert({}, {}, fence_at(chunk))));
  }
  void remove(std::uint64_t chunk) {
    EXPECT_TRUE(must(partition_.remove({}, {}, fence_at(chunk))));
  }
  void insert_from(std::uint64_t chunk, std::uint64_t count) {
    std::vector<Id> ids;
    for (std::uint64_t i = 0; i < count; ++i)
      ids.push_back(fence_at(chunk + i));
    EXPECT_EQ(must(partition_.merge({}, {}, std::span<const Id>(ids), SetOp::kAdd)), count);
  }

  [[nodiscard]] std::vector<Segment> segments() {
    std::vector<Segment> found;
    const auto cursor = must(writer_.cursor());
    for (auto entry = must(cursor->next()); entry; entry = must(cursor->next())) {
      const auto decoded = decode_key(entry->key);
      if (const auto* const key = std::get_if<SegmentKey>(&*decoded)) {
        found.emplace_back(chunk_of(key->fence), entry->value.size() / testing::kFixedIdBytes);
      }
    }
    return found;
  }

 private:
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
  testing::SpoilingWriter writer_;
  PartitionWriter<testing::FixedSetValue> partition_;
};

using FixedSegments = std::vector<FixedShard::Segment>;

// One id too many for one segment: 65 ids, and 64 from chunk 65 on.
void cut_once(FixedShard& shard) {
  for (std::uint64_t chunk = 0; chunk <= FixedShard::kIdsMost; ++chunk)
    shard.insert(chunk);
  ASSERT_EQ(shard.segments(), (FixedSegments{{0, 65}, {65, 64}}));
}

// 3.5: smaller than a quarter, and together at most a half, which is 64 ids.
TEST(PartitionRules, NeighboursJoinWithinTheirBounds) {
  struct Case {
    const char* what;
    std::uint64_t other;  // ids of the one that does not change now
    std::uint64_t apart;  // ids of the other one, when they are still two
  };
  const std::vector<Case> cases{
      {"a quarter is not less than a quarter", 10, 32},
      {"a half is small enough", 33, 32},
      {"more than a half is not", 34, 31},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.what);
    FixedShard left;
    cut_once(left);
    for (std::uint64_t chunk = row.other; chunk < 65; ++chunk)
      left.remove(chunk);
    for (std::uint64_t chunk = 65 + row.apart; chunk < 129; ++chunk)
      left.remove(chunk);
    EXPECT_EQ(left.segments(), (FixedSegments{{0, row.other}, {65, row.apart}}));
    left.remove(65);
    EXPECT_EQ(left.segments(), (FixedSegments{{0, row.other + row.apart - 1}}));

    FixedShard right;
    cut_once(right);
    for (std::uint64_t chunk = 65 + row.other; chunk < 129; ++chunk)
      right.remove(chunk);
    for (std::uint64_t chunk = row.apart; chunk < 65; ++chunk)
      right.remove(chunk);
    EXPECT_EQ(right.segments(), (FixedSegments{{0, row.apart}, {65, row.other}}));
    right.remove(0);
    EXPECT_EQ(right.segments(), (FixedSegments{{0, row.other + row.apart - 1}}));
  }
}

// I-2.
TEST(PartitionRules, TheSecondSegmentTakesTheFenceOfAnEmptiedFirstOne) {
  FixedShard shard;
  cut_once(shard);
  for (std::uint64_t chunk = 0; chunk < 65; ++chunk)
    shard.remove(chunk);
  EXPECT_EQ(shard.segments(), (FixedSegments{{0, 64}}));
}

// 3.3: as few pieces as nine tenths of S allow, which is 115 ids, of about equal size; full ones where
// the set grows at its end.
TEST(PartitionRules, ManyIdsLeaveRoomUnlessTheyExtendTheSet) {
  FixedShard shard;
  shard.insert(0);
  shard.insert(1'000'000);
  shard.insert_from(1'000, 300);
  EXPECT_EQ(shard.segments(), (FixedSegments{{0, 106}, {1'105, 106}, {1'211, 90}}));
  FixedShard fewer;  // Two pieces would hold them, but would leave no room.
  fewer.insert(0);
  fewer.insert(1'000'000);
  fewer.insert_from(1'000, 248);
  EXPECT_EQ(fewer.segments(), (FixedSegments{{0, 88}, {1'087, 88}, {1'175, 74}}));
  shard.insert_from(2'000'000, 300);
  EXPECT_EQ(shard.segments(), (FixedSegments{{0, 106},
                                             {1'105, 106},
                                             {1'211, 128},
                                             {2'000'038, 128},
                                             {2'000'166, 128},
                                             {2'000'294, 6}}));
}

// ---- Everything at once ----------------------------------------------------------------------

template <class Value>
class PartitionWriters : public ::testing::Test {};
using Values = ::testing::Types<RoaringValue, testing::FixedSetValue>;
struct ValueNames {
  template <class Value>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::is_same_v<Value, RoaringValue> ? "Roaring" : "FixedSet";
  }
};
TYPED_TEST_SUITE(PartitionWriters, Values, ValueNames);

TYPED_TEST(PartitionWriters, KeepEveryIdInItsPlace) {
  Partition<TypeParam> partition;
  for (int i = 1; i <= kSteps; ++i) {
    SCOPED_TRACE(i);
    partition.step();
    if (i % kStepsBetweenWalks == 0) partition.check();
    if (this->HasFailure()) return;
  }
  EXPECT_GT(partition.cuts, kSteps / 400);
  EXPECT_GT(partition.merges, kSteps / 400);
}

}  // namespace
}  // namespace cadastre::bitmap
