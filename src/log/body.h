// The body of an entry: commands that were closed together, with a sum for each.
//
// Entry body, version 1. Integers are little-endian.
//
//   offset  size  field
//        0     1  version  1
//        1     1  flags    zero (bit 0 is reserved for compression)
//        2     2  count    commands, 1..1024
//        4     4  crc32c   of bytes 0..3, 8..15 and the table
//        8     8  hint     the proposer's wall clock in ms, for lag metrics only: apply must not read it
//       16    8n  table    for each command: u32 length, u32 crc32c of its bytes
//   16 + 8n     m  bytes    the commands, one after the other
//
// An empty body is the engine's own entry, which opens a term. A reader rejects an unknown version, an
// unknown flag, and every length that does not add up.
//
// BodyBuilder collects commands so that closing a batch touches header and table only: the commands
// already lie where they will stay, and the table is written into the room left in front of them.
//
// Body is immutable and shared; it may be read and dropped from any thread. The rest belongs to one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/limits.h"

namespace cadastre::log {

using base::Bytes;
using base::ByteView;
using base::Result;

// Immutable bytes of one entry, counted. Empty when made by default.
class Body {
 public:
  Body() = default;
  Body(std::shared_ptr<const std::byte[]> owner, ByteView bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  [[nodiscard]] static Body copy_of(ByteView bytes);

  [[nodiscard]] ByteView bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::shared_ptr<const std::byte[]> owner_;
  ByteView bytes_;  // Inside what owner_ holds.
};

// A command and the sum that its proposer made of it.
struct SummedCommand {
  ByteView bytes;
  std::uint32_t crc32c = 0;
};

class BodyBuilder {
 public:
  // How many bytes the body would have with one more command of this size.
  [[nodiscard]] std::size_t bytes_with(std::size_t command_bytes) const noexcept {
    return body_bytes() + kBodySlotBytes + command_bytes;
  }
  [[nodiscard]] std::size_t body_bytes() const noexcept {
    return kBodyHeaderBytes + table_.size() * kBodySlotBytes + used_;
  }
  [[nodiscard]] std::size_t count() const noexcept { return table_.size(); }

  // Copies the command. The caller keeps to kBatchCommandsMax and kEntryBytesMax.
  void add(SummedCommand command);

  // The body of at least one command; the builder is empty afterwards.
  [[nodiscard]] Body close(std::uint64_t hint_ms);

 private:
  struct Slot {
    std::uint32_t bytes;
    std::uint32_t crc32c;
  };

  void grow(std::size_t front, std::size_t command_bytes);

  std::vector<Slot> table_;
  std::shared_ptr<std::byte[]> buffer_;  // front_ bytes for header and table, then the commands
  std::size_t front_ = 0;
  std::size_t capacity_ = 0;  // behind the front
  std::size_t used_ = 0;      // behind the front
};

enum class BodyError : std::uint8_t {
  kVersion,  // Written by a newer release: start that one.
  kDamaged,  // The bytes are not what was written: the group stops here.
};

// The commands of a body, in order; none if it is empty. Every length and every sum was checked.
[[nodiscard]] Result<std::vector<ByteView>, BodyError> read_body(ByteView body);

// The same, into a list that is used again and again. On an error the list's content is unspecified.
[[nodiscard]] Result<void, BodyError> read_body_into(ByteView body,
                                                     std::vector<ByteView>& commands);

// The proposer's wall clock in ms; 0 for an empty body. Only for a body that read_body accepts.
[[nodiscard]] std::uint64_t body_hint_ms(ByteView body) noexcept;

}  // namespace cadastre::log
