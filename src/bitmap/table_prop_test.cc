// Random programs on a table and on its model (6.2). Segments are tiny, so that cuts and merges happen
// all the time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/set_ops.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "bitmap/verify.h"

namespace cadastre::bitmap {
namespace {

using testing::as_ids;
using testing::IdDice;
using testing::ids_of;
using testing::Model;
using testing::ModelSet;
using testing::must;
using testing::OpenTable;

constexpr std::size_t kFindings = 10;

struct Setting {
  const char* name;
  Config config;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.name;
}

class TableProgram : public ::testing::TestWithParam<Setting> {};

// A table, its model, and what can be done to both.
class Program {
 public:
  Program(const Config& config, std::uint64_t seed) : open_(config), dice_(seed) {}

  void step() {
    const std::string key = any_key();
    switch (dice_.below(12)) {
      case 0:
      case 1:
      case 2: insert(key, dice_.id()); break;
      case 3: remove(key, member_or_any(key)); break;
      case 4: insert_many(key); break;
      case 5: remove_many(key); break;
      case 6: change_range(key); break;
      case 7: remove_most(key); break;
      case 8: ascend(key); break;
      case 9: compact(key); break;
      case 10: replace(key); break;
      default: read(key); break;
    }
  }

  void check_all() {
    for (const auto& finding : must(table().verify_all(kFindings)))
      ADD_FAILURE() << to_string(finding);
    for (const auto& [key, members] : model_) {
      const std::vector<std::uint64_t> expected(members.begin(), members.end());
      const auto up = must(table().stream(base::as_bytes(key)));
      ASSERT_EQ(ids_of(*up), expected) << key;
      const auto down = must(table().stream(base::as_bytes(key), Direction::kDescending));
      const std::vector<std::uint64_t> reversed(expected.rbegin(), expected.rend());
      ASSERT_EQ(ids_of(*down), reversed) << key;
      ASSERT_EQ(must(table().cardinality(base::as_bytes(key))), members.size());
    }
  }

 private:
  TableWriter& table() { return open_.table(); }
  std::string any_key() {
    static const std::vector<std::string> keys{"", "a", "b", std::string(2, '\xff'), "ab"};
    return keys[dice_.below(keys.size())];
  }
  std::uint64_t member_or_any(const std::string& key) {
    const ModelSet& members = model_[key];
    if (members.empty() || dice_.below(4) == 0) return dice_.id();
    const auto at = members.lower_bound(dice_.id());
    return at == members.end() ? *members.begin() : *at;
  }

  void insert(const std::string& key, std::uint64_t id) {
    ASSERT_EQ(must(table().insert(base::as_bytes(key), Id{id})), model_[key].insert(id).second);
  }
  void remove(const std::string& key, std::uint64_t id) {
    ASSERT_EQ(must(table().remove(base::as_bytes(key), Id{id})), model_[key].erase(id) == 1);
  }
  void insert_many(const std::string& key) {
    const auto ids = dice_.ids(1 + dice_.below(600));
    ModelSet& members = model_[key];
    const std::size_t before = members.size();
    members.insert(ids.begin(), ids.end());
    ASSERT_EQ(must(table().insert_many(base::as_bytes(key), as_ids(ids))), members.size() - before);
  }
  void remove_many(const std::string& key) {
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = dice_.below(300); i > 0; --i)
      ids.push_back(member_or_any(key));
    std::uint64_t removed = 0;
    for (const std::uint64_t id : ids)
      removed += model_[key].erase(id);
    ASSERT_EQ(must(table().remove_many(base::as_bytes(key), as_ids(ids))), removed);
  }
  void change_range(const std::string& key) {
    const std::uint64_t first = dice_.id();
    const std::uint64_t width = dice_.below(dice_.below(2) == 0 ? 30 : 5000);
    const std::uint64_t last =
        first > std::numeric_limits<std::uint64_t>::max() - width ? first : first + width;
    ModelSet& members = model_[key];
    const auto from = members.lower_bound(first);
    const auto to = members.upper_bound(last);
    const auto there = static_cast<std::uint64_t>(std::distance(from, to));
    const IdRange range{Id{first}, Id{last}};
    if (dice_.below(2) == 0) {
      members.erase(from, to);
      ASSERT_EQ(must(table().remove_range(base::as_bytes(key), range)), there);
    } else {
      for (std::uint64_t id = first;; ++id) {
        members.insert(id);
        if (id == last) break;
      }
      ASSERT_EQ(must(table().insert_range(base::as_bytes(key), range)), last - first + 1 - there);
    }
  }
  // Large removals, so that segments merge and shards empty.
  void remove_most(const std::string& key) {
    ModelSet& members = model_[key];
    if (dice_.below(3) != 0) return;
    std::vector<std::uint64_t> ids;
    for (const std::uint64_t id : members) {
      if (dice_.below(10) != 0) ids.push_back(id);
    }
    for (const std::uint64_t id : ids)
      members.erase(id);
    ASSERT_EQ(must(table().remove_many(base::as_bytes(key), as_ids(ids))), ids.size());
  }
  void ascend(const std::string& key) {
    std::uint64_t id = dice_.id();
    const std::uint64_t stride = 1 + dice_.below(dice_.below(2) == 0 ? 2 : 70'000);
    for (std::uint64_t i = dice_.below(60); i > 0; --i) {
      insert(key, id);
      id += stride;
    }
  }
  void compact(const std::string& key) {
    (void)must(table().compact(base::as_bytes(key)));
    const std::uint64_t mutations = open_.writer().mutation_count();
    (void)must(table().compact(base::as_bytes(key)));
    ASSERT_EQ(open_.writer().mutation_count(), mutations) << "T-P5: packing twice writes once";
  }
  void replace(const std::string& key) {
    if (dice_.below(4) == 0) {
      ASSERT_EQ(must(table().erase_key(base::as_bytes(key))), !model_[key].empty());
      model_[key].clear();
      return;
    }
    // The keys are of one table, so the source is materialised.
    const std::string from = any_key();
    const Bitmap source = must(table().get(base::as_bytes(from), std::size_t{1} << 30));
    must(table().assign(base::as_bytes(key), *stream_of(source)));
    model_[key] = ModelSet(model_[from]);
  }

  void read(const std::string& key) {
    const ModelSet& members = model_[key];
    const base::ByteView bytes = base::as_bytes(key);
    const std::uint64_t id = member_or_any(key);
    ASSERT_EQ(must(table().contains(bytes, Id{id})), members.contains(id));
    const auto rank =
        static_cast<std::uint64_t>(std::distance(members.begin(), members.upper_bound(id)));
    ASSERT_EQ(must(table().rank(bytes, Id{id})), rank);
    const auto selected = must(table().select(bytes, rank));
    ASSERT_EQ(selected.has_value(), rank < members.size());
    if (selected) {
      const auto at = std::next(members.begin(), static_cast<std::ptrdiff_t>(rank));
      ASSERT_EQ(selected->value(), *at);
    }
    const auto least = must(table().min(bytes));
    const auto greatest = must(table().max(bytes));
    ASSERT_EQ(least.has_value(), !members.empty());
    if (least) {
      ASSERT_EQ(least->value(), *members.begin());
      ASSERT_EQ(greatest->value(), *members.rbegin());
    }
    read_parts(key, id);
  }

  void read_parts(const std::string& key, std::uint64_t id) {
    const ModelSet& members = model_[key];
    const base::ByteView bytes = base::as_bytes(key);
    const std::uint64_t other = member_or_any(key);
    const IdRange range{Id{std::min(id, other)}, Id{std::max(id, other)}};
    const std::vector<std::uint64_t> expected(members.lower_bound(range.first.value()),
                                              members.upper_bound(range.last.value()));
    const auto part = within(must(table().stream(bytes)), range);
    ASSERT_EQ(ids_of(*part), expected);
    ASSERT_EQ(must(table().cardinality(bytes, range)), expected.size());
    std::set<std::uint64_t> asked;
    for (int i = 0; i < 50; ++i)
      asked.insert(member_or_any(key));
    const auto sorted = as_ids({asked.begin(), asked.end()});
    const auto found = must(table().contains_many(bytes, SortedIds{sorted}));
    for (std::size_t i = 0; i < sorted.size(); ++i)
      ASSERT_EQ(found[i], members.contains(sorted[i].value()));
  }

  OpenTable open_;
  IdDice dice_;
  Model model_;
};

// T-P1, T-P3, T-P5.
TEST_P(TableProgram, AnswersAsTheModel) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    Program program(GetParam().config, seed);
    for (int i = 0; i < 500; ++i) {
      program.step();
      if (HasFatalFailure()) return;
      if (i % 50 == 49) program.check_all();
      if (HasFailure()) return;
    }
  }
}

constexpr std::uint32_t kTiny = 1024;

INSTANTIATE_TEST_SUITE_P(
    Settings,
    TableProgram,
    ::testing::Values(
        Setting{"tiny", {.segment_bytes_max = kTiny}},
        Setting{"tiny_without_stats", {.segment_bytes_max = kTiny, .stats = Stats::kNone}},
        Setting{"half", {.segment_bytes_max = 8176}},
        Setting{"large", {.segment_bytes_max = 65520}},
        Setting{"three_shards", {.shard_count = 3, .segment_bytes_max = kTiny}},
        Setting{"sixteen_shards_by_id",
                {.shard_count = 16, .shard_grain_bits = 0, .segment_bytes_max = kTiny}},
        Setting{"many_shards_by_block",
                {.shard_count = 300, .shard_grain_bits = 20, .segment_bytes_max = kTiny}}),
    [](const auto& setting) { return std::string(setting.param.name); });

}  // namespace
}  // namespace cadastre::bitmap
