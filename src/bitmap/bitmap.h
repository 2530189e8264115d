// Bitmap: a set of ids in memory, and its exchange with other languages.
//
// A value type over CRoaring's 32-bit bitmaps, one for each distinct upper half of an id; none of
// them is ever empty, so that equal sets are equal (B-32). CRoaring's own 64-bit class is not used
// and its parser never sees bytes that ours has not validated (B-31).
//
// The exchange format is the portable 64-bit roaring format (portable_format.h), without the form
// byte of a stored segment. Equal sets give equal bytes. Not for two threads at once while one writes.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"

struct roaring_bitmap_s;

namespace cadastre::bitmap {

// Whether run containers may be written; older readers in Rust refuse them.
enum class Runs : std::uint8_t {
  kNone,
  kAllowed,
};

class Bitmap {
 public:
  class Iterator;

  Bitmap() noexcept;
  explicit Bitmap(std::span<const Id> ids);  // in any order
  ~Bitmap();
  Bitmap(const Bitmap& other);
  Bitmap& operator=(const Bitmap& other);
  Bitmap(Bitmap&& other) noexcept;
  Bitmap& operator=(Bitmap&& other) noexcept;

  // Validates every byte. Empty 32-bit bitmaps are accepted and dropped; trailing bytes and a
  // repeated upper half are refused.
  [[nodiscard]] static base::Result<Bitmap, ValueFault> from_portable(base::ByteView bytes);
  // Containers are the smallest that `runs` allows.
  [[nodiscard]] base::Bytes to_portable(Runs runs = Runs::kAllowed) const;

  [[nodiscard]] bool contains(Id id) const noexcept;
  bool add(Id id);     // whether it was absent
  bool remove(Id id);  // whether it was there
  [[nodiscard]] std::uint64_t cardinality() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return inner_.empty(); }

  Bitmap& operator|=(const Bitmap& other);
  Bitmap& operator&=(const Bitmap& other);
  Bitmap& operator-=(const Bitmap& other);
  Bitmap& operator^=(const Bitmap& other);
  friend bool operator==(const Bitmap& a, const Bitmap& b) noexcept;

  // Ids, ascending. A change ends the life of iterators.
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

 private:
  friend class BitmapBuild;
  struct InnerDelete {
    void operator()(roaring_bitmap_s* inner) const noexcept;
  };
  using Inner = std::unique_ptr<roaring_bitmap_s, InnerDelete>;

  [[nodiscard]] static Inner copy_of(const Inner& inner);
  // From bytes that were validated.
  [[nodiscard]] static Inner read_inner(base::ByteView bytes);
  void drop_if_empty(std::map<std::uint32_t, Inner>::iterator at) noexcept;

  std::map<std::uint32_t, Inner> inner_;  // by upper half; none is empty
};

// A forward iterator that reads ahead a block of ids.
class Bitmap::Iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Id;
  using difference_type = std::ptrdiff_t;
  using pointer = const Id*;
  using reference = Id;

  Iterator() noexcept = default;

  [[nodiscard]] Id operator*() const noexcept;
  Iterator& operator++();
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return a.at_ == b.at_ && a.low() == b.low();
  }

 private:
  friend class Bitmap;
  using Place = std::map<std::uint32_t, Inner>::const_iterator;

  Iterator(Place at, Place end);
  // The ids from `low` on, of this or of a later upper half.
  void read_from(std::uint32_t low);
  void next_inner();
  [[nodiscard]] std::uint32_t low() const noexcept { return next_ < count_ ? block_[next_] : 0; }

  static constexpr std::size_t kBlockIds = 64;

  Place at_ = {};
  Place end_ = {};
  std::array<std::uint32_t, kBlockIds> block_{};  // lower halves
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace cadastre::bitmap
