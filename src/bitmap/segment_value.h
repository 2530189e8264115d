// SegmentValue: what the partition layer asks of a value. It knows sizes, cut points, splitting,
// merging and encoding, and nothing of what a value is made of.
//
// A value is a set of ids in stored bytes. A View reads them where they lie; an Edit takes them
// through one change, knows the size of the result, cuts it between chunks, and writes the parts.
// RoaringValue is the product's only one; a plain list of ids proves the seam in tests.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/cut_plan.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_view.h"

namespace cadastre::bitmap {

template <class View>
concept SegmentReading =
    requires(const View& view, base::ByteView value, ReadCheck check, Id id, std::uint64_t index) {
      { View::open(value, check) } -> std::same_as<base::Result<View, ValueFault>>;
      { view.contains(id) } -> std::same_as<bool>;
      { view.cardinality() } -> std::same_as<std::uint64_t>;
      { view.rank(id) } -> std::same_as<std::uint64_t>;
      { view.select(index) } -> std::same_as<std::optional<Id>>;
      { view.min() } -> std::same_as<Id>;
      { view.max() } -> std::same_as<Id>;
      { view.check_contents() } -> std::same_as<base::Result<void, ValueFault>>;
    };

template <class Edit, class View>
concept SegmentEditing = requires(Edit& edit,
                                  const View& neighbour,
                                  base::ByteView value,
                                  Id id,
                                  std::span<const Id> ids,
                                  IdRange range,
                                  SetOp op,
                                  std::size_t limit_bytes,
                                  const CutHint& hint,
                                  ContainerSpan span) {
  edit.clear();
  { edit.load(value) } -> std::same_as<base::Result<void, ValueFault>>;
  { edit.load_and_insert(value, id) } -> std::same_as<base::Result<Effect, ValueFault>>;
  { edit.load_and_remove(value, id) } -> std::same_as<base::Result<Effect, ValueFault>>;
  { edit.insert_within(value, id, limit_bytes) } -> std::same_as<base::Result<Effect, ValueFault>>;
  { edit.remove_within(value, id, limit_bytes) } -> std::same_as<base::Result<Effect, ValueFault>>;
  { edit.load_and_merge(value, ids, op) } -> std::same_as<base::Result<Effect, ValueFault>>;
  { edit.load_and_merge(value, range, op) } -> std::same_as<base::Result<Effect, ValueFault>>;
  { edit.insert(id) } -> std::same_as<Effect>;
  { edit.remove(id) } -> std::same_as<Effect>;
  { edit.merge(ids, op) } -> std::same_as<Effect>;
  { edit.merge(range, op) } -> std::same_as<Effect>;
  { edit.append_containers(neighbour) } -> std::same_as<base::Result<void, ValueFault>>;
  { edit.prepend_containers(neighbour) } -> std::same_as<base::Result<void, ValueFault>>;
  { edit.empty() } -> std::same_as<bool>;
  { edit.cardinality() } -> std::same_as<std::uint64_t>;
  { edit.loaded_cardinality() } -> std::same_as<std::uint64_t>;
  { edit.size_bytes() } -> std::same_as<std::size_t>;
  { edit.container_count() } -> std::same_as<std::size_t>;
  { edit.plan(limit_bytes, hint) } -> std::same_as<CutPlan>;
  { edit.pack(limit_bytes) } -> std::same_as<CutPlan>;
  { edit.emit(span) } -> std::same_as<base::ByteView>;
  { edit.emit() } -> std::same_as<base::ByteView>;
};

template <class Value>
concept SegmentValue =
    SegmentReading<typename Value::View> && std::default_initializable<typename Value::Edit> &&
    SegmentEditing<typename Value::Edit, typename Value::View>;

struct RoaringValue {
  using View = SegmentView;
  using Edit = SegmentEdit;
};
static_assert(SegmentValue<RoaringValue>);

}  // namespace cadastre::bitmap
