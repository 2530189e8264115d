// The portable 64-bit roaring format: the payload of form 1, and what is exchanged with other
// languages (2.3). All integers are little-endian.
//
//   u64 n_maps
//   n_maps times, ascending by high:
//     u32 high                                  id >> 32
//     u32 cookie                                12346, or 12347 | (n-1) << 16 if there is a run container
//     u32 n                                     only with cookie 12346
//     u8  run_flags[ceil(n/8)]                  only with cookie 12347; bit i, from the least, is container i
//     n times (u16 key, u16 cardinality - 1)    ascending by key = (id >> 16) & 0xffff
//     n times u32 offset                        from the cookie; absent if cookie is 12347 and n < 4
//     n containers
//
// Parsing checks counts, order of highs and keys, and that containers fill the bytes one after the
// other. It looks at no slot. A view borrows the bytes. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/faults.h"

namespace cadastre::bitmap {

inline constexpr std::size_t kMapCountBytes = sizeof(std::uint64_t);
inline constexpr std::size_t kMapHighBytes = sizeof(std::uint32_t);

// Some writers leave 32-bit bitmaps behind that hold nothing (B-32).
enum class EmptyMaps : std::uint8_t {
  kRefused,   // in stored segments
  kAccepted,  // in exchange
};

// One 32-bit bitmap, from its cookie on.
class PortableMap {
 public:
  PortableMap() noexcept = default;
  // `from` begins at the cookie and may go on behind the bitmap.
  [[nodiscard]] static base::Result<PortableMap, ValueFault> parse(base::ByteView from,
                                                                   std::uint32_t high,
                                                                   EmptyMaps empty_maps);
  // The same for bytes that parse has accepted, without checking.
  [[nodiscard]] static PortableMap parsed(base::ByteView from, std::uint32_t high) noexcept;

  [[nodiscard]] std::uint32_t high() const noexcept { return high_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] base::ByteView bytes() const noexcept { return bytes_; }

  [[nodiscard]] std::uint16_t key(std::size_t index) const noexcept;
  [[nodiscard]] std::uint64_t chunk(std::size_t index) const noexcept;
  [[nodiscard]] std::uint32_t cardinality(std::size_t index) const noexcept;
  // Index of the first container whose key is not less, or count().
  [[nodiscard]] std::size_t lower_bound(std::uint16_t key) const noexcept;

  // Where a container's bytes begin, counted from the cookie.
  [[nodiscard]] std::size_t container_at(std::size_t index) const noexcept;
  [[nodiscard]] ContainerView container(std::size_t index) const noexcept;
  // The same, where the caller knows container_at(index): a walk.
  [[nodiscard]] ContainerView container(std::size_t index, std::size_t at) const noexcept;

  // The sum of cardinalities; a walk over the headers.
  [[nodiscard]] std::uint64_t cardinality() const noexcept;

  // Where a container's cardinality less one and, if there are any, its offset are stored, counted from
  // the cookie.
  [[nodiscard]] std::size_t cardinality_at(std::size_t index) const noexcept;
  [[nodiscard]] std::size_t offset_at(std::size_t index) const noexcept;
  [[nodiscard]] bool has_offsets() const noexcept { return has_offsets_; }

 private:
  // Cookie, counts and where things are; bytes_ is all of `from` then.
  [[nodiscard]] base::Result<void, ValueFault> read_front(base::ByteView from);
  // Order and extent of containers; where the last one ends.
  [[nodiscard]] base::Result<std::size_t, ValueFault> check_containers() const;
  [[nodiscard]] std::uint32_t offset(std::size_t index) const noexcept;
  [[nodiscard]] bool is_run(std::size_t index) const noexcept;

  base::ByteView bytes_;
  std::uint32_t high_ = 0;
  std::size_t count_ = 0;
  std::size_t headers_at_ = 0;
  std::size_t containers_at_ = 0;
  bool has_runs_ = false;
  bool has_offsets_ = false;
};

// All bitmaps of a payload.
class PortableMaps {
 public:
  PortableMaps() noexcept = default;
  // A payload of no bitmap is kBadCount unless empty maps are accepted.
  [[nodiscard]] static base::Result<PortableMaps, ValueFault> parse(base::ByteView payload,
                                                                    EmptyMaps empty_maps);

  [[nodiscard]] std::uint64_t cardinality() const noexcept { return cardinality_; }
  [[nodiscard]] std::size_t container_count() const noexcept { return container_count_; }

  // A walk: from first_at(), next_at(...) until end_at(). Accepted payloads only.
  [[nodiscard]] static std::size_t first_at() noexcept { return kMapCountBytes; }
  [[nodiscard]] std::size_t last_at() const noexcept { return last_at_; }
  [[nodiscard]] std::size_t end_at() const noexcept { return payload_.size(); }
  [[nodiscard]] std::uint32_t high_at(std::size_t at) const noexcept;
  [[nodiscard]] PortableMap map_at(std::size_t at) const noexcept;
  [[nodiscard]] static std::size_t next_at(std::size_t at, const PortableMap& map) noexcept {
    return at + kMapHighBytes + map.bytes().size();
  }

 private:
  base::ByteView payload_;
  std::size_t last_at_ = 0;
  std::size_t container_count_ = 0;
  std::uint64_t cardinality_ = 0;
};

// Bytes of the payload that holds given containers. They are added in order, ascending or descending.
class PortableSize {
 public:
  void add(std::uint64_t chunk, std::size_t container_bytes, bool is_run) noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  std::size_t closed_bytes_ = kMapCountBytes;
  std::uint64_t high_ = 0;
  std::size_t open_count_ = 0;  // of the last bitmap
  std::size_t open_container_bytes_ = 0;
  bool open_has_runs_ = false;
};

// Writes the payload of containers in ascending order, PortableSize long.
void write_portable(std::byte* to, std::span<const ContainerView> containers) noexcept;

}  // namespace cadastre::bitmap
