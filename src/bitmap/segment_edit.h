// SegmentEdit: a segment's content on its way from one stored value to the next (5.2).
//
// It loads a value, changes it, knows the exact size of the result before a byte is written, says
// where to cut it, and writes it in canonical form as 81 or 82 (B-12, B-13): equal sets give equal
// bytes, whatever their history. All scratch is reused; once warm nothing is allocated.
//
//   auto effect = CAD_TRY(edit.load_and_insert(value, id));
//   if (effect == Effect::kUnchanged) return;
//   for (const SegmentPart& part : edit.plan(limit, hint).parts) views.push_back(edit.emit(part.containers));
//
// A loaded value is borrowed until the next load or clear: containers that do not change are copied
// once, from there into the emitted value. Views from emit live as long, so that every part can be
// emitted before the first is stored over the source (B-21). A value whose content is not valid is
// refused as a whole, before anything changes (B-28, B-30); after a refusal the edit is empty.
//
// One per writer; not for two threads at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_arena.h"
#include "bitmap/cut_plan.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_encode.h"
#include "bitmap/segment_patch.h"
#include "bitmap/segment_view.h"

namespace cadastre::bitmap {

// What to do with the second set.
enum class SetOp : std::uint8_t {
  kAdd,
  kRemove,
  kRetain,  // keep only what is in it
};

enum class Effect : std::uint8_t {
  kUnchanged,
  kChanged,
  kEmptied,  // Changed, and nothing is left: erase the segment.
};

// The next container, by ascending chunk, valid until the next call; nothing at the end.
using ContainerSource = base::FunctionRef<std::optional<ContainerView>()>;

class SegmentEdit {
 public:
  SegmentEdit();

  // ---- Content -------------------------------------------------------------------------------

  // What was there is forgotten.
  void clear() noexcept;
  [[nodiscard]] Result<void, ValueFault> load(ByteView value);
  [[nodiscard]] Result<void, ValueFault> load(base::Bytes&& value) = delete;  // It is borrowed.

  // load, then the change. kUnchanged leaves nothing to emit.
  [[nodiscard]] Result<Effect, ValueFault> load_and_insert(ByteView value, Id id);
  [[nodiscard]] Result<Effect, ValueFault> load_and_remove(ByteView value, Id id);
  // The same, cheaper where the result stays within a limit and only one container changes
  // (segment_patch.h). Until the next load the result can then be asked for as a whole only.
  [[nodiscard]] Result<Effect, ValueFault> insert_within(ByteView value,
                                                         Id id,
                                                         std::size_t limit_bytes);
  [[nodiscard]] Result<Effect, ValueFault> remove_within(ByteView value,
                                                         Id id,
                                                         std::size_t limit_bytes);
  [[nodiscard]] Result<Effect, ValueFault> load_and_merge(ByteView value,
                                                          std::span<const Id> sorted_unique,
                                                          SetOp op);
  [[nodiscard]] Result<Effect, ValueFault> load_and_merge(ByteView value, IdRange range, SetOp op);

  // Changes of what is there; after clear, of the empty set.
  [[nodiscard]] Effect insert(Id id);
  [[nodiscard]] Effect remove(Id id);
  [[nodiscard]] Effect merge(std::span<const Id> sorted_unique, SetOp op);
  [[nodiscard]] Effect merge(IdRange range, SetOp op);  // costs per chunk, not per id
  // Faults of the source's containers, of which kUnorderedKey is one; the edit is empty then.
  [[nodiscard]] Result<Effect, ValueFault> merge(ContainerSource source, SetOp op);

  // A neighbour's content behind or before what is there; kUnorderedKey if chunks do not follow each
  // other. The neighbour's value is borrowed like a loaded one.
  [[nodiscard]] Result<void, ValueFault> append_containers(const SegmentView& right);
  [[nodiscard]] Result<void, ValueFault> prepend_containers(const SegmentView& left);

  // ---- Result --------------------------------------------------------------------------------

  [[nodiscard]] bool empty() const noexcept { return cardinality_ == 0; }
  [[nodiscard]] std::uint64_t cardinality() const noexcept { return cardinality_; }
  // As of the last load or clear: the difference is what a change has added or removed.
  [[nodiscard]] std::uint64_t loaded_cardinality() const noexcept { return loaded_cardinality_; }
  // Exact, of the canonical form, checksum included; not empty.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::size_t container_count() const noexcept;

  // Plans point into the edit and hold until its next change.
  [[nodiscard]] CutPlan plan(std::size_t limit_bytes, const CutHint& hint);
  [[nodiscard]] CutPlan pack(std::size_t limit_bytes);

  // The canonical value of some containers, at least one, or of all of them.
  [[nodiscard]] ByteView emit(ContainerSpan span);
  [[nodiscard]] ByteView emit();

 private:
  // Of the ways to hold the content: ids is the one for what is stored as form 2 and stays so.
  enum class Content : std::uint8_t {
    kIds,
    kContainers,
    kPatched,  // the result alone
  };

  // Whether one container was changed in the value, which is all there is then.
  [[nodiscard]] Result<bool, ValueFault> patch(
      const SegmentView& view, ByteView value, Id id, PatchOp op, std::size_t limit_bytes);
  // Takes over an opened value; clears first.
  [[nodiscard]] Result<void, ValueFault> load(const SegmentView& view);
  [[nodiscard]] Result<void, ValueFault> gather(const SegmentView& view);
  [[nodiscard]] Result<void, ValueFault> gather_portable(const SegmentView& view);
  // A container of a value, valid and canonical; borrowed where it is that already.
  [[nodiscard]] Result<ContainerView, ValueFault> adopt(const ContainerView& container,
                                                        bool is_sealed);
  [[nodiscard]] ContainerView keep_canonical(const ContainerView& container);

  [[nodiscard]] Effect insert_id(Id id);
  [[nodiscard]] Effect remove_id(Id id);
  [[nodiscard]] Effect insert_slot_of(Id id);
  [[nodiscard]] Effect remove_slot_of(Id id);
  [[nodiscard]] Effect merge_ids(std::span<const Id> sorted_unique, SetOp op);
  [[nodiscard]] Effect cut_ids(IdRange range, SetOp op);
  [[nodiscard]] Effect cut_containers(IdRange range, SetOp op);
  void merge_equal(const ContainerView& own, const ContainerView& other, SetOp op);

  // Whether form 1 can have become smaller for content that is held as ids (B-14).
  enum class PortableMayWin : bool {
    kNo,
    kYes
  };
  // After every change: count, size, and the way to hold the content.
  void settle(PortableMayWin may_win);
  void settle_ids(PortableMayWin may_win);
  void settle_containers();
  [[nodiscard]] Effect effect_since(std::uint64_t cardinality) const noexcept;
  void hold_containers();
  [[nodiscard]] CutPlan whole();
  [[nodiscard]] std::uint64_t first_chunk() const noexcept;
  [[nodiscard]] std::uint64_t last_chunk() const noexcept;
  [[nodiscard]] std::size_t find(std::uint64_t chunk) const noexcept;

  Content content_ = Content::kIds;
  std::vector<Id> ids_;                    // kIds: all of them; else scratch
  std::size_t chunk_count_ = 0;            // kIds, kPatched: distinct chunks
  std::vector<ContainerView> containers_;  // kContainers: all of them, ascending
  ByteView patched_;                       // kPatched: the value
  std::uint64_t cardinality_ = 0;
  std::uint64_t loaded_cardinality_ = 0;
  std::size_t size_bytes_ = 0;

  std::vector<Id> merged_ids_;
  std::vector<ContainerView> merged_;  // what a merge has done so far
  ContainerArena arena_;               // containers that are not in a loaded value
  ContainerBuffer result_;
  ContainerBuffer converted_;
  ContainerBuffer range_;
  CutScratch cut_scratch_;
  std::vector<ValueBuffer> emitted_;  // one for each value since the last load
  std::size_t emitted_count_ = 0;
};

}  // namespace cadastre::bitmap
