// Coverage of a parent by its children, against two oracles: a sweep that says which error comes
// first, and membership, which says what covering means.
//
// Input: keys, the parent's two bounds, how many even children to begin with, then edits of them.

#include "shard/split_coverage.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "shard/limits.h"
#include "shard/shard_spec.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteView;
using shard::ShardSpecRef;
using shard::SplitError;
using Code = SplitError::Code;

struct Range {
  Bytes start;
  Bytes end;
  bool long_metadata = false;

  [[nodiscard]] bool contains(const Bytes& key) const {
    return start <= key && (end.empty() || key < end);
  }
  [[nodiscard]] bool is_inverted() const { return !start.empty() && !end.empty() && start >= end; }
  [[nodiscard]] bool is_valid() const {
    return start.size() <= shard::kMaxKeySize && end.size() <= shard::kMaxKeySize &&
           !long_metadata && !is_inverted();
  }
};
using Ranges = std::vector<Range>;

SplitError error(Code code, std::array<std::uint64_t, 4> values = {}) {
  return {.code = code, .values = values};
}

// Equal starts stay in the caller's order.
std::vector<std::size_t> order_by_start(const Ranges& children) {
  std::vector<std::size_t> order(children.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return children[a].start != children[b].start ? children[a].start < children[b].start : a < b;
  });
  return order;
}

// One walk from the parent's start to its end.
std::optional<SplitError> swept_geometry(const Range& parent, const Ranges& children) {
  const auto order = order_by_start(children);
  const Range& first = children[order.front()];
  const Range& last = children[order.back()];
  if (first.start != parent.start)
    return error(Code::kStartMismatch, {parent.start.size(), first.start.size()});
  if (last.end != parent.end)
    return error(Code::kEndMismatch, {parent.end.size(), last.end.size()});
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Range& left = children[order[i - 1]];
    const Range& right = children[order[i]];
    if (left.end != right.start) {
      return error(Code::kBoundaryMismatch,
                   {order[i - 1], order[i], left.end.size(), right.start.size()});
    }
    if (left.end.empty()) return error(Code::kOverlappingChild, {order[i - 1], order[i]});
  }
  return std::nullopt;
}

std::optional<SplitError> swept(const Range& parent, const Ranges& children) {
  if (children.size() > 256) return error(Code::kTooManyChildren, {children.size(), 256});
  if (children.empty()) return error(Code::kNoChildren);
  if (children.size() == 1) return error(Code::kSingleChild);
  if (auto found = swept_geometry(parent, children)) return found;
  const auto order = order_by_start(children);
  for (const std::size_t index : order) {
    if (children[index].is_inverted()) return error(Code::kInvertedChild, {index});
  }
  for (const std::size_t index : order) {
    if (!children[index].is_valid()) return error(Code::kInvalidChildSpec, {index});
  }
  return std::nullopt;
}

// Whether every key is in exactly one child if it is in the parent, and in none if it is not.
// Between two bounds nothing changes, so the bounds and the least key stand for all keys.
bool is_partition(const Range& parent, const Ranges& children) {
  if (children.size() < 2 || children.size() > 256) return false;
  std::vector<Bytes> probes{{}, parent.start, parent.end};
  for (const Range& child : children) {
    if (!child.is_valid()) return false;
    probes.push_back(child.start);
    probes.push_back(child.end);
  }
  return std::ranges::all_of(probes, [&](const Bytes& key) {
    const auto holders =
        std::ranges::count_if(children, [&](const Range& child) { return child.contains(key); });
    return holders == (parent.contains(key) && !parent.is_inverted() ? 1 : 0);
  });
}

ShardSpecRef spec_of(const Range& range) {
  static const Bytes kLong(shard::kMaxMetadataSize + 1);
  return ShardSpecRef::unchecked(range.start, range.end,
                                 range.long_metadata ? ByteView(kLong) : ByteView());
}

void check_residual(const Range& parent, const Range& kept, const Range& given) {
  const auto got =
      shard::validate_residual_split({parent.start, parent.end}, spec_of(kept), spec_of(given));
  auto expected = swept(parent, {kept, given});
  if (given.end != parent.end)
    expected = error(Code::kEndMismatch, {parent.end.size(), given.end.size()});
  if (kept.start != parent.start)
    expected = error(Code::kStartMismatch, {parent.start.size(), kept.start.size()});
  CAD_CHECK(got.has_value() == !expected, "a residual split passes exactly when it should");
  if (expected) CAD_CHECK(got.error() == *expected, "swapped parts are noticed first");
}

constexpr std::size_t kMembershipMax = 40;

void check(const Range& parent, const Ranges& children) {
  std::vector<ShardSpecRef> specs;
  specs.reserve(children.size());
  for (const Range& child : children)
    specs.push_back(spec_of(child));
  const auto got = shard::validate_split_coverage({parent.start, parent.end}, specs);
  const auto expected = swept(parent, children);
  CAD_CHECK(got.has_value() == !expected, "coverage passes exactly when the sweep does");
  if (expected) CAD_CHECK(got.error() == *expected, "the error is the sweep's first");
  if (children.size() <= kMembershipMax) {
    CAD_CHECK(got.has_value() == is_partition(parent, children),
              "coverage accepts exactly the partitions");
  }
  if (children.size() == 2) check_residual(parent, children[0], children[1]);
}

// The parent cut at `points`, whatever they are.
Ranges cut(const Range& parent, const std::vector<Bytes>& points) {
  Ranges children;
  Bytes start = parent.start;
  for (const Bytes& point : points) {
    children.push_back({start, point});
    start = point;
  }
  children.push_back({start, parent.end});
  return children;
}

void edit(Input& in, const std::vector<Bytes>& keys, Ranges& children) {
  if (children.empty()) {
    children.push_back({keys[in.below(keys.size())], keys[in.below(keys.size())]});
    return;
  }
  const std::size_t index = in.below(children.size());
  const auto place = children.begin() + static_cast<std::ptrdiff_t>(index);
  switch (in.below(6)) {
    case 0: std::swap(children[index], children[in.below(children.size())]); break;
    case 1: children[index].start = keys[in.below(keys.size())]; break;
    case 2: children[index].end = keys[in.below(keys.size())]; break;
    case 3: children.erase(place); break;
    case 4: children.push_back({keys[in.below(keys.size())], keys[in.below(keys.size())]}); break;
    default: children[index].long_metadata = true; break;
  }
}

}  // namespace

void run_one(ByteView input) {
  Input in(input);
  std::vector<Bytes> keys{{}};
  for (std::size_t left = in.below(12); left > 0; --left)
    keys.push_back(in.string(shard::kMaxKeySize + 2));
  const Range parent{keys[in.below(keys.size())], keys[in.below(keys.size())]};
  Ranges children;
  if (in.below(2) == 0) {
    std::vector<Bytes> points(keys.begin() + 1, keys.end());
    std::ranges::sort(points);
    std::erase_if(points,
                  [&](const Bytes& key) { return key == parent.start || !parent.contains(key); });
    children = cut(parent, points);
  } else {
    std::vector<Bytes> points;
    for (std::size_t i = in.below(300); i > 0; --i)
      points.push_back(
          {std::byte{0x61}, static_cast<std::byte>(i >> 8), static_cast<std::byte>(i)});
    std::ranges::sort(points);
    children = cut(parent, points);
  }
  check(parent, children);
  for (int edits = 0; edits < 24 && !in.done(); ++edits) {
    edit(in, keys, children);
    check(parent, children);
  }
}

}  // namespace cadastre::fuzz
