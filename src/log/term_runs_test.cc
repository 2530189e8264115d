#include "log/term_runs.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cadastre::log {
namespace {

// Against a plain map of all entries.
RC_GTEST_PROP(TermRunsProperty, KnowsTheTermOfEveryEntry, ()) {
  TermRuns runs({}, {});
  std::map<Index, Term> model;
  Position truncated;
  Term term{1};
  Index last;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    switch (*rc::gen::inRange(0, 5)) {
      case 0: term = Term{term.value() + 1}; break;
      case 1: {  // Another leader's entry in place of some.
        term = Term{term.value() + 1};
        last = Index{*rc::gen::inRange(truncated.index.value(), last.value() + 1)};
        model.erase(model.upper_bound(last), model.end());
        break;
      }
      case 2: {
        const Index upto{*rc::gen::inRange(truncated.index.value(), last.value() + 1)};
        if (upto == truncated.index) break;
        truncated = {model.at(upto), upto};
        model.erase(model.begin(), model.upper_bound(upto));
        runs.truncate(truncated);
        break;
      }
      case 3: {
        if (*rc::gen::inRange(0, 4) != 0) break;
        last = last + 7;
        truncated = {term, last};
        model.clear();
        runs.replace(truncated);
        break;
      }
      default: break;
    }
    last = last + 1;
    model[last] = term;
    runs.append({term, last});
    RC_ASSERT(runs.at(truncated.index) == truncated);
    for (const auto& [index, of] : model)
      RC_ASSERT(runs.at(index) == (Position{of, index}));
    if (truncated.index > Index{0})
      RC_ASSERT(!runs.at(Index{truncated.index.value() - 1}).has_value());
  }
}

}  // namespace
}  // namespace cadastre::log
