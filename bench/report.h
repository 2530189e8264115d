// The report of one benchmark: a table for people, build/bench/NAME.json for scripts.
//
// One row for each promise or observation. With a peer, `ratio` says how many times better ours is
// in this same run, and `target` is the least ratio we promise; without one, `target` is the least
// figure for `higher` and the largest for `lower`. `limit` is the physical bound where one is known.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness.h"

namespace cadastre::bench {

enum class Better : std::uint8_t {
  kLower,
  kHigher,
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
  // NOLINTEND(readability-redundant-member-init)
  double spread = 0;

  [[nodiscard]] std::optional<double> ratio() const;
  [[nodiscard]] std::optional<bool> holds() const;  // nothing where nothing is promised
};

class Report {
 public:
  explicit Report(std::string name) : name_(std::move(name)) {}

  void add(Row row);

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

 private:
  std::string name_;
  std::vector<Row> rows_;
};

// Runs `fill`, prints the table and writes the file named by `--out FILE`. The exit status: 0 also
// when a promise is broken, since figures depend on the machine; the table says so.
[[nodiscard]] int run_benchmark(std::string name,
                                int argc,
                                char** argv,
                                const std::function<void(Report&)>& fill);

}  // namespace cadastre::bench
