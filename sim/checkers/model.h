// Model: what an object would do if it were asked one thing after the other, and the models we have.
//
// The checker splits a history by keys: a model speaks of one key, and keys must not depend on each
// other. Models are pure: no state of their own, the same answer to the same question.

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "sim/checkers/history.h"

namespace cadastre::sim::checkers {

// Whatever a model has to remember; a longer state is its length and a digest. States are equal exactly
// if they behave alike from then on.
struct State {
  std::array<std::uint64_t, 2> words{};

  friend auto operator<=>(const State&, const State&) = default;
};

struct Effect {
  State after;
  Value result;
};

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  [[nodiscard]] virtual State initial() const noexcept = 0;
  [[nodiscard]] virtual Effect apply(const State& before, const Call& call) const noexcept = 0;
  // Whether the call changes nothing, whatever the state.
  [[nodiscard]] virtual bool only_reads(const Call& call) const noexcept = 0;
};

// One value, nil at first: kRead, kWrite, kCompareAndSet.
class RegisterModel final : public Model {
 public:
  [[nodiscard]] State initial() const noexcept override { return {}; }
  [[nodiscard]] Effect apply(const State& before, const Call& call) const noexcept override;
  [[nodiscard]] bool only_reads(const Call& call) const noexcept override;
};

// A list of commands, empty at first, each of which is executed as often as it is in it: kAppend,
// kAppendAt, kLength, kReadLog. A command that was executed twice, or although it failed, shows in what is
// read later. State: length and log_digest().
class LogModel final : public Model {
 public:
  [[nodiscard]] State initial() const noexcept override;
  [[nodiscard]] Effect apply(const State& before, const Call& call) const noexcept override;
  [[nodiscard]] bool only_reads(const Call& call) const noexcept override;
};

// Of the commands in their order. A log of any length is one number in a history; two logs with one
// number do not occur by chance.
[[nodiscard]] std::uint64_t log_digest(std::span<const std::uint64_t> commands) noexcept;
// Of the log with `command` at its end.
[[nodiscard]] std::uint64_t extended(std::uint64_t digest, std::uint64_t command) noexcept;

}  // namespace cadastre::sim::checkers
