// Histories for tests: of clients that work on perfect objects, with answers lost by chance; and small
// ones of pure chance.

#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "sim/chacha_random.h"
#include "sim/checkers/history.h"
#include "sim/checkers/model.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {

inline SimTime time_at(std::uint64_t ns) {
  return SimTime(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
}

enum class Object : std::uint8_t {
  kRegister,
  kLog
};

inline Call any_call(base::Random& random, Object object, std::uint64_t values) {
  const auto any_value = [&] {
    return Value(1 + random.below(values));
  };
  Call call;
  if (object == Object::kRegister) {
    constexpr std::array kKinds = {OpKind::kRead, OpKind::kWrite, OpKind::kCompareAndSet};
    call.kind = kKinds[random.below(3)];
    if (call.kind == OpKind::kCompareAndSet && random.below(4) != 0) call.expected = any_value();
    if (call.kind != OpKind::kRead) call.argument = any_value();
  } else {
    constexpr std::array kKinds = {OpKind::kAppend, OpKind::kAppendAt, OpKind::kLength,
                                   OpKind::kReadLog};
    call.kind = kKinds[random.below(4)];
    if (call.kind == OpKind::kAppend || call.kind == OpKind::kAppendAt) call.argument = any_value();
  }
  return call;
}

struct Load {
  Object object = Object::kRegister;
  std::size_t operations = 100;
  std::size_t clients = 8;
  std::uint64_t keys = 1;
  std::uint64_t values = 1'000'000;
  std::uint64_t unknown_ppm =
      0;  // The answer is lost; half of these take effect, some of them late.
  std::uint64_t failed_ppm = 0;
};

// What clients, each of which asks one thing after the other, see of objects without a flaw.
inline History perfect_history(std::uint64_t seed, const Load& load, const Model& model) {
  ChaChaRandom random(seed);
  struct Planned {
    Operation operation;
    std::optional<SimTime> effect;
  };
  std::vector<Planned> plan;
  std::vector<std::uint64_t> free_at(load.clients, 0);
  for (std::size_t i = 0; i < load.operations; ++i) {
    const std::size_t client = i % load.clients;
    Planned next = {.operation = {.call = any_call(random, load.object, load.values),
                                  .called = time_at(free_at[client] + random.below(20)),
                                  .returned = {}},
                    .effect = {}};
    next.operation.call.client = ClientId(client);
    next.operation.call.key = KeyId(random.below(load.keys));
    next.operation.returned = next.operation.called + std::chrono::nanoseconds(random.below(100));
    const SimTime::duration takes = next.operation.returned - next.operation.called;
    next.effect = next.operation.called + takes * random.below(101) / 100;
    next.operation.outcome = Outcome::kOk;
    if (happens(random, load.unknown_ppm)) {
      next.operation.outcome = Outcome::kUnknown;
      if (random.below(4) == 0) *next.effect += std::chrono::nanoseconds(random.below(1'000));
      if (random.below(2) == 0) next.effect.reset();
    } else if (happens(random, load.failed_ppm)) {
      next.operation.outcome = Outcome::kFailed;
      next.effect.reset();
    }
    free_at[client] =
        static_cast<std::uint64_t>(next.operation.returned.time_since_epoch().count()) + 1;
    plan.push_back(next);
  }
  std::ranges::sort(plan, {}, [](const Planned& planned) {
    return std::tuple(planned.effect, planned.operation.called, planned.operation.call.client);
  });
  std::map<KeyId, State> states;
  History history;
  for (Planned& planned : plan) {
    Operation& operation = planned.operation;
    if (planned.effect) {
      State& state = states.try_emplace(operation.call.key, model.initial()).first->second;
      const Effect effect = model.apply(state, operation.call);
      state = effect.after;
      if (operation.outcome == Outcome::kOk) operation.result = effect.result;
    }
    if (operation.outcome != Outcome::kOk) operation.returned = {};
    history.add(operation);
  }
  return history;
}

// A few operations of one key at times that collide, with answers that are often wrong.
inline History any_small_history(base::Random& random, Object object, const Model& model) {
  History history;
  State state = model.initial();
  const std::size_t count = 2 + random.below(5);
  for (std::size_t i = 0; i < count; ++i) {
    Operation operation;
    operation.call = any_call(random, object, 2);
    operation.call.client = ClientId(i);
    const std::uint64_t called = random.below(10);
    operation.called = time_at(called);
    const std::uint64_t fate = random.below(8);
    const Effect effect = model.apply(state, operation.call);
    if (fate == 0) {
      operation.outcome = Outcome::kFailed;
    } else if (fate > 2) {
      operation.outcome = Outcome::kOk;
      operation.returned = time_at(called + random.below(4));
      operation.result = effect.result;
    }
    // Otherwise unknown. The state need not follow: then later answers fit another order, or none.
    if (fate != 0 && random.below(4) != 0) state = effect.after;
    history.add(operation);
  }
  return history;
}

}  // namespace cadastre::sim::checkers
