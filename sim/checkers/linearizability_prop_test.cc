#include "sim/checkers/linearizability.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "sim/chacha_random.h"
#include "sim/checkers/any_history_testing.h"
#include "sim/checkers/history.h"
#include "sim/checkers/history_text.h"
#include "sim/checkers/model.h"

namespace cadastre::sim::checkers {
namespace {

// Whether this very order explains the answers and contradicts no clock.
bool explains(std::span<const Operation* const> order, const Model& model) {
  State state = model.initial();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Operation& operation = *order[i];
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const bool came_too_late =
          order[j]->outcome == Outcome::kOk && order[j]->returned < operation.called;
      if (came_too_late) return false;
    }
    const Effect effect = model.apply(state, operation.call);
    if (operation.outcome == Outcome::kOk && effect.result != operation.result) return false;
    state = effect.after;
  }
  return true;
}

// The operations whose bit is set, or nothing if one of them failed or an acknowledged one is left out.
std::optional<std::vector<const Operation*>> choice(std::span<const Operation> operations,
                                                    std::uint32_t chosen) {
  std::vector<const Operation*> some;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool in = (chosen >> i & 1) != 0;
    if (operations[i].outcome == Outcome::kOk && !in) return std::nullopt;
    if (operations[i].outcome == Outcome::kFailed && in) return std::nullopt;
    if (in) some.push_back(&operations[i]);
  }
  return some;
}

// Every permutation of every choice of operations of unknown outcome.
bool some_order_explains(std::span<const Operation> operations, const Model& model) {
  for (std::uint32_t chosen = 0; chosen < 1U << operations.size(); ++chosen) {
    auto order = choice(operations, chosen);
    if (!order) continue;
    do {
      if (explains(*order, model)) return true;
    } while (std::ranges::next_permutation(*order).found);
  }
  return false;
}

void expect_agreement_with_brute_force(Object object, const Model& model) {
  const int histories = base::kSlowChecks ? 5'000 : 100'000;
  int good = 0;
  for (int i = 0; i < histories; ++i) {
    ChaChaRandom random(static_cast<std::uint64_t>(i));
    const History history = any_small_history(random, object, model);
    const bool expected = some_order_explains(history.operations(), model);
    const Judgement judgement = check_linearizable(history.operations(), model);
    ASSERT_EQ(name(judgement.verdict),
              name(expected ? Verdict::kLinearizable : Verdict::kNotLinearizable))
        << "seed " << i << "\n"
        << to_text(history) << judgement.detail;
    good += expected ? 1 : 0;
  }
  EXPECT_GT(good, histories / 5) << "both verdicts are common";
  EXPECT_LT(good, histories * 4 / 5);
}

TEST(LinearizabilityProperty, AgreesWithEveryPermutationOfRegisters) {
  expect_agreement_with_brute_force(Object::kRegister, RegisterModel());
}

TEST(LinearizabilityProperty, AgreesWithEveryPermutationOfLogs) {
  expect_agreement_with_brute_force(Object::kLog, LogModel());
}

TEST(LinearizabilityProperty, AcceptsWhatPerfectObjectsDo) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Load load = {.operations = 400,
                       .clients = 1 + seed % 8,
                       .keys = 2,
                       .values = seed % 2 == 0 ? 5U : 1'000'000U,
                       .unknown_ppm = 50'000,
                       .failed_ppm = 50'000};
    const History history = perfect_history(seed, load, RegisterModel());
    const Judgement judgement = check_linearizable(history.operations(), RegisterModel());
    EXPECT_EQ(judgement.verdict, Verdict::kLinearizable) << "seed " << seed << "\n"
                                                         << judgement.detail;
  }
}

TEST(LinearizabilityProperty, AcceptsWhatPerfectLogsDo) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Load load = {.object = Object::kLog,
                       .operations = 400,
                       .clients = 1 + seed % 8,
                       .keys = 2,
                       .unknown_ppm = 10'000,
                       .failed_ppm = 50'000};
    const History history = perfect_history(seed, load, LogModel());
    const Judgement judgement = check_linearizable(history.operations(), LogModel());
    EXPECT_EQ(judgement.verdict, Verdict::kLinearizable) << "seed " << seed << "\n"
                                                         << judgement.detail;
  }
}

// Registers whose values are never written twice, and one read that answers what was overwritten long
// before its call: always wrong, and always found.
TEST(LinearizabilityProperty, FindsOneStaleReadAmongThousands) {
  int planted = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Load load = {.operations = 2'000, .keys = 2, .values = ~0ULL - 1, .unknown_ppm = 10'000};
    const History history = perfect_history(seed, load, RegisterModel());
    std::vector<Operation> operations(history.operations().begin(), history.operations().end());
    const auto is_read_of = [](const Operation& operation, KeyId key) {
      return operation.call.kind == OpKind::kRead && operation.outcome == Outcome::kOk &&
             operation.call.key == key && operation.result.has_value();
    };
    const auto victim = std::find_if(operations.begin() + 1'500, operations.end(),
                                     [&](const Operation& o) { return is_read_of(o, KeyId{1}); });
    const auto old = std::ranges::find_if(
        operations, [&](const Operation& o) { return is_read_of(o, KeyId{1}); });
    ASSERT_TRUE(victim != operations.end() && old != operations.end());
    if (old->result == victim->result) continue;
    ++planted;
    victim->result = old->result;
    const Judgement judgement = check_linearizable(operations, RegisterModel());
    EXPECT_EQ(name(judgement.verdict), name(Verdict::kNotLinearizable)) << "seed " << seed;
    EXPECT_EQ(judgement.key, KeyId{1});
  }
  EXPECT_GT(planted, 40);
}

// The size that a simulated run has. The work is what bounds the time: sim_parts_bench measures it.
TEST(LinearizabilityProperty, ChecksTenThousandOperationsWithLittleWork) {
  const Load load = {.operations = 10'000, .clients = 8, .keys = 10};
  const History history = perfect_history(1, load, RegisterModel());
  const Judgement judgement = check_linearizable(history.operations(), RegisterModel());
  EXPECT_EQ(judgement.verdict, Verdict::kLinearizable) << judgement.detail;
  EXPECT_LT(judgement.work, 100'000U);
}

}  // namespace
}  // namespace cadastre::sim::checkers
