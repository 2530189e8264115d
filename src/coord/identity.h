// Who and what coordination speaks of: strong ids, epochs and logical time.
//
// All are distinct types: none converts to another or to an integer. They print with their type's
// name, `RunId(10)`; a tenant prints four of its bytes. The 64-bit ids order by number, so derived
// shards (bit 63 set) sort behind the roots that a caller named.

#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/check.h"
#include "shard/shard_id.h"

namespace cadastre::coord {

using base::ByteView;
using shard::ShardId;

// A 64-bit number with a meaning; `Tag::kName` is the name it prints with.
template <class Tag>
class Id {
 public:
  constexpr Id() noexcept = default;
  [[nodiscard]] static constexpr Id from_raw(std::uint64_t raw) noexcept { return Id(raw); }
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept { return raw_; }

  friend constexpr auto operator<=>(Id, Id) noexcept = default;
  friend std::string to_string(Id id) {
    return std::string(Tag::kName) + "(" + std::to_string(id.raw_) + ")";
  }
  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << to_string(id); }

 private:
  constexpr explicit Id(std::uint64_t raw) noexcept : raw_(raw) {}
  std::uint64_t raw_ = 0;
};

struct RunIdTag {
  static constexpr std::string_view kName = "RunId";
};
struct WorkerIdTag {
  static constexpr std::string_view kName = "WorkerId";
};
struct OpIdTag {
  static constexpr std::string_view kName = "OpId";
};
struct JobIdTag {
  static constexpr std::string_view kName = "JobId";
};
struct FenceEpochTag {
  static constexpr std::string_view kName = "FenceEpoch";
};
struct LogicalTimeTag {
  static constexpr std::string_view kName = "LogicalTime";
};

using RunId = Id<RunIdTag>;              // Unique within its tenant.
using WorkerId = Id<WorkerIdTag>;        // One process that works on shards.
using OpId = Id<OpIdTag>;                // Names one request for ever: random, or from one counter.
using JobId = Id<JobIdTag>;              // Groups runs; the protocol does not look at it.
using FenceEpoch = Id<FenceEpochTag>;    // Raised with every change of ownership of a shard.
using LogicalTime = Id<LogicalTimeTag>;  // Whatever the callers agree to count; 0 is no time.

inline constexpr FenceEpoch kFenceUnassigned = FenceEpoch::from_raw(0);
inline constexpr FenceEpoch kFenceInitial = FenceEpoch::from_raw(1);

[[nodiscard]] constexpr bool is_assigned(FenceEpoch fence) noexcept {
  return fence != kFenceUnassigned;
}

// The epoch of the next owner. There is one: two owners with one epoch would break exclusion.
[[nodiscard]] constexpr FenceEpoch next(FenceEpoch fence) noexcept {
  CAD_CHECK(fence.raw() != std::numeric_limits<std::uint64_t>::max(),
            "a shard changes hands fewer than 2^64 times");
  return FenceEpoch::from_raw(fence.raw() + 1);
}

[[nodiscard]] constexpr std::optional<LogicalTime> checked_add(LogicalTime time,
                                                               std::uint64_t ticks) noexcept {
  if (ticks > std::numeric_limits<std::uint64_t>::max() - time.raw()) return std::nullopt;
  return LogicalTime::from_raw(time.raw() + ticks);
}

// The end of time stays the end of time.
[[nodiscard]] constexpr LogicalTime saturating_add(LogicalTime time, std::uint64_t ticks) noexcept {
  return checked_add(time, ticks)
      .value_or(LogicalTime::from_raw(std::numeric_limits<std::uint64_t>::max()));
}

// The boundary that no request crosses. Usually a digest of a name that users know.
class TenantId {
 public:
  using Bytes = std::array<std::byte, 32>;

  constexpr TenantId() noexcept = default;  // all zero
  [[nodiscard]] static constexpr TenantId from_bytes(const Bytes& bytes) noexcept {
    TenantId tenant;
    tenant.bytes_ = bytes;
    return tenant;
  }
  [[nodiscard]] constexpr const Bytes& as_bytes() const noexcept CAD_LIFETIMEBOUND {
    return bytes_;
  }

  // As four integers, to compare and to hash: every request does both.
  using Words = std::array<std::uint64_t, 4>;
  [[nodiscard]] constexpr Words words() const noexcept { return std::bit_cast<Words>(bytes_); }

  friend constexpr bool operator==(const TenantId& a, const TenantId& b) noexcept {
    const Words left = a.words();
    const Words right = b.words();
    return ((left[0] ^ right[0]) | (left[1] ^ right[1]) | (left[2] ^ right[2]) |
            (left[3] ^ right[3])) == 0;
  }
  friend std::strong_ordering operator<=>(const TenantId& a, const TenantId& b) noexcept {
    return base::compare(a.bytes_, b.bytes_);
  }
  friend std::string to_string(const TenantId& tenant) {
    return "TenantId(" + base::to_hex(ByteView(tenant.bytes_).first(4)) + "..)";
  }
  friend std::ostream& operator<<(std::ostream& out, const TenantId& tenant) {
    return out << to_string(tenant);
  }

 private:
  Bytes bytes_{};
};

// A shard within its tenant. Has no order: a list of keys is sorted by what its reader needs.
struct ShardKey {
  // NOLINTBEGIN(readability-redundant-member-init): designated initialisers leave them out
  RunId run{};
  ShardId shard{};
  // NOLINTEND(readability-redundant-member-init)

  friend constexpr bool operator==(const ShardKey&, const ShardKey&) noexcept = default;
};

[[nodiscard]] std::string to_string(const ShardKey& key);

}  // namespace cadastre::coord

template <class Tag>
struct std::hash<cadastre::coord::Id<Tag>> {
  std::size_t operator()(cadastre::coord::Id<Tag> id) const noexcept {
    return std::hash<std::uint64_t>{}(id.raw());
  }
};
template <>
struct std::hash<cadastre::coord::TenantId> {
  std::size_t operator()(const cadastre::coord::TenantId& tenant) const noexcept;
};
template <>
struct std::hash<cadastre::coord::ShardKey> {
  std::size_t operator()(const cadastre::coord::ShardKey& key) const noexcept;
};
