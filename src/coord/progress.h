// How far a run is, and whether it is over.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/attributes.h"
#include "base/bytes.h"
#include "coord/limits.h"
#include "coord/states.h"

namespace cadastre::coord {

// A key's own copy, in place. Only the first size_ bytes are ever written, read or copied.
// NOLINTBEGIN(cppcoreguidelines-pro-type-member-init,cppcoreguidelines-special-member-functions)
class FixedKey {
 public:
  FixedKey() noexcept = default;
  explicit FixedKey(base::ByteView key) noexcept { assign(key); }  // at most kMaxKeySize bytes
  FixedKey(const FixedKey& other) noexcept { assign(other.view()); }
  FixedKey& operator=(const FixedKey& other) noexcept {
    if (this != &other) assign(other.view());
    return *this;
  }
  ~FixedKey() = default;

  [[nodiscard]] base::ByteView view() const noexcept CAD_LIFETIMEBOUND {
    return base::ByteView(bytes_).first(size_);
  }
  friend bool operator==(const FixedKey& a, const FixedKey& b) noexcept {
    return base::equal(a.view(), b.view());
  }

 private:
  void assign(base::ByteView key) noexcept;

  std::uint16_t size_ = 0;
  std::array<std::byte, kMaxKeySize> bytes_;
};
// NOLINTEND(cppcoreguidelines-pro-type-member-init,cppcoreguidelines-special-member-functions)

// Counts at one moment. The watermark is the least last key of the Active shards that have one; it
// may move back, for a split or an unpark brings back older shards.
struct RunProgress {
  std::uint32_t total = 0;
  std::uint32_t active = 0;
  std::uint32_t done = 0;
  std::uint32_t split = 0;
  std::uint32_t parked = 0;
  std::uint32_t leased = 0;
  std::optional<FixedKey> watermark;

  // One more shard. Only an Active one is leased.
  void observe(ShardStatus status, bool is_leased, std::optional<base::ByteView> last_key) noexcept;

  [[nodiscard]] bool is_settled() const noexcept { return active == 0; }
  [[nodiscard]] bool is_success() const noexcept { return is_settled() && parked == 0; }
  [[nodiscard]] bool has_failures() const noexcept { return parked > 0; }

  friend bool operator==(const RunProgress&, const RunProgress&) = default;
};

enum class RunEvaluation : std::uint8_t {
  kStillActive,
  kHasFailures,  // over, with parked shards
  kAllDone,
};

// Advice only. `progress` has seen a shard.
[[nodiscard]] RunEvaluation evaluate_run_terminal(const RunProgress& progress) noexcept;
// Nothing for a run without shards.
[[nodiscard]] std::optional<RunEvaluation> try_evaluate_run_terminal(
    const RunProgress& progress) noexcept;

}  // namespace cadastre::coord
