// The builder under any sequence of operations, against a shadow of its entries and of its arena. After
// every operation size, ids, counters, slab layout and every slot's handles agree with the shadow; after
// every one that failed, so does the order in which free slots come.
//
// Input: the arena's size, the entry limit, how the builder ends, then operations until the end.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "fuzz/arena_model.h"
#include "fuzz/builder_shadow.h"
#include "fuzz/input.h"
#include "fuzz/manifest_oracle.h"
#include "fuzz/target.h"
#include "shard/hint.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/prealloc_builder.h"
#include "shard/shard_arena.h"
#include "shard/shard_id.h"
#include "shard/spec_error.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteView;
using builder_shadow::Code;
using builder_shadow::MaybeError;
using builder_shadow::Shadow;
using shard::BuilderError;
using shard::ManifestRows;
using shard::ShardSpecHandle;
using shard::SpecError;

constexpr std::size_t kCap = 16;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
using Builder = shard::PreallocShardBuilder<kCap>;

class Run {
 public:
  Run(Input& in, ArenaSize size, std::size_t limit)
      : arena_(size.slots, size.bytes),
        shadow_(size, arena_, limit),
        end_(in.below(3) == 1 ? shard::BuilderEnd::kFreeStagedOnly
                              : shard::BuilderEnd::kClearArena),
        builder_(std::make_unique<Builder>(arena_, end_)) {
    CAD_CHECK(builder_->init(limit).has_value(), "a limit from 1 to Cap is taken");
    keys_.emplace_back();
    for (std::size_t left = in.below(8); left > 0; --left)
      keys_.push_back(in.string(shard::kMaxKeySize + 1));
  }

  void step(Input& in) {
    switch (in.below(12)) {
      case 0:
      case 1: add_range(in); break;
      case 2: add_prefix(in); break;
      case 3: add_manifest(in); break;
      case 4: add_spec_ref(in); break;
      case 5: add_spec_handle(in); break;
      case 6:
      case 7: split_range(in); break;
      case 8: split_rows(in); break;
      case 9: owner_stores(in); break;
      case 10: owner_frees(in); break;
      default:
        if (in.one_in(4)) reset();
        break;
    }
    check();
    check_build();
  }

  void finish(Input& in) {
    if (in.one_in(4)) {
      builder_->release();
    } else if (end_ == shard::BuilderEnd::kFreeStagedOnly) {
      shadow_.free_staged();
    } else {
      shadow_.arena().clear();
    }
    builder_.reset();
    shadow_.arena().check(arena_);
    shadow_.arena().check_free_order(arena_);
  }

 private:
  [[nodiscard]] const Bytes& any_key(Input& in) const { return keys_[in.below(keys_.size())]; }

  // Short, or long enough to be near the limit of metadata.
  [[nodiscard]] static Bytes any_extra(Input& in) {
    return in.one_in(4) ? in.string(shard::kMaxMetadataSize + 1) : Bytes(in.below(48));
  }

  // Lives as long as this run.
  [[nodiscard]] const OracleCursor* any_cursor(Input& in) {
    if (!in.one_in(3)) return &cursors_.front();
    return &cursors_.emplace_back(OracleCursor{any_key(in), in.string(4)});
  }

  [[nodiscard]] static ManifestRows any_rows(Input& in) {
    const std::uint64_t start = in.number();
    const std::uint64_t more = in.number();
    return {in.number(), start, in.one_in(8) ? more : start + std::min(more, kMost - start)};
  }

  // Holds what a call said against what the shadow says.
  template <class T>
  void agree(const base::Result<T, BuilderError>& got, const MaybeError& expected) {
    CAD_CHECK(got.has_value() == !expected, "a call succeeds exactly when the shadow's does");
    if (!expected) return;
    CAD_CHECK(got.error() == *expected, "and fails for the same reason");
    check();
    shadow_.arena().check_free_order(arena_);
  }

  void agree_on_id(const base::Result<shard::ShardId, BuilderError>& got,
                   const MaybeError& expected) {
    agree(got, expected);
    if (got) CAD_CHECK(got->raw() + 1 == shadow_.entries().size(), "ids follow staging order");
  }

  [[nodiscard]] MaybeError stage_one(const SpecBytes& spec,
                                     const MaybeError& wrong,
                                     const OracleCursor* cursor) {
    if (auto error = shadow_.budget_error(1)) return error;
    if (wrong) return wrong;
    return shadow_.stage({spec}, cursor);
  }

  void add_range(Input& in) {
    const Bytes& start = any_key(in);
    const Bytes& end = any_key(in);
    const Bytes extra = any_extra(in);
    const OracleCursor* const cursor = any_cursor(in);
    const SpecBytes spec = builder_shadow::range_spec(start, end, extra);
    const auto got = builder_->add_range({start, end}, extra, cursor->view());
    agree_on_id(got, stage_one(spec, builder_shadow::range_error(spec), cursor));
  }

  void add_prefix(Input& in) {
    const Bytes& prefix = any_key(in);
    const Bytes extra = any_extra(in);
    const OracleCursor* const cursor = any_cursor(in);
    SpecBytes spec = builder_shadow::prefix_spec(prefix, extra);
    spec.end = builder_shadow::prefix_end(prefix);
    const auto got = builder_->add_prefix(prefix, extra, cursor->view());
    agree_on_id(got, stage_one(spec, builder_shadow::prefix_error(spec), cursor));
  }

  void add_manifest(Input& in) {
    const ManifestRows rows = any_rows(in);
    const Bytes extra = any_extra(in);
    const OracleCursor* const cursor = any_cursor(in);
    const SpecBytes spec = builder_shadow::manifest_spec(rows, extra);
    const auto got = builder_->add_manifest(rows, extra, cursor->view());
    agree_on_id(got, stage_one(spec, builder_shadow::manifest_error(rows, spec), cursor));
  }

  void add_spec_ref(Input& in) {
    const SpecBytes spec{any_key(in), any_key(in), any_extra(in)};
    const OracleCursor* const cursor = any_cursor(in);
    const auto error = expected_spec_error(spec.start, spec.end, spec.metadata.size());
    const auto wrong =
        error ? MaybeError(builder_shadow::wrong_spec(Code::kSpecInvalid, *error)) : std::nullopt;
    const auto got = builder_->add_spec_ref(spec.view(), cursor->view());
    agree_on_id(got, stage_one(spec, wrong, cursor));
  }

  // Of any slot, at its generation or beside it, of this arena or another.
  [[nodiscard]] ShardSpecHandle any_handle(Input& in) {
    const ArenaModel& arena = shadow_.arena();
    if (arena.slot_count() == 0) return {};
    const auto slot = static_cast<std::uint32_t>(in.below(arena.slot_count()));
    const auto off = static_cast<std::uint32_t>(in.one_in(4) ? in.below(3) : 0);
    return {slot, arena.generation(slot) - off, arena.arena_id() + (in.one_in(16) ? 1 : 0)};
  }

  void add_spec_handle(Input& in) {
    const ShardSpecHandle handle = any_handle(in);
    const OracleCursor* const cursor = any_cursor(in);
    agree_on_id(builder_->add_spec_handle(handle, cursor->view()), shadow_.adopt(handle, cursor));
  }

  [[nodiscard]] static MaybeError fan_out_error(std::uint64_t children) {
    if (children <= 256) return std::nullopt;
    return BuilderError{.code = Code::kFanOutExceeded, .limit = 256, .additional = children};
  }

  // Empty points before anything else, then child by child.
  [[nodiscard]] static MaybeError points_error(const std::vector<SpecBytes>& children) {
    const std::size_t metadata = children.front().metadata.size();
    if (metadata > 16384)
      return builder_shadow::wrong_spec(Code::kRangeInvalid,
                                        SpecError::metadata_too_large(metadata, 16384));
    for (std::size_t i = 1; i < children.size(); ++i) {
      if (!children[i].start.empty()) continue;
      return builder_shadow::wrong_spec(Code::kRangeInvalid,
                                        SpecError::inverted_range(children[i - 1].start.size(), 0));
    }
    for (const SpecBytes& child : children) {
      if (auto error = builder_shadow::range_error(child)) return error;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<Bytes> any_points(Input& in) const {
    if (in.one_in(16)) return std::vector<Bytes>(in.below(300), Bytes{std::byte{0x61}});
    std::vector<Bytes> points;
    if (in.below(2) == 0) {  // Ascending, so that many children are common.
      const std::size_t count = in.below(kCap + 2);
      for (std::size_t i = 0; i < count; ++i)
        points.push_back({std::byte{0x62}, static_cast<std::byte>(i)});
      return points;
    }
    for (std::size_t left = in.below(6); left > 0; --left)
      points.push_back(any_key(in));
    if (!in.one_in(4)) std::ranges::sort(points);
    return points;
  }

  void split_range(Input& in) {
    const Bytes& start = any_key(in);
    const Bytes& end = any_key(in);
    const Bytes extra = any_extra(in);
    const std::vector<Bytes> points = any_points(in);
    std::vector<SpecBytes> children;
    const Bytes* from = &start;
    for (const Bytes& point : points) {
      children.push_back(builder_shadow::range_spec(*from, point, extra));
      from = &point;
    }
    children.push_back(builder_shadow::range_spec(*from, end, extra));

    const std::vector<ByteView> views(points.begin(), points.end());
    const auto got = builder_->split_range_by_boundaries({start, end}, views, extra);
    auto expected = fan_out_error(children.size());
    if (!expected) expected = shadow_.budget_error(children.size());
    if (!expected) expected = points_error(children);
    if (!expected) expected = shadow_.stage(children, &cursors_.front());
    agree(got, expected);
  }

  // The children's rows, walked one by one; the caller knows that there are few.
  [[nodiscard]] static std::vector<SpecBytes> row_children(const ManifestRows& rows,
                                                           std::uint64_t step,
                                                           const Bytes& extra) {
    std::vector<SpecBytes> out;
    for (std::uint64_t at = rows.start_row; at < rows.end_row;) {
      const std::uint64_t next = rows.end_row - at > step ? at + step : rows.end_row;
      out.push_back(builder_shadow::manifest_spec({rows.manifest_id, at, next}, extra));
      at = next;
    }
    return out;
  }

  [[nodiscard]] MaybeError stage_rows(const ManifestRows& rows,
                                      std::uint64_t step,
                                      const Bytes& extra) {
    if (step == 0 || rows.start_row >= rows.end_row)
      return builder_shadow::wrong_spec(Code::kManifestCtorInvalid,
                                        SpecError::inverted_range(16, 16));
    const std::uint64_t count = (rows.end_row - rows.start_row - 1) / step + 1;
    if (auto error = fan_out_error(count)) return error;
    if (auto error = shadow_.budget_error(count)) return error;
    const auto children = row_children(rows, step, extra);
    CAD_CHECK(children.size() == count, "the shadow counts right");
    if (auto error = builder_shadow::manifest_error(rows, children.front())) return error;
    return shadow_.stage(children, &cursors_.front());
  }

  void split_rows(Input& in) {
    const ManifestRows rows = any_rows(in);
    const std::uint64_t span = rows.end_row - rows.start_row;
    const std::uint64_t step = in.below(2) == 0 ? in.number() : span / (in.below(kCap + 2) + 1);
    const Bytes extra = any_extra(in);
    const auto got = builder_->split_manifest_by_rows(rows, step, extra);
    agree(got, stage_rows(rows, step, extra));
  }

  // The arena's owner may store specs for the builder to adopt.
  void owner_stores(Input& in) {
    const SpecBytes spec{any_key(in), any_key(in), any_extra(in)};
    if (expected_spec_error(spec.start, spec.end, spec.metadata.size())) return;
    CAD_CHECK(arena_.alloc(spec.view()) == shadow_.arena().alloc(spec), "an arena has its order");
  }

  void owner_frees(Input& in) {
    const ShardSpecHandle handle = any_handle(in);
    CAD_CHECK(arena_.free(handle) == shadow_.arena().free(handle), "only a live handle frees");
  }

  void reset() {
    builder_->reset();
    shadow_.free_staged();
  }

  void check() {
    const std::size_t size = shadow_.entries().size();
    CAD_CHECK(builder_->size() == size, "sizes agree");
    CAD_CHECK(builder_->empty() == (size == 0), "an empty builder says so");
    CAD_CHECK(builder_->remaining_entries() + size == builder_->entry_limit(),
              "the budget is left");
    shadow_.arena().check(arena_);
  }

  void check_build() {
    Builder::Rows rows;
    const auto got = builder_->build_inputs(rows);
    CAD_CHECK(got.has_value() || rows.empty(), "a failed build leaves no rows");
    const auto expected = shadow_.rows();
    if (!expected) {
      CAD_CHECK(!got, "a lost spec is noticed");
      CAD_CHECK(got.error().code == Code::kInvalidSpecHandle, "and told as such");
      return;
    }
    const auto wrong = expected_manifest_error(*expected);
    CAD_CHECK(got.has_value() == !wrong, "a build succeeds exactly for legal manifests");
    if (wrong) {
      CAD_CHECK(got.error().code == Code::kManifestInvalid, "an illegal manifest is told as such");
      CAD_CHECK(got.error().manifest == *wrong, "with what is wrong with it");
      return;
    }
    CAD_CHECK(rows.size() == expected->size(), "one row for each entry");
    for (std::size_t i = 0; i < rows.size(); ++i)
      CAD_CHECK(rows[i] == (*expected)[i].view(), "rows come in staging order");
    Builder::Rows again;
    CAD_CHECK(builder_->build_inputs(again).has_value(), "what was built can be built again");
    CAD_CHECK(again == rows, "with equal rows");
  }

  shard::ShardArena arena_;
  Shadow shadow_;
  shard::BuilderEnd end_;
  std::unique_ptr<Builder> builder_;
  std::vector<Bytes> keys_;
  std::list<OracleCursor> cursors_{OracleCursor{}};  // The first one is no cursor.
};

// The limits that no builder takes.
void check_refused_limit(shard::ShardArena& arena, std::size_t limit) {
  const auto builder = std::make_unique<Builder>(arena, shard::BuilderEnd::kFreeStagedOnly);
  const auto got = builder->init(limit);
  CAD_CHECK(!got, "a limit is at least 1 and at most Cap");
  const auto expected =
      limit == 0 ? BuilderError{.code = Code::kEntryLimitZero}
                 : BuilderError{.code = Code::kCapMismatch, .limit = limit, .current = kCap};
  CAD_CHECK(got.error() == expected, "and the refusal says which it was");
}

}  // namespace

void run_one(ByteView input) {
  Input in(input);
  ArenaSize size;
  size.slots = static_cast<std::uint32_t>(in.below(20));
  size.bytes = static_cast<std::uint32_t>(in.one_in(4) ? in.below(60000) : in.below(128) * 16);
  const std::size_t limit = in.below(kCap + 2);
  if (limit == 0 || limit > kCap) {
    shard::ShardArena arena(size.slots, size.bytes);
    check_refused_limit(arena, limit);
    return;
  }
  Run run(in, size, limit);
  for (int steps = 0; steps < 100 && !in.done(); ++steps)
    run.step(in);
  run.finish(in);
}

}  // namespace cadastre::fuzz
