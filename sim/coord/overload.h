// Overload: more than a run can bear for some rounds, and whether it recovers.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/coord/simulation.h"

namespace cadastre::sim {

enum class OverloadKind : std::uint8_t {
  kBurstClaim,    // everyone claims at once
  kCapacityDrop,  // half of the workers stop, and time passes
  kBurstShards,   // every held shard is split
};

[[nodiscard]] std::string_view name(OverloadKind kind) noexcept;

struct Overload {
  OverloadKind kind = OverloadKind::kBurstClaim;
  std::uint64_t rounds = 0;  // 0 is legal
};

// What the backend says is free, and what a full scan finds.
struct AvailabilitySample {
  std::uint64_t reported = 0;
  std::uint64_t scanned = 0;
};

struct OverloadReport {
  Report report;
  std::uint64_t round_operations = 0;
  std::uint64_t round_completions = 0;
  std::uint64_t recovery_completions = 0;
  std::vector<AvailabilitySample> samples;  // one for each round

  // Completions for each million operations of the rounds; 0 without rounds.
  [[nodiscard]] std::uint64_t goodput_ppm() const noexcept {
    return round_operations == 0 ? 0 : round_completions * 1'000'000 / round_operations;
  }
};

// `warmup` operations of the safety stage, the rounds, then everyone is resumed and `recovery`
// operations of the liveness stage follow, with a claim every ten.
[[nodiscard]] OverloadReport run_overload(const SimulationOptions& options,
                                          std::uint64_t warmup,
                                          const Overload& overload,
                                          std::uint64_t recovery);

}  // namespace cadastre::sim
