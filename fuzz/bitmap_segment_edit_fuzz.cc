// SegmentEdit on any bytes: a value that loads stays valid under edits, each of which has the effect it
// has on a plain set; sizes are known before bytes are written, parts of a cut cover the segment, and
// what was emitted loads and is emitted the same way again. A value that does not load changes nothing.
//
// Input: u16 size of the value, the value, then edits. A value with a checksum is run as given and with
// the checksum made right.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/cut_plan.h"
#include "bitmap/ids.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_view.h"
#include "fuzz/bitmap_values.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using bitmap::Effect;
using bitmap::Id;
using bitmap::IdRange;
using bitmap::SegmentEdit;
using bitmap::SegmentView;
using bitmap::SetOp;

constexpr std::size_t kEditsMax = 12;
constexpr std::size_t kPatchBytesMax = std::size_t{1} << 20;
constexpr std::size_t kIdsMax = 70'000;
constexpr std::size_t kManyIds = 10'000;  // of which one edit is enough
constexpr std::uint64_t kShortRange = 300;
constexpr std::uint64_t kLongRange = 9'000;

using Ids = std::vector<Id>;  // ascending

// Near a member mostly.
Id any_id(Input& in, const Ids& model) {
  if (model.empty() || in.one_in(4)) return Id{in.number()};
  const auto at = std::ranges::lower_bound(model, Id{in.number()});
  const Id near = at == model.end() ? model.back() : *at;
  return Id{near.value() + in.below(5) - 2};
}

// What the operation makes of the model; whether that is another set.
bool apply(Ids& model, const Ids& other, SetOp op) {
  Ids after;
  const auto out = std::back_inserter(after);
  switch (op) {
    case SetOp::kAdd: std::ranges::set_union(model, other, out); break;
    case SetOp::kRemove: std::ranges::set_difference(model, other, out); break;
    case SetOp::kRetain: std::ranges::set_intersection(model, other, out); break;
  }
  std::swap(model, after);
  return model.size() != after.size();
}

Effect change_one(Input& in, SegmentEdit& edit, Ids& model, base::ByteView value) {
  const Id id = any_id(in, model);
  const bool is_insert = in.below(2) == 0;
  const bool changes = apply(model, {id}, is_insert ? SetOp::kAdd : SetOp::kRemove);
  const auto effect = is_insert ? edit.load_and_insert(value, id) : edit.load_and_remove(value, id);
  CAD_CHECK(effect.has_value(), "what loaded once loads again");
  CAD_CHECK((*effect != Effect::kUnchanged) == changes, "the effect is the set's");
  SegmentEdit patched;
  const auto same = is_insert ? patched.insert_within(value, id, kPatchBytesMax)
                              : patched.remove_within(value, id, kPatchBytesMax);
  CAD_CHECK(same.has_value() && *same == *effect, "a patch has the same effect");
  if (*same == Effect::kChanged) {
    CAD_CHECK(base::equal(patched.emit(), edit.emit()), "a patch gives the same bytes");
  }
  return *effect;
}

Effect change_many(Input& in, SegmentEdit& edit, Ids& model, base::ByteView value) {
  const auto op = static_cast<SetOp>(in.below(3));
  Ids ids;
  if (in.below(2) == 0) {
    for (std::size_t left = in.below(20); left > 0; --left)
      ids.push_back(any_id(in, model));
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    const auto effect = edit.load_and_merge(value, ids, op);
    CAD_CHECK(effect.has_value(), "what loaded once loads again");
    CAD_CHECK((*effect != Effect::kUnchanged) == apply(model, ids, op), "ids");
    return *effect;
  }
  const Id first = any_id(in, model);
  const std::uint64_t length =
      std::min(in.number() % (in.one_in(8) ? kLongRange : kShortRange), ~first.value());
  for (std::uint64_t i = 0; i <= length; ++i)
    ids.emplace_back(first.value() + i);
  const auto effect = edit.load_and_merge(value, IdRange{ids.front(), ids.back()}, op);
  CAD_CHECK(effect.has_value(), "what loaded once loads again");
  CAD_CHECK((*effect != Effect::kUnchanged) == apply(model, ids, op), "range");
  return *effect;
}

void check_members(const SegmentView& view, const Ids& model) {
  CAD_CHECK(std::ranges::equal(ids_of(view), model, {}, {}, &Id::value),
            "the members are the model's");
}

void check_parts(Input& in, SegmentEdit& edit, const Ids& model) {
  const std::size_t limit = 40 + in.below(65536) % 3000;
  const bitmap::CutHint hint{static_cast<bitmap::SegmentPlace>(in.below(4)),
                             model.empty() ? 0 : chunk_of(model.back())};
  std::vector<base::ByteView> values;
  for (const bitmap::SegmentPart& part : edit.plan(limit, hint).parts) {
    values.push_back(edit.emit(part.containers));
    CAD_CHECK(values.back().size() == part.size_bytes, "a part's size is known");
    CAD_CHECK(part.size_bytes <= limit || part.containers.count() == 1, "I-5");
  }
  std::vector<std::uint64_t> all;
  for (const base::ByteView value : values) {
    const auto view = SegmentView::open(value);
    CAD_CHECK(view.has_value(), "a part is a value");
    const auto ids = ids_of(*view);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  CAD_CHECK(std::ranges::equal(all, model, {}, {}, &Id::value), "parts cover the segment");
}

void run_edits(Input& in, base::ByteView given) {
  SegmentEdit edit;
  for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{42}, std::uint64_t{1} << 16}) {
    const auto effect = edit.insert_within(given, Id{id}, kPatchBytesMax);
    if (effect && *effect == Effect::kChanged) {
      CAD_CHECK(SegmentView::open(edit.emit()).has_value(), "what is patched can be opened");
    }
  }
  if (!edit.load(given)) {
    CAD_CHECK(edit.empty(), "after a refusal there is nothing");
    return;
  }
  if (edit.cardinality() > kIdsMax) return;
  base::Bytes value = base::to_owned(edit.emit());
  CAD_CHECK(value.size() == edit.size_bytes(), "the size is known");
  Ids model;
  for (const std::uint64_t id : ids_of(*SegmentView::open(given)))
    model.emplace_back(id);
  for (std::size_t left = kEditsMax; left > 0 && !in.done(); --left) {
    if (model.size() > kManyIds) left = 1;
    const Effect effect =
        in.below(3) == 0 ? change_many(in, edit, model, value) : change_one(in, edit, model, value);
    if (effect == Effect::kUnchanged) continue;
    CAD_CHECK((effect == Effect::kEmptied) == model.empty(), "emptied");
    if (model.empty()) return;
    const base::ByteView emitted = edit.emit();
    CAD_CHECK(emitted.size() == edit.size_bytes(), "the size is known");
    CAD_CHECK(edit.cardinality() == model.size(), "cardinality");
    base::Bytes next = base::to_owned(emitted);
    const auto view = SegmentView::open(next);
    CAD_CHECK(view.has_value() && view->check_contents().has_value(), "what is emitted is valid");
    check_members(*view, model);
    check_parts(in, edit, model);
    value = std::move(next);  // The edit has borrowed the value before.
    CAD_CHECK(edit.load(value).has_value() && base::equal(edit.emit(), value), "and canonical");
  }
}

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  const std::size_t size = in.below(65536);
  const base::ByteView rest = in.rest();
  const base::ByteView value = rest.first(std::min(size, rest.size()));
  for (const base::Bytes& each : {base::to_owned(value), resealed(value)}) {
    Input edits(rest.subspan(value.size()));
    run_edits(edits, each);
  }
}

}  // namespace cadastre::fuzz
