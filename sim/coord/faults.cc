#include "sim/coord/faults.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cadastre::sim {

std::string_view name(FaultLevel level) noexcept {
  switch (level) {
    case FaultLevel::kSunnyDay: return "sunny_day";
    case FaultLevel::kStormy: return "stormy";
    case FaultLevel::kRadioactive: return "radioactive";
  }
  return "";
}

std::optional<FaultLevel> fault_level_named(std::string_view text) noexcept {
  for (const FaultLevel level : kFaultLevels) {
    if (name(level) == text) return level;
  }
  return std::nullopt;
}

FaultRates rates_of(FaultLevel level) noexcept {
  switch (level) {
    case FaultLevel::kSunnyDay: break;
    case FaultLevel::kStormy:
      return {.expiry_ppm = 100'000,
              .pause_ppm = 50'000,
              .pause_steps_max = 5,
              .jump_ppm = 100'000,
              .jump_ticks_min = 50,
              .jump_ticks_max = 200,
              .reply_lost_ppm = 20'000,
              .duplicated_ppm = 50'000,
              .delayed_ppm = 50'000,
              .crash_ppm = 10'000,
              .skew_ppm = 10'000,
              .skew_ticks_max = 30};
    case FaultLevel::kRadioactive:
      return {.expiry_ppm = 200'000,
              .pause_ppm = 100'000,
              .pause_steps_max = 10,
              .jump_ppm = 200'000,
              .jump_ticks_min = 100,
              .jump_ticks_max = 500,
              .reply_lost_ppm = 100'000,
              .duplicated_ppm = 150'000,
              .delayed_ppm = 150'000,
              .crash_ppm = 50'000,
              .skew_ppm = 50'000,
              .skew_ticks_max = 300};
  }
  return {};
}

StorageRates storage_rates_of(FaultLevel level) noexcept {
  constexpr std::uint64_t kOwnerTtlTicks = 300;
  switch (level) {
    case FaultLevel::kSunnyDay: break;
    case FaultLevel::kStormy:
      return {.compare_miss_ppm = 100'000,
              .uncertain_ppm = 20'000,
              .owner_loss_ppm = 50'000,
              .exhaustion_ppm = 10'000,
              .owner_ttl_ticks = kOwnerTtlTicks};
    case FaultLevel::kRadioactive:
      return {.compare_miss_ppm = 300'000,
              .uncertain_ppm = 100'000,
              .owner_loss_ppm = 150'000,
              .exhaustion_ppm = 50'000,
              .owner_ttl_ticks = kOwnerTtlTicks};
  }
  return {.owner_ttl_ticks = kOwnerTtlTicks};
}

}  // namespace cadastre::sim
