// A shard's description: the range [start, end) and its opaque metadata.
//
// ShardSpecRef borrows all three and goes through every call boundary. ShardSpec owns them in one
// heap block, for cold code and tests. Neither reads the metadata; hint.h does. Making a
// ShardSpecRef checks nothing: whoever stores or trusts one calls validate() first.
//
// A ShardSpecRef is never a data member, except in a plan type that names the owner of its bytes.

#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "shard/key_range.h"
#include "shard/spec_error.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

using base::Result;

// Which owners a spec's three views depend on; empty in the plain flavour.
struct SpecGuards {
  [[no_unique_address]] ViewGuard start;
#if CAD_CHECKED_VIEWS
  ViewGuard end;
  ViewGuard metadata;
#endif

  SpecGuards() = default;
  SpecGuards(ViewGuard start_guard,
             [[maybe_unused]] ViewGuard end_guard,
             [[maybe_unused]] ViewGuard metadata_guard) noexcept
      : start(start_guard)
#if CAD_CHECKED_VIEWS
        ,
        end(end_guard),
        metadata(metadata_guard)
#endif
  {
  }

  [[nodiscard]] ViewGuard of_start() const noexcept { return start; }
#if CAD_CHECKED_VIEWS
  [[nodiscard]] ViewGuard of_end() const noexcept { return end; }
  [[nodiscard]] ViewGuard of_metadata() const noexcept { return metadata; }
#else
  [[nodiscard]] ViewGuard of_end() const noexcept { return start; }
  [[nodiscard]] ViewGuard of_metadata() const noexcept { return start; }
#endif
};

class ShardSpecRef {
 public:
  ShardSpecRef() noexcept = default;

  // The whole key space, without metadata.
  [[nodiscard]] static ShardSpecRef unbounded() noexcept { return {}; }

  [[nodiscard]] static ShardSpecRef unchecked(ByteView start CAD_LIFETIMEBOUND,
                                              ByteView end CAD_LIFETIMEBOUND,
                                              ByteView metadata CAD_LIFETIMEBOUND = {},
                                              SpecGuards guards = {}) noexcept {
    ShardSpecRef spec;
    spec.start_ = start;
    spec.end_ = end;
    spec.metadata_ = metadata;
    spec.guards_ = guards;
    return spec;
  }

  [[nodiscard]] static Result<ShardSpecRef, SpecError> try_make(
      ByteView start CAD_LIFETIMEBOUND,
      ByteView end CAD_LIFETIMEBOUND,
      ByteView metadata CAD_LIFETIMEBOUND = {},
      SpecGuards guards = {}) noexcept;

  // For tests: aborts on an invalid spec.
  [[nodiscard]] static ShardSpecRef must_make(ByteView start CAD_LIFETIMEBOUND,
                                              ByteView end CAD_LIFETIMEBOUND,
                                              ByteView metadata CAD_LIFETIMEBOUND = {}) noexcept;

  [[nodiscard]] ByteView start() const noexcept {
    guards_.of_start().check();
    return start_;
  }
  [[nodiscard]] ByteView end() const noexcept {
    guards_.of_end().check();
    return end_;
  }
  [[nodiscard]] ByteView metadata() const noexcept {
    guards_.of_metadata().check();
    return metadata_;
  }
  [[nodiscard]] KeyRange range() const noexcept { return {start(), end()}; }
  [[nodiscard]] const SpecGuards& guards() const noexcept { return guards_; }

  [[nodiscard]] bool is_start_unbounded() const noexcept { return start().empty(); }
  [[nodiscard]] bool is_end_unbounded() const noexcept { return end().empty(); }
  [[nodiscard]] bool is_unbounded() const noexcept {
    return is_start_unbounded() && is_end_unbounded();
  }
  [[nodiscard]] bool contains_key(ByteView key) const noexcept {
    return shard::contains_key(range(), key);
  }

  // By content: all three fields.
  friend bool operator==(const ShardSpecRef& a, const ShardSpecRef& b) noexcept {
    return base::equal(a.start(), b.start()) && base::equal(a.end(), b.end()) &&
           base::equal(a.metadata(), b.metadata());
  }

 private:
  ByteView start_;
  ByteView end_;
  ByteView metadata_;
  [[no_unique_address]] SpecGuards guards_;
};

static_assert(sizeof(ShardSpecRef) == (kCheckedViews ? 96 : 48), "three views, and their guards");

// The checks in this order: start's size, end's size, metadata's size, start below end.
[[nodiscard]] Result<void, SpecError> validate(const ShardSpecRef& spec) noexcept;

// An owning copy, in one heap block.
class ShardSpec {
 public:
  ShardSpec() noexcept = default;  // The whole key space.
  [[nodiscard]] static Result<ShardSpec, SpecError> try_from(const ShardSpecRef& spec);

  ShardSpec(const ShardSpec& other);
  ShardSpec(ShardSpec&& other) noexcept;
  ShardSpec& operator=(const ShardSpec& other);
  ShardSpec& operator=(ShardSpec&& other) noexcept;
  ~ShardSpec() = default;

  [[nodiscard]] ShardSpecRef ref() const noexcept CAD_LIFETIMEBOUND {
    return ShardSpecRef::unchecked(start(), end(), metadata());
  }
  [[nodiscard]] ByteView start() const noexcept CAD_LIFETIMEBOUND {
    return {block_.get(), start_size_};
  }
  [[nodiscard]] ByteView end() const noexcept CAD_LIFETIMEBOUND {
    return {block_.get() + start_size_, end_size_};
  }
  [[nodiscard]] ByteView metadata() const noexcept CAD_LIFETIMEBOUND {
    return {block_.get() + start_size_ + end_size_, metadata_size_};
  }
  [[nodiscard]] bool is_start_unbounded() const noexcept { return start_size_ == 0; }
  [[nodiscard]] bool is_end_unbounded() const noexcept { return end_size_ == 0; }
  [[nodiscard]] bool is_unbounded() const noexcept {
    return is_start_unbounded() && is_end_unbounded();
  }
  [[nodiscard]] bool contains_key(ByteView key) const noexcept { return ref().contains_key(key); }

  friend bool operator==(const ShardSpec& a, const ShardSpec& b) noexcept {
    return a.ref() == b.ref();
  }

 private:
  explicit ShardSpec(const ShardSpecRef& spec);

  // NOLINTNEXTLINE(modernize-avoid-c-arrays): one block of a size known only at run time
  std::unique_ptr<std::byte[]> block_;  // start, end and metadata, back to back
  std::uint32_t start_size_ = 0;
  std::uint32_t end_size_ = 0;
  std::uint32_t metadata_size_ = 0;
};

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
