// Program: a table, its model, and steps that change and ask both (6.2). Who drives it makes the
// choices: dice in a property test, the bytes of an input under a fuzzer.
//
// After every step the table has answered as its model, or difference() says where it did not first.

#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "bitmap/bitmap.h"
#include "bitmap/config.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/set_ops.h"
#include "bitmap/sorted_ids.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "bitmap/verify.h"

namespace cadastre::bitmap::testing {

template <class T>
concept ProgramChoices = requires(T& choices, std::uint64_t bound, std::size_t count) {
  { choices.below(bound) } -> std::same_as<std::uint64_t>;
  { choices.id() } -> std::same_as<std::uint64_t>;
  { choices.ids(count) } -> std::same_as<std::vector<std::uint64_t>>;
};

// How large one step may be.
struct StepBounds {
  std::uint64_t ids_added = 600;
  std::uint64_t ids_removed = 300;
  std::uint64_t ids_ascending = 60;
  std::uint64_t range_ids = 5000;
  std::uint64_t ids_asked = 50;
};

struct ProgramCounts {
  std::uint64_t operations = 0;  // calls of the table whose answer was compared
  std::uint64_t changed_ids = 0;

  void operator+=(const ProgramCounts& other) {
    operations += other.operations;
    changed_ids += other.changed_ids;
  }
};

template <ProgramChoices Choices>
class Program {
 public:
  Program(const Config& config, Choices choices, const StepBounds& bounds = {})
      : open_(config),
        is_cheap_by_chunk_(config.shard_count == 1 || config.shard_grain_bits >= kSlotBits),
        choices_(std::move(choices)),
        bounds_(bounds) {}

  void step() {
    const std::string key = any_key();
    switch (choices_.below(12)) {
      case 0:
      case 1:
      case 2: insert(key, choices_.id()); break;
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

  // Every invariant (I-1 to I-6), and every set in both directions.
  void check_all() {
    for (const Finding& finding : must(table().verify_all(1)))
      differ("verify", to_string(finding));
    for (const auto& [key, members] : model_) {
      const std::vector<std::uint64_t> expected(members.begin(), members.end());
      compare("stream", ids_of(*must(table().stream(base::as_bytes(key)))), expected);
      const auto down = must(table().stream(base::as_bytes(key), Direction::kDescending));
      compare("stream, descending", ids_of(*down),
              std::vector<std::uint64_t>(expected.rbegin(), expected.rend()));
      compare("cardinality", must(table().cardinality(base::as_bytes(key))), members.size());
    }
  }

  [[nodiscard]] const std::optional<std::string>& difference() const { return difference_; }
  [[nodiscard]] const ProgramCounts& counts() const { return counts_; }
  [[nodiscard]] Choices& choices() { return choices_; }

 private:
  TableWriter& table() { return open_.table(); }

  std::string any_key() {
    static const std::array<std::string, 5> keys{"", "a", "b", std::string(2, '\xff'), "ab"};
    return keys[choices_.below(keys.size())];
  }
  std::uint64_t member_or_any(const std::string& key) {
    const ModelSet& members = model_[key];
    if (members.empty() || choices_.below(4) == 0) return choices_.id();
    const auto at = members.lower_bound(choices_.id());
    return at == members.end() ? *members.begin() : *at;
  }

  // ---- What was answered, and what should have been ----------------------------------------------

  void differ(std::string_view what, const std::string& how) {
    if (!difference_) difference_ = std::string(what) + ": " + how;
  }
  template <std::integral T>
  void compare(std::string_view what, T answered, std::type_identity_t<T> expected) {
    counts_.operations += 1;
    if (answered == expected) return;
    differ(what, std::to_string(answered) + " instead of " + std::to_string(expected));
  }
  void compare(std::string_view what,
               const std::vector<std::uint64_t>& answered,
               const std::vector<std::uint64_t>& expected) {
    counts_.operations += 1;
    if (answered == expected) return;
    const auto at = std::ranges::mismatch(answered, expected).in1 - answered.begin();
    differ(what, std::to_string(answered.size()) + " ids instead of " +
                     std::to_string(expected.size()) + ", the first difference at index " +
                     std::to_string(at));
  }
  void compare(std::string_view what,
               std::optional<Id> answered,
               std::optional<std::uint64_t> expected) {
    counts_.operations += 1;
    if (answered.has_value() != expected.has_value()) {
      return differ(what, answered ? "an id instead of none" : "no id");
    }
    if (answered && answered->value() != *expected) {
      differ(what, std::to_string(answered->value()) + " instead of " + std::to_string(*expected));
    }
  }
  // How many ids an operation changed.
  void compare_changed(std::string_view what, std::uint64_t answered, std::uint64_t expected) {
    compare(what, answered, expected);
    counts_.changed_ids += expected;
  }

  // ---- Changes -----------------------------------------------------------------------------------

  void insert(const std::string& key, std::uint64_t id) {
    const bool changed = must(table().insert(base::as_bytes(key), Id{id}));
    compare_changed("insert", changed ? 1 : 0, model_[key].insert(id).second ? 1 : 0);
  }
  void remove(const std::string& key, std::uint64_t id) {
    const bool changed = must(table().remove(base::as_bytes(key), Id{id}));
    compare_changed("remove", changed ? 1 : 0, model_[key].erase(id));
  }
  void insert_many(const std::string& key) {
    const auto ids = choices_.ids(1 + choices_.below(bounds_.ids_added));
    ModelSet& members = model_[key];
    const std::size_t before = members.size();
    members.insert(ids.begin(), ids.end());
    compare_changed("insert_many", must(table().insert_many(base::as_bytes(key), as_ids(ids))),
                    members.size() - before);
  }
  void remove_many(const std::string& key) {
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = choices_.below(bounds_.ids_removed); i > 0; --i)
      ids.push_back(member_or_any(key));
    remove_ids(key, ids);
  }
  // Large removals, so that segments merge and shards empty.
  void remove_most(const std::string& key) {
    if (choices_.below(3) != 0) return;
    IdDice dice(choices_.below(65'536));
    std::vector<std::uint64_t> ids;
    for (const std::uint64_t id : model_[key]) {
      if (dice.below(10) != 0) ids.push_back(id);
    }
    remove_ids(key, ids);
  }
  void remove_ids(const std::string& key, const std::vector<std::uint64_t>& ids) {
    std::uint64_t removed = 0;
    for (const std::uint64_t id : ids)
      removed += model_[key].erase(id);
    compare_changed("remove_many", must(table().remove_many(base::as_bytes(key), as_ids(ids))),
                    removed);
  }
  void change_range(const std::string& key) {
    const bool adds = choices_.below(2) != 0;
    const IdRange range = any_range(adds);
    ModelSet& members = model_[key];
    const auto from = members.lower_bound(range.first.value());
    const auto to = members.upper_bound(range.last.value());
    const auto there = static_cast<std::uint64_t>(std::distance(from, to));
    if (!adds) {
      members.erase(from, to);
      compare_changed("remove_range", must(table().remove_range(base::as_bytes(key), range)),
                      there);
      return;
    }
    for (std::uint64_t id = range.first.value();; ++id) {
      members.insert(id);
      if (id == range.last.value()) break;
    }
    compare_changed("insert_range", must(table().insert_range(base::as_bytes(key), range)),
                    range.last.value() - range.first.value() + 1 - there);
  }
  // Short, longer, or across the border of a chunk; what is removed may span many chunks.
  IdRange any_range(bool adds) {
    std::uint64_t first = choices_.id();
    std::uint64_t width = 0;
    switch (choices_.below(3)) {
      case 0: width = choices_.below(30); break;
      case 1: width = choices_.below(bounds_.range_ids / (is_cheap_by_chunk_ ? 1 : 20)); break;
      default:
        first |= kSlotsPerChunk - 16;
        width = choices_.below(30);
        if (!adds && is_cheap_by_chunk_) width += choices_.below(40) * kSlotsPerChunk;
    }
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - first;
    return {Id{first}, Id{first + std::min(width, room)}};
  }
  void ascend(const std::string& key) {
    std::uint64_t id = choices_.id();
    const std::uint64_t stride = 1 + choices_.below(choices_.below(2) == 0 ? 2 : 70'000);
    for (std::uint64_t i = choices_.below(bounds_.ids_ascending); i > 0; --i) {
      insert(key, id);
      id += stride;
    }
  }
  // T-P5: packing twice writes once.
  void compact(const std::string& key) {
    (void)must(table().compact(base::as_bytes(key)));
    const std::uint64_t mutations = open_.writer().mutation_count();
    (void)must(table().compact(base::as_bytes(key)));
    compare("compact, again", open_.writer().mutation_count() - mutations, 0U);
  }
  void replace(const std::string& key) {
    if (choices_.below(4) == 0) {
      const std::size_t there = std::exchange(model_[key], {}).size();
      compare("erase_key", must(table().erase_key(base::as_bytes(key))), there != 0);
      counts_.changed_ids += there;
      return;
    }
    // The keys are of one table, so the source is materialised.
    const std::string from = any_key();
    const Bitmap source = must(table().get(base::as_bytes(from), std::size_t{1} << 30));
    compare("get", source.cardinality(), model_[from].size());
    must(table().assign(base::as_bytes(key), *stream_of(source)));
    model_[key] = ModelSet(model_[from]);
    counts_.changed_ids += model_[key].size();
  }

  // ---- Questions ---------------------------------------------------------------------------------

  void read(const std::string& key) {
    const ModelSet& members = model_[key];
    const base::ByteView bytes = base::as_bytes(key);
    const std::uint64_t id = member_or_any(key);
    compare("contains", must(table().contains(bytes, Id{id})), members.contains(id));
    const auto rank =
        static_cast<std::uint64_t>(std::distance(members.begin(), members.upper_bound(id)));
    compare("rank", must(table().rank(bytes, Id{id})), rank);
    const auto next = members.upper_bound(id);
    compare("select", must(table().select(bytes, rank)),
            next == members.end() ? std::nullopt : std::optional(*next));
    const bool empty = members.empty();
    compare("min", must(table().min(bytes)),
            empty ? std::nullopt : std::optional(*members.begin()));
    compare("max", must(table().max(bytes)),
            empty ? std::nullopt : std::optional(*members.rbegin()));
    read_parts(key, id);
  }

  void read_parts(const std::string& key, std::uint64_t id) {
    const ModelSet& members = model_[key];
    const base::ByteView bytes = base::as_bytes(key);
    const std::uint64_t other = member_or_any(key);
    const IdRange range{Id{std::min(id, other)}, Id{std::max(id, other)}};
    const std::vector<std::uint64_t> expected(members.lower_bound(range.first.value()),
                                              members.upper_bound(range.last.value()));
    compare("within", ids_of(*within(must(table().stream(bytes)), range)), expected);
    compare("cardinality of a range", must(table().cardinality(bytes, range)), expected.size());
    std::set<std::uint64_t> asked;
    for (std::uint64_t i = 0; i < bounds_.ids_asked; ++i)
      asked.insert(member_or_any(key));
    const auto sorted = as_ids({asked.begin(), asked.end()});
    const auto found = must(table().contains_many(bytes, SortedIds{sorted}));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (found[i] != members.contains(sorted[i].value())) {
        differ("contains_many", std::to_string(sorted[i].value()));
      }
    }
    counts_.operations += 1;
  }

  OpenTable open_;
  bool is_cheap_by_chunk_;  // The ids of a chunk share a shard, so that a range costs per chunk.
  Choices choices_;
  StepBounds bounds_;
  Model model_;
  ProgramCounts counts_;
  std::optional<std::string> difference_;
};

// ---- Programs driven by dice ---------------------------------------------------------------------

inline constexpr int kProgramSteps = 500;
inline constexpr int kStepsBetweenChecks = 50;

struct ProgramSetting {
  const char* name;
  Config config;
};

inline constexpr std::uint32_t kTinySegmentBytes = kSegmentBytesLeast;
// Of tiny segments a few dozen ids make several, so that cuts and merges happen all the time.
inline constexpr std::array<ProgramSetting, 7> kProgramSettings{{
    {"tiny", {.segment_bytes_max = kTinySegmentBytes}},
    {"tiny_without_stats", {.segment_bytes_max = kTinySegmentBytes, .stats = Stats::kNone}},
    {"half", {.segment_bytes_max = 8176}},
    {"large", {.segment_bytes_max = 65520}},
    {"three_shards", {.shard_count = 3, .segment_bytes_max = kTinySegmentBytes}},
    {"sixteen_shards_by_id",
     {.shard_count = 16, .shard_grain_bits = 0, .segment_bytes_max = kTinySegmentBytes}},
    {"many_shards_by_block",
     {.shard_count = 300, .shard_grain_bits = 20, .segment_bytes_max = kTinySegmentBytes}},
}};

struct ProgramOutcome {
  ProgramCounts counts;
  std::optional<std::string> difference;
};

[[nodiscard]] inline ProgramOutcome run_program(const Config& config, std::uint64_t seed) {
  Program program(config, IdDice(seed));
  for (int i = 1; i <= kProgramSteps && !program.difference(); ++i) {
    program.step();
    if (i % kStepsBetweenChecks == 0) program.check_all();
  }
  return {program.counts(), program.difference()};
}

}  // namespace cadastre::bitmap::testing
