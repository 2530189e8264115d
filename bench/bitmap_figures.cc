#include "bench/bitmap_figures.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/bitmap_measure.h"
#include "bench/bitmap_targets.h"
#include "bench/report.h"

namespace cadastre::bench {
namespace {

constexpr double kMillisecondNs = 1e6;

bool was_cut_short(const Figure& figure) {
  return figure.done < figure.planned;
}

// What the peer's figure rests on.
std::string describe(const Figure& ours, const Figure& theirs) {
  std::string text;
  if (theirs.exactness == Exactness::kBound) {
    text = theirs.unit == "ns"
               ? fmt::format("at least {:.0f} ms, not finished; ", theirs.value / kMillisecondNs)
               : "not one whole transaction; ";
  }
  if (was_cut_short(theirs)) text += fmt::format("{} of {} run; ", theirs.done, theirs.planned);
  if (was_cut_short(ours)) text += fmt::format("ours {}; ", ours.done);
  if (theirs.unit == "ns" && theirs.done == 1) text += "one walk; ";
  if (!text.empty()) text.resize(text.size() - std::string_view("; ").size());
  return text;
}

void add_row(Report& report, const Figure& ours, std::string_view peer, const Figure& theirs) {
  report.add({.what = ours.what,
              .unit = ours.unit,
              .better = ours.better,
              .ours = ours.value,
              .peer = std::string(peer),
              .theirs = theirs.value,
              .target = target_ratio(ours.what, peer),
              .note = describe(ours, theirs),
              .spread = std::max(ours.spread, theirs.spread),
              .theirs_is = theirs.exactness});
}

}  // namespace

void Figures::add_rate(std::string_view what, const Rate& rate) {
  add({.what = std::string(what),
       .unit = "/s",
       .better = Better::kHigher,
       .value = rate.per_second,
       .spread = rate.spread,
       .done = rate.done,
       .planned = rate.planned,
       .exactness = rate.is_bound ? Exactness::kBound : Exactness::kMeasured});
}

void Figures::add_walks(std::string_view what, const Walks& walks) {
  add({.what = std::string(what),
       .unit = "ns",
       .value = walks.timing.median_ns,
       .spread = walks.timing.spread,
       .done = walks.runs,
       .exactness = walks.runs == 0 ? Exactness::kBound : Exactness::kMeasured});
}

void Figures::add_bytes(std::string_view what, double bytes, Exactness exactness) {
  add({.what = std::string(what), .unit = "B", .value = bytes, .exactness = exactness});
}

void Figures::add_missing(std::string_view what, std::string_view why) {
  missing_.push_back({std::string(what), std::string(why)});
}

const Figure* Figures::find(std::string_view what) const {
  const auto at = std::ranges::find(figures_, what, &Figure::what);
  return at == figures_.end() ? nullptr : &*at;
}

void report_ours(Report& report, const Figures& ours) {
  for (const Figure& figure : ours.all()) {
    report.add({.what = figure.what,
                .unit = figure.unit,
                .better = figure.better,
                .ours = figure.value,
                .target = target_figure(figure.what),
                .note = was_cut_short(figure) ? fmt::format("{} run", figure.done) : "",
                .spread = figure.spread});
  }
}

void report_against(Report& report,
                    const Figures& ours,
                    std::string_view peer,
                    const Figures& theirs) {
  for (const Figure& figure : theirs.all()) {
    const Figure* const own = ours.find(figure.what);
    if (own == nullptr) continue;
    add_row(report, *own, peer, figure);
    if (figure.what != kContainsHit) continue;
    if (const Figure* const verified = ours.find(kContainsVerified)) {
      add_row(report, *verified, peer, figure);
    }
  }
  for (const Figures::Missing& one : theirs.missing())
    report.add_missing(one.what, std::string(peer), one.why);
}

}  // namespace cadastre::bench
