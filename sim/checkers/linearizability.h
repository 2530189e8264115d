// Linearizability: whether a history could have come from an object that does one thing at a time, each
// at some instant between its call and its return (Herlihy and Wing, 1990).
//
// The search is Wing and Gong's with Lowe's memory of configurations, for each key by itself. What it
// adds is the treatment of operations of unknown outcome, which are concurrent with everything after
// them: they are taken only between others, fewest first, and a configuration that differs from a failed
// one only in having used up more of them is not looked at. Operations that failed, and reads of unknown
// outcome, explain nothing and are left out.
//
// An operation that returns at the instant at which another is called is concurrent with it.
//
// Pure: no chance, no clock; the same history gives the same verdict and the same work.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/checkers/history.h"
#include "sim/checkers/model.h"

namespace cadastre::sim::checkers {

enum class Verdict : std::uint8_t {
  kLinearizable,
  kNotLinearizable,
  kGaveUp,  // The work ran out first: nothing is known, and whoever asked has no proof.
};

[[nodiscard]] std::string_view name(Verdict verdict) noexcept;

struct Judgement {
  Verdict verdict = Verdict::kLinearizable;
  std::optional<KeyId> key =
      std::nullopt;    // Of the first key that is not linearizable, else of one given up.
  std::string detail;  // For people: how far the best order came, and what does not fit after it.
  std::uint64_t work = 0;
};

// Calls of the model and comparisons of configurations, for all keys together.
inline constexpr std::uint64_t kWorkMax = 10'000'000;

[[nodiscard]] Judgement check_linearizable(std::span<const Operation> operations,
                                           const Model& model,
                                           std::uint64_t work_max = kWorkMax);

}  // namespace cadastre::sim::checkers
