// How much goes wrong: three levels, as chances in parts per million for each operation.
//
// Expiry, pause and time jump are those of the protocol's specification. The rest is what a network,
// an operating system and cheap clocks add: answers that are lost, requests that arrive twice or
// late, workers that forget everything, clocks that disagree.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cadastre::sim {

enum class FaultLevel : std::uint8_t {
  kSunnyDay,
  kStormy,
  kRadioactive,
};
inline constexpr std::array kFaultLevels{FaultLevel::kSunnyDay, FaultLevel::kStormy,
                                         FaultLevel::kRadioactive};

[[nodiscard]] std::string_view name(FaultLevel level) noexcept;
[[nodiscard]] std::optional<FaultLevel> fault_level_named(std::string_view text) noexcept;

struct FaultRates {
  std::uint64_t expiry_ppm = 0;  // the clock goes to the very end of some lease
  std::uint64_t pause_ppm = 0;
  std::uint64_t pause_steps_max = 1;
  std::uint64_t jump_ppm = 0;
  std::uint64_t jump_ticks_min = 1;
  std::uint64_t jump_ticks_max = 1;
  std::uint64_t reply_lost_ppm = 0;
  std::uint64_t duplicated_ppm = 0;
  std::uint64_t delayed_ppm = 0;
  std::uint64_t crash_ppm = 0;
  std::uint64_t skew_ppm = 0;  // a worker's clock is set anew
  std::uint64_t skew_ticks_max = 0;
};

[[nodiscard]] FaultRates rates_of(FaultLevel level) noexcept;

// What goes wrong between a networked backend and its store.
struct StorageRates {
  std::uint64_t compare_miss_ppm = 0;  // of each transaction: its compares fail for no reason
  std::uint64_t uncertain_ppm = 0;     // of each call: no answer, whether or not it was carried out
  std::uint64_t owner_loss_ppm = 0;    // of each request: some owner's key ends before it
  std::uint64_t exhaustion_ppm = 0;    // of each request: none of its transactions gets through
  std::uint64_t owner_ttl_ticks = 0;   // 0: owner keys last for ever
};

[[nodiscard]] StorageRates storage_rates_of(FaultLevel level) noexcept;

}  // namespace cadastre::sim
