#include "bench/report.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "bench/harness.h"

namespace cadastre::bench {
namespace {

constexpr double kNoisySpread = 0.2;
constexpr std::uint64_t kMebibyte = 1U << 20;

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

nlohmann::ordered_json machine() {
  struct sysinfo info{};  // NOLINT(misc-include-cleaner): documented to come from <sys/sysinfo.h>
  const bool known = sysinfo(&info) == 0;
  const auto memory = known ? info.totalram * info.mem_unit / kMebibyte : 0;
  return {{"cores", get_nprocs()}, {"cpu", cpu_name()}, {"memory_mb", memory}};
}

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const Row& row) {
  nlohmann::ordered_json json{
      {"case", row.what},
      {"unit", row.unit},
      {"better", row.better == Better::kHigher ? "higher" : "lower"},
      {"ours", row.ours},
      {"peer", row.peer.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(row.peer)},
      {"theirs", or_null(row.theirs)},
      {"ratio", or_null(row.ratio())},
      {"target", or_null(row.target)},
      {"limit", or_null(row.limit)},
      {"holds", or_null(row.holds())},
      {"spread", row.spread}};
  if (row.theirs_is == Exactness::kBound) json["ratio_is"] = "at least";
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

// A ratio without an exponent, with as many digits as say something.
std::string plain(double ratio) {
  constexpr double kMany = 100;
  constexpr double kFew = 0.1;
  if (ratio >= kMany) return fmt::format("{:.0f}", ratio);
  return ratio >= kFew ? fmt::format("{:.2f}", ratio) : fmt::format("{:.2g}", ratio);
}

std::string_view verdict(const Row& row) {
  if (row.is_undecided()) return "  undecided";
  if (!row.holds()) return "";
  return *row.holds() ? "  ok" : "  MISSED";
}

void print_line(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void print_row(const Row& row) {
  std::string line = fmt::format("{:<52} {:>11.4g} {:<6}", row.what, row.ours, row.unit);
  if (const auto ratio = row.ratio()) {
    const char* const at_least = row.theirs_is == Exactness::kBound ? ">=" : "  ";
    line += fmt::format(" {} {:>7} x {}", at_least, plain(*ratio), row.peer);
    if (row.target) line += fmt::format(" (promised {} x)", plain(*row.target));
  } else if (row.theirs) {
    line += fmt::format(" no ratio, {}: {:g}", row.peer, *row.theirs);
  } else if (row.target) {
    line += fmt::format(" (promised {} {:g})",
                        row.better == Better::kHigher ? "at least" : "at most", *row.target);
  }
  line += verdict(row);
  if (!row.note.empty()) line += "  " + row.note;
  if (row.spread > kNoisySpread) line += fmt::format("  spread {:.0f} %", 100 * row.spread);
  print_line(line);
}

}  // namespace

std::optional<double> Row::ratio() const {
  if (!theirs || ours <= 0 || *theirs <= 0) return std::nullopt;
  return better == Better::kHigher ? ours / *theirs : *theirs / ours;
}

std::optional<bool> Row::holds() const {
  if (!target) return std::nullopt;
  if (const auto times = ratio()) {
    if (*times >= *target) return true;
    return theirs_is == Exactness::kBound ? std::nullopt : std::optional(false);
  }
  if (theirs) return std::nullopt;
  return better == Better::kHigher ? ours >= *target : ours <= *target;
}

void Report::add(Row row) {
  print_row(row);
  rows_.push_back(std::move(row));
}

void Report::add_missing(std::string what, std::string peer, std::string why) {
  print_line(fmt::format("{:<52} {:>11} {:<6}            {}: {}", what, "-", "", peer, why));
  missing_.push_back({std::move(what), std::move(peer), std::move(why)});
}

void Report::add_version(std::string peer, std::string version) {
  versions_.push_back({std::move(peer), std::move(version)});
}

bool Report::has_row(std::string_view what, std::string_view peer) const {
  return std::ranges::any_of(rows_,
                             [&](const Row& row) { return row.what == what && row.peer == peer; });
}

void Report::add_time(std::string what, const Timing& timing, std::optional<double> budget_ns) {
  add_scaled(std::move(what), "ns", 1, timing, budget_ns);
}

void Report::add_scaled(std::string what,
                        std::string unit,
                        double scale,
                        const Timing& timing,
                        std::optional<double> budget) {
  add({.what = std::move(what),
       .unit = std::move(unit),
       .ours = timing.median_ns / scale,
       .target = budget,
       .spread = timing.spread});
}

void Report::add_duel(std::string what,
                      const Duel& duel,
                      std::string peer,
                      std::optional<double> target_ratio) {
  add({.what = std::move(what),
       .unit = "ns",
       .ours = duel.ours.median_ns,
       .peer = std::move(peer),
       .theirs = duel.theirs.median_ns,
       .target = target_ratio,
       .spread = std::max(duel.ours.spread, duel.theirs.spread)});
}

std::size_t Report::broken_promises() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows_, [](const Row& row) { return row.holds() == false; }));
}

std::size_t Report::undecided_promises() const {
  return static_cast<std::size_t>(std::ranges::count_if(rows_, &Row::is_undecided));
}

bool Report::write(const std::string& path, double seconds) const {
  nlohmann::ordered_json json{
      {"name", name_}, {"commit", CAD_COMMIT}, {"machine", machine()}, {"seconds", seconds}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows_)
    json["rows"].push_back(to_json(row));
  for (const Version& one : versions_)
    json["versions"][one.peer] = one.version;
  for (const Missing& one : missing_)
    json["not_measured"].push_back({{"case", one.what}, {"peer", one.peer}, {"why", one.why}});
  std::ofstream file(path);
  file << json.dump(1) << '\n';
  return file.good();
}

int run_benchmark(std::string name,
                  int argc,
                  char** argv,
                  const std::function<void(Report&)>& fill) {
  if (argc != 3 || std::string_view(argv[1]) != "--out") {
    std::fputs("usage: NAME_bench --out FILE.json\n", stderr);
    return 2;
  }
  Report report(std::move(name));
  const auto begin = std::chrono::steady_clock::now();
  fill(report);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!report.write(argv[2], seconds)) {
    std::fprintf(stderr, "cannot write %s\n", argv[2]);
    return 1;
  }
  std::printf("%.0f s; %zu promises not held", seconds, report.broken_promises());
  if (const std::size_t open = report.undecided_promises()) std::printf(", %zu undecided", open);
  std::printf("; rows in %s\n", argv[2]);
  return 0;
}

}  // namespace cadastre::bench
