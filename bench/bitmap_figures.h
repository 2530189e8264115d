// Figures: what one store showed in the bitmap workloads, by name; and the rows that come of ours beside
// a peer's. Targets are those of bitmap-tables.md 7.4 ("must hold") and of the issue, whichever is
// stricter. A row whose target is missed stays; what a peer had no time for is named.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/bitmap_measure.h"
#include "bench/report.h"

namespace cadastre::bench {

struct Figure {
  std::string what;
  std::string unit;
  Better better = Better::kLower;
  double value = 0;
  double spread = 0;
  std::uint64_t done = 0;     // Operations; fewer than planned if the time was over.
  std::uint64_t planned = 0;  // 0: not counted
  Exactness exactness = Exactness::kMeasured;
};

class Figures {
 public:
  void add(Figure figure) { figures_.push_back(std::move(figure)); }
  void add_rate(std::string_view what, const Rate& rate);
  void add_walks(std::string_view what, const Walks& walks);
  void add_bytes(std::string_view what, double bytes, Exactness exactness = Exactness::kMeasured);
  void add_missing(std::string_view what, std::string_view why);

  [[nodiscard]] const Figure* find(std::string_view what) const;
  [[nodiscard]] const std::vector<Figure>& all() const { return figures_; }

  struct Missing {
    std::string what;
    std::string why;
  };
  [[nodiscard]] const std::vector<Missing>& missing() const { return missing_; }

 private:
  std::vector<Figure> figures_;
  std::vector<Missing> missing_;
};

// Ours alone, against absolute targets where there are any.
void report_ours(Report& report, const Figures& ours);
// One row for each figure that both have. Lookups twice: by their structure alone, and with ours verifying
// the checksum.
void report_against(Report& report,
                    const Figures& ours,
                    std::string_view peer,
                    const Figures& theirs);

}  // namespace cadastre::bench
