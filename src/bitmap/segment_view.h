// SegmentView: one stored value, read where it lies.
//
// Never owns and never allocates: it borrows the value, which must stay in place (B-4). Both forms
// are seen as containers in ascending order of chunks; of packed ids the iterator makes arrays (and,
// above 4096 ids of a chunk, bitsets) in a buffer of its own. Point reads search the stored bytes.
//
// Opening checks form, checksum, counts, order of chunks, and that containers fill the value one
// after the other (B-28, B-29). The order of slots inside a container is not looked at: see
// check_contents. Whatever the bytes hold, reading stays inside them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/packed_ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/segment_form.h"

namespace cadastre::bitmap {

class ContainerIterator;

class SegmentView {
 public:
  [[nodiscard]] static Result<SegmentView, ValueFault> open(ByteView value,
                                                            ReadCheck check = ReadCheck::kChecksum);

  [[nodiscard]] bool contains(Id id) const noexcept;
  [[nodiscard]] std::uint64_t cardinality() const noexcept { return cardinality_; }
  // Members <= id.
  [[nodiscard]] std::uint64_t rank(Id id) const noexcept;
  // The member with `index` members before it, or nothing if there are not that many.
  [[nodiscard]] std::optional<Id> select(std::uint64_t index) const noexcept;
  [[nodiscard]] Id min() const noexcept;
  [[nodiscard]] Id max() const noexcept;

  // Containers, ascending. What an iterator shows dies when it moves.
  [[nodiscard]] ContainerIterator begin() const noexcept;
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return std::default_sentinel; }
  // From the first container whose chunk is at least this one.
  [[nodiscard]] ContainerIterator seek(std::uint64_t chunk) const noexcept;
  // The last container whose chunk is at most this one: a step of a descending walk. May lie in
  // `buffer`.
  [[nodiscard]] std::optional<ContainerView> floor(std::uint64_t chunk,
                                                   ContainerBuffer& buffer) const noexcept;

  // The content of every container, or of every packed id (what `verify` and every edit ask).
  [[nodiscard]] Result<void, ValueFault> check_contents() const;

  [[nodiscard]] SegmentForm form() const noexcept { return payload_.form; }
  // Whether it has a checksum, looked at or not.
  [[nodiscard]] bool is_sealed() const noexcept { return payload_.is_sealed; }
  // Of packed ids, the number of distinct chunks: a walk.
  [[nodiscard]] std::size_t container_count() const noexcept;

  // The parts, each for its form only.
  [[nodiscard]] const PackedIds& packed() const noexcept { return packed_; }
  [[nodiscard]] const PortableMaps& portable() const noexcept { return portable_; }

 private:
  friend class ContainerIterator;

  SegmentPayload payload_;
  PackedIds packed_;
  PortableMaps portable_;
  std::uint64_t cardinality_ = 0;
};

// An input iterator over containers. Copies are independent; each is large (it owns a buffer).
class ContainerIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = ContainerView;
  using difference_type = std::ptrdiff_t;

  ContainerIterator() noexcept = default;

  [[nodiscard]] ContainerView operator*() const noexcept;
  ContainerIterator& operator++() noexcept;
  void operator++(int) noexcept { ++*this; }
  friend bool operator==(const ContainerIterator& it, std::default_sentinel_t) noexcept {
    return it.at_end_;
  }

 private:
  friend class SegmentView;
  void show_packed() noexcept;
  void show_portable() noexcept;

  bool at_end_ = true;
  SegmentForm form_ = SegmentForm::kPortable;
  ContainerView current_;  // its bytes are taken from `buffer_` where the form is packed
  PackedIds packed_;
  std::size_t next_id_ = 0;  // packed: behind the current container
  PortableMaps portable_;
  PortableMap map_;
  std::size_t map_at_ = 0;        // portable: where `map_` begins in the payload
  std::size_t container_ = 0;     // portable: index of the current container in `map_`
  std::size_t container_at_ = 0;  // portable: where its bytes begin in `map_`
  ContainerBuffer buffer_;
};

}  // namespace cadastre::bitmap
