// IdStream: a set of ids, pulled container by container in the order of chunks (5.3).
//
// Memory is bounded by the node, not by the set. A container lives until the next call on the stream
// that gave it. Streams over a table read stored bytes in place: after a mutation of their
// transaction they answer kStale.
//
//   Stream both = all_of({CAD_TRY(table.stream("red")), CAD_TRY(table.stream("round"))});
//   const std::uint64_t n = CAD_TRY(count(*both));

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/container.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"

namespace cadastre::bitmap {

enum class Direction : std::uint8_t {
  kAscending,
  kDescending,
};

// How many ids of a chunk there are, for those who only count.
struct ChunkCount {
  std::uint64_t chunk = 0;
  std::uint32_t cardinality = 0;  // not 0
};

class IdStream {
 public:
  explicit IdStream(Direction direction) noexcept : direction_(direction) {}
  IdStream(const IdStream&) = delete;
  IdStream& operator=(const IdStream&) = delete;
  virtual ~IdStream() = default;

  // In the direction of the stream; none is empty; nothing at the end.
  [[nodiscard]] virtual Result<std::optional<ContainerView>, Error> next() = 0;
  // Skips what lies before `chunk`, and is next(). Never goes back: what was passed stays passed.
  [[nodiscard]] virtual Result<std::optional<ContainerView>, Error> seek(std::uint64_t chunk) = 0;
  // As next(), without making the container where the count can be had for less.
  [[nodiscard]] virtual Result<std::optional<ChunkCount>, Error> skim();

  [[nodiscard]] Direction direction() const noexcept { return direction_; }
  // Whether a stream in this direction meets `a` before `b`.
  [[nodiscard]] bool comes_before(std::uint64_t a, std::uint64_t b) const noexcept {
    return direction_ == Direction::kAscending ? a < b : a > b;
  }

 private:
  Direction direction_;
};
using Stream = std::unique_ptr<IdStream>;

[[nodiscard]] Result<std::uint64_t, Error> count(IdStream& stream);
// Stops at the first id.
[[nodiscard]] Result<bool, Error> any(IdStream& stream);
// kResultTooLarge if the set's portable bytes would exceed bytes_max. Ascending streams.
[[nodiscard]] Result<Bitmap, Error> collect(IdStream& stream, std::size_t bytes_max);
// Blocks of up to kBlockIds ids, in the stream's order; `visit` returns false to stop.
inline constexpr std::size_t kBlockIds = 1024;
[[nodiscard]] Result<void, Error> for_each(IdStream& stream,
                                           base::FunctionRef<bool(std::span<const Id>)> visit);

// Id by id, with errors made visible.
class IdCursor {
 public:
  explicit IdCursor(Stream stream) noexcept;
  [[nodiscard]] Result<std::optional<Id>, Error> next();

 private:
  Stream stream_;
  std::vector<std::uint16_t> slots_;  // of the current container, in the stream's order
  std::size_t at_ = 0;
  std::uint64_t chunk_ = 0;
};

// A stream over containers that someone else owns; for bitmaps and tests.
[[nodiscard]] Stream stream_of(const Bitmap& bitmap, Direction direction = Direction::kAscending);

}  // namespace cadastre::bitmap
