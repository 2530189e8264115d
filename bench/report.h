// The report of one benchmark: a table for people, build/bench/NAME.json for scripts.
//
// One row for each promise or observation. With a peer, `ratio` says how many times better ours is
// in this same run, and `target` is the least ratio we promise; without one, `target` is the least
// figure for `higher` and the largest for `lower`. `limit` is the physical bound where one is known.
//
// A peer that got only part of a piece of work done has no figure, but a bound of it: the best that the
// whole could have been. The ratio is then a least one, and a target above it is neither held nor missed.
// What was not measured at all is named, never left out in silence.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/harness.h"

namespace cadastre::bench {

enum class Better : std::uint8_t {
  kLower,
  kHigher,
};

enum class Exactness : std::uint8_t {
  kMeasured,
  kBound,  // `theirs` is the best that theirs can be: the ratio is at least so much.
};

struct Row {
  std::string what;
  std::string unit;
  Better better = Better::kLower;
  double ours = 0;
  // NOLINTBEGIN(readability-redundant-member-init): designated initialisers leave them out
  std::string peer{};  // empty: none
  std::optional<double> theirs{};
  std::optional<double> target{};
  std::optional<double> limit{};
  std::string note{};  // how much of the plan there was time for
  // NOLINTEND(readability-redundant-member-init)
  double spread = 0;
  Exactness theirs_is = Exactness::kMeasured;

  // Nothing without a peer, and where one side is nothing at all.
  [[nodiscard]] std::optional<double> ratio() const;
  // Nothing where nothing is promised, and where a bound does not reach the promise.
  [[nodiscard]] std::optional<bool> holds() const;
  [[nodiscard]] bool is_undecided() const { return target && !holds(); }
};

class Report {
 public:
  explicit Report(std::string name) : name_(std::move(name)) {}

  void add(Row row);
  // A row without figures, and why.
  void add_missing(std::string what, std::string peer, std::string why);
  // What was measured: a peer and its version.
  void add_version(std::string peer, std::string version);

  // Nanoseconds a call, against an absolute budget or none.
  void add_time(std::string what, const Timing& timing, std::optional<double> budget_ns);
  // The same in another unit: `scale` nanoseconds are one.
  void add_scaled(std::string what,
                  std::string unit,
                  double scale,
                  const Timing& timing,
                  std::optional<double> budget);
  void add_duel(std::string what,
                const Duel& duel,
                std::string peer,
                std::optional<double> target_ratio);

  // Writes the file; the table was printed row by row.
  [[nodiscard]] bool write(const std::string& path, double seconds) const;
  [[nodiscard]] std::size_t broken_promises() const;
  [[nodiscard]] std::size_t undecided_promises() const;
  [[nodiscard]] bool has_row(std::string_view what, std::string_view peer) const;

 private:
  struct Missing {
    std::string what;
    std::string peer;
    std::string why;
  };
  struct Version {
    std::string peer;
    std::string version;
  };

  std::string name_;
  std::vector<Row> rows_;
  std::vector<Missing> missing_;
  std::vector<Version> versions_;
};

// Runs `fill`, prints the table and writes the file named by `--out FILE`. The exit status: 0 also
// when a promise is broken, since figures depend on the machine; the table says so.
[[nodiscard]] int run_benchmark(std::string name,
                                int argc,
                                char** argv,
                                const std::function<void(Report&)>& fill);

}  // namespace cadastre::bench
