#include "bench/bitmap_figures.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/bitmap_measure.h"
#include "bench/bitmap_targets.h"
#include "bench/harness.h"
#include "bench/report.h"

namespace cadastre::bench {
namespace {

bool was_cut_short(const Figure& figure) {
  return figure.done < figure.planned;
}

// The peer, and how much of the plan there was time for.
std::string describe(std::string_view peer, const Figure& ours, const Figure& theirs) {
  std::string text(peer);
  if (was_cut_short(theirs)) text += fmt::format(", {} of {} run", theirs.done, theirs.planned);
  if (was_cut_short(ours)) text += fmt::format(", ours {}", ours.done);
  return text;
}

}  // namespace

void Figures::add_rate(std::string_view what, const Rate& rate) {
  add({.what = std::string(what),
       .unit = "/s",
       .better = Better::kHigher,
       .value = rate.per_second,
       .spread = rate.spread,
       .done = rate.done,
       .planned = rate.planned});
}

void Figures::add_time(std::string_view what, const Timing& timing) {
  add({.what = std::string(what),
       .unit = "ns",
       .value = timing.median_ns,
       .spread = timing.spread});
}

void Figures::add_bytes(std::string_view what, double bytes) {
  add({.what = std::string(what), .unit = "B", .value = bytes});
}

const Figure* Figures::find(std::string_view what) const {
  const auto at = std::ranges::find(figures_, what, &Figure::what);
  return at == figures_.end() ? nullptr : &*at;
}

void report_ours(Report& report, const Figures& ours) {
  for (const Figure& figure : ours.all()) {
    std::string what = figure.what;
    if (was_cut_short(figure)) what += fmt::format(" ({} run)", figure.done);
    report.add({.what = std::move(what),
                .unit = figure.unit,
                .better = figure.better,
                .ours = figure.value,
                .target = target_figure(figure.what),
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
    report.add({.what = figure.what,
                .unit = figure.unit,
                .better = figure.better,
                .ours = own->value,
                .peer = describe(peer, *own, figure),
                .theirs = figure.value,
                .target = target_ratio(figure.what, peer),
                .spread = std::max(own->spread, figure.spread)});
  }
}

}  // namespace cadastre::bench
