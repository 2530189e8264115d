// Contenders: several ways to do the same thing, each measured once a round, so that a slow minute of the machine
// hits all of them. Rows of a report then set one against another.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/report.h"
#include "bench/samples.h"

namespace cadastre::bench {

class Contenders {
 public:
  // `run` measures once and returns operations a second.
  void add(std::string name, std::function<double()> run) {
    all_.push_back({.name = std::move(name), .run = std::move(run), .rates = {}});
  }
  // One that is not here, and why.
  void add_missing(std::string name, std::string why) {
    missing_.emplace(std::move(name), std::move(why));
  }

  void measure(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (One& one : all_)
        one.rates.push_back(one.run());
    }
  }

  // `ours` against `theirs`, both by name; a row without figures if one of them is missing.
  void report(Report& to,
              const std::string& ours,
              const std::string& theirs,
              std::optional<double> target) const {
    const One* const our = find(ours);
    const One* const their = find(theirs);
    if (our == nullptr || their == nullptr) {
      to.add_missing(ours, theirs, missing_.at(our == nullptr ? ours : theirs));
      return;
    }
    to.add({.what = ours,
            .unit = "1/s",
            .better = Better::kHigher,
            .ours = median(our->rates),
            .peer = theirs,
            .theirs = median(their->rates),
            .target = target,
            .spread = spread(our->rates)});
  }

 private:
  struct One {
    std::string name;
    std::function<double()> run;
    std::vector<double> rates;
  };

  [[nodiscard]] const One* find(const std::string& name) const {
    for (const One& one : all_) {
      if (one.name == name) return &one;
    }
    return nullptr;
  }

  std::vector<One> all_;
  std::map<std::string, std::string> missing_;
};

}  // namespace cadastre::bench
