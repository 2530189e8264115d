// KeyBuf and MetadataBuf: caller-owned scratch of a fixed size.
//
// Encoders and range arithmetic write into one of these and return a view of it, so that nothing
// allocates. The storage is left uninitialised: zeroing 4 KiB for each construction would cost more
// than the arithmetic on a short key. KeyBuf has one byte more than a legal key, so that an encoder
// that overruns the limit by one is seen and refused instead of being cut.
//
// Views are invalidated by the next change. Not thread-safe; one for each thread or planner.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/check.h"
#include "shard/limits.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::ByteView;

template <std::size_t Capacity>
// NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): a move is a copy
class ScratchBuf {
 public:
  // Uninitialised on purpose, see above; a defaulted one would zero all of it in `KeyBuf{}`.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default)
  ScratchBuf() noexcept {}
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  ScratchBuf(const ScratchBuf& other) noexcept : size_(other.size_) { copy_from(other.view()); }
  ScratchBuf& operator=(const ScratchBuf& other) noexcept {
    if (this != &other) assign(other.view());
    return *this;
  }
  ~ScratchBuf() = default;

  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }

  [[nodiscard]] ByteView view() const noexcept CAD_LIFETIMEBOUND {
    return {storage_.data(), size_};
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void clear() noexcept {
    size_ = 0;
    generation_.bump();
  }

  // The source may overlap this buffer.
  void assign(ByteView bytes) noexcept {
    CAD_CHECK(bytes.size() <= Capacity, "the caller bounds what it assigns");
    copy_from(bytes);
    size_ = bytes.size();
    generation_.bump();
  }

  // False when `bytes` is too long; the buffer is then unchanged.
  [[nodiscard]] bool try_assign(ByteView bytes) noexcept {
    if (bytes.size() > Capacity) return false;
    assign(bytes);
    return true;
  }

  // False when it does not fit; the buffer is then unchanged.
  [[nodiscard]] bool append(std::uint8_t byte) noexcept {
    if (size_ == Capacity) return false;
    storage_[size_++] = static_cast<std::byte>(byte);
    generation_.bump();
    return true;
  }
  [[nodiscard]] bool append(ByteView bytes) noexcept {
    if (bytes.size() > Capacity - size_) return false;
    if (!bytes.empty()) std::memmove(storage_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
    generation_.bump();
    return true;
  }

  // For arithmetic kernels: write through the pointer, then say how many bytes count.
  [[nodiscard]] std::byte* mutable_data() noexcept CAD_LIFETIMEBOUND { return storage_.data(); }
  void set_size(std::size_t size) noexcept {
    CAD_CHECK(size <= Capacity, "a kernel stays inside its buffer");
    size_ = size;
    generation_.bump();
  }

  // Whether `bytes` shares memory with any of this buffer, used or not.
  [[nodiscard]] bool overlaps(ByteView bytes) const noexcept {
    return base::overlaps(bytes, {storage_.data(), Capacity});
  }

  [[nodiscard]] ViewGuard guard() const noexcept { return {generation_, ViewOwner::kScratch}; }

 private:
  void copy_from(ByteView bytes) noexcept {
    if (!bytes.empty()) std::memmove(storage_.data(), bytes.data(), bytes.size());
  }

  std::size_t size_ = 0;
  [[no_unique_address]] Generation generation_;
  std::array<std::byte, Capacity> storage_;  // Bytes at and after size_ are indeterminate.
};

using KeyBuf = ScratchBuf<kKeyBufCapacity>;
using MetadataBuf = ScratchBuf<kMaxMetadataSize>;

// Everything that a spec's constructor writes. 24 KiB: make one for each thread or planner, not one
// for each call.
struct ShardSpecScratch {
  KeyBuf start;
  KeyBuf end;
  MetadataBuf metadata;

  void clear() noexcept {
    start.clear();
    end.clear();
    metadata.clear();
  }
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
