#include "shard/split_coverage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"
#include "shard/wide_key.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

using Code = SplitError::Code;
using Children = std::span<const ShardSpecRef>;

// A child's place in the order by start. Most comparisons end at the head.
struct Entry {
  std::uint64_t head;  // eight bytes of the start behind what all starts share, padded with zeros
  std::uint16_t index;
};

constexpr std::size_t kInsertionSortMax = 16;

class ByStart {
 public:
  explicit ByStart(Children children) noexcept : children_(children) {}

  // Ties go by the caller's order, which makes any sort a stable one.
  bool operator()(const Entry& a, const Entry& b) const noexcept {
    if (a.head != b.head) return a.head < b.head;
    const auto order = base::compare(children_[a.index].start(), children_[b.index].start());
    return order != 0 ? order < 0 : a.index < b.index;
  }

 private:
  Children children_;
};

void insertion_sort(std::span<Entry> entries, ByStart less) noexcept {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const Entry moving = entries[i];
    std::size_t at = i;
    for (; at > 0 && less(moving, entries[at - 1]); --at)
      entries[at] = entries[at - 1];
    entries[at] = moving;
  }
}

// How many leading bytes all starts share.
std::size_t shared_head(Children children) noexcept {
  const ByteView first = children.front().start();
  std::size_t shared = first.size();
  for (const auto& child : children.subspan(1)) {
    if (shared == 0) break;
    shared = common_prefix_size(first.first(shared), child.start());
  }
  return shared;
}

void sort_by_start(Children children, std::span<Entry> entries) noexcept {
  // What a few children share is not worth looking for.
  const std::size_t shared = entries.size() > kInsertionSortMax ? shared_head(children) : 0;
  const std::size_t head_end = shared + kWordBytes;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {word_ending_at(children[i].start(), head_end), static_cast<std::uint16_t>(i)};
  }
  if (entries.size() <= kInsertionSortMax) {
    insertion_sort(entries, ByStart(children));
  } else {
    std::ranges::sort(entries, ByStart(children));
  }
}

Result<void, SplitError> check_ends(KeyRange parent,
                                    const ShardSpecRef& first,
                                    const ShardSpecRef& last) noexcept {
  if (!base::equal(first.start(), parent.start)) {
    return base::fail(SplitError{.code = Code::kStartMismatch,
                                 .values = {parent.start.size(), first.start().size()}});
  }
  if (!base::equal(last.end(), parent.end)) {
    return base::fail(
        SplitError{.code = Code::kEndMismatch, .values = {parent.end.size(), last.end().size()}});
  }
  return {};
}

Result<void, SplitError> check_neighbours(Children children,
                                          std::span<const Entry> order) noexcept {
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::uint64_t left = order[i - 1].index;
    const std::uint64_t right = order[i].index;
    const ByteView left_end = children[left].end();
    const ByteView right_start = children[right].start();
    if (!base::equal(left_end, right_start)) {
      return base::fail(SplitError{.code = Code::kBoundaryMismatch,
                                   .values = {left, right, left_end.size(), right_start.size()}});
    }
    // As an end it is infinity, as a start the least key: the two ranges share everything.
    if (left_end.empty()) {
      return base::fail(SplitError{.code = Code::kOverlappingChild, .values = {left, right}});
    }
  }
  return {};
}

bool is_inverted(const ShardSpecRef& spec) noexcept {
  return !spec.is_start_unbounded() && !spec.is_end_unbounded() &&
         !base::less(spec.start(), spec.end());
}

Result<void, SplitError> check_specs(Children children, std::span<const Entry> order) noexcept {
  for (const Entry& entry : order) {
    if (is_inverted(children[entry.index])) {
      return base::fail(SplitError{.code = Code::kInvertedChild, .values = {entry.index}});
    }
  }
  for (const Entry& entry : order) {
    if (!validate(children[entry.index])) {
      return base::fail(SplitError{.code = Code::kInvalidChildSpec, .values = {entry.index}});
    }
  }
  return {};
}

}  // namespace

Result<void, SplitError> validate_split_coverage(KeyRange parent, Children children) noexcept {
  if (children.size() > kMaxSplitChildren) {
    return base::fail(
        SplitError{.code = Code::kTooManyChildren, .values = {children.size(), kMaxSplitChildren}});
  }
  if (children.empty()) return base::fail(SplitError{.code = Code::kNoChildren});
  if (children.size() == 1) return base::fail(SplitError{.code = Code::kSingleChild});

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the entries in use are written
  std::array<Entry, kMaxSplitChildren> storage;
  const std::span<Entry> order = std::span(storage).first(children.size());
  sort_by_start(children, order);
  CAD_TRY(check_ends(parent, children[order.front().index], children[order.back().index]));
  CAD_TRY(check_neighbours(children, order));
  return check_specs(children, order);
}

Result<void, SplitError> validate_residual_split(KeyRange old_range,
                                                 const ShardSpecRef& new_parent,
                                                 const ShardSpecRef& residual) noexcept {
  CAD_TRY(check_ends(old_range, new_parent, residual));
  const std::array<ShardSpecRef, 2> both{new_parent, residual};
  return validate_split_coverage(old_range, both);
}

std::string_view code_name(const SplitError& error) noexcept {
  switch (error.code) {
    case Code::kTooManyChildren: return "too_many_children";
    case Code::kNoChildren: return "no_children";
    case Code::kSingleChild: return "single_child";
    case Code::kStartMismatch: return "start_mismatch";
    case Code::kEndMismatch: return "end_mismatch";
    case Code::kBoundaryMismatch: return "boundary_mismatch";
    case Code::kOverlappingChild: return "overlapping_child";
    case Code::kInvertedChild: return "inverted_child";
    case Code::kInvalidChildSpec: return "invalid_child_spec";
    case Code::kParentCursorOutOfBounds: return "parent_cursor_out_of_bounds";
    case Code::kSpawnLimitExceeded: return "spawn_limit_exceeded";
    case Code::kBackendChildLimitExceeded: return "backend_child_limit_exceeded";
    case Code::kShardLimitExceeded: return "shard_limit_exceeded";
    case Code::kDerivedIdCollision: return "derived_id_collision";
    case Code::kInvalidChildCursor: return "invalid_child_cursor";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const SplitError& error) noexcept {
  TextWriter out(first, last);
  const auto& v = error.values;
  switch (error.code) {
    case Code::kTooManyChildren:
      return out.number(v[0]).text(" children exceed the limit of ").number(v[1]).end();
    case Code::kNoChildren: return out.text("a split has children").end();
    case Code::kSingleChild: return out.text("a split has at least two children").end();
    case Code::kStartMismatch:
      return out.text("the first child does not begin where its parent does").end();
    case Code::kEndMismatch:
      return out.text("the last child does not end where its parent does").end();
    case Code::kBoundaryMismatch:
      return out.text("child ")
          .number(v[1])
          .text(" does not begin where child ")
          .number(v[0])
          .text(" ends")
          .end();
    case Code::kOverlappingChild:
      return out.text("children ").number(v[0]).text(" and ").number(v[1]).text(" overlap").end();
    case Code::kInvertedChild:
      return out.text("child ").number(v[0]).text(" ends before it begins").end();
    case Code::kInvalidChildSpec:
      return out.text("child ").number(v[0]).text(" is not a valid spec").end();
    case Code::kParentCursorOutOfBounds:
      return out.text("the parent's cursor is outside its range").end();
    case Code::kSpawnLimitExceeded:
      return out.number(v[0])
          .text(" spawned and ")
          .number(v[1])
          .text(" more exceed ")
          .number(v[2])
          .end();
    case Code::kBackendChildLimitExceeded:
      return out.number(v[0]).text(" children exceed the backend's limit of ").number(v[1]).end();
    case Code::kShardLimitExceeded:
      return out.number(v[0])
          .text(" shards and ")
          .number(v[1])
          .text(" more exceed ")
          .number(v[2])
          .end();
    case Code::kDerivedIdCollision:
      return out.text("derived id ").number(v[0]).text(" is taken").end();
    case Code::kInvalidChildCursor:
      return out.text("the cursor of child ")
          .number(v[0])
          .text(" is too large or outside the child's range")
          .end();
  }
  return out.end();
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
