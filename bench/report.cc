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
      {"holds", or_null(row.holds())}};
  if (row.spread > kNoisySpread) json["spread"] = row.spread;
  return json;
}

void print_row(const Row& row) {
  std::string line = fmt::format("{:<52} {:>11.4g} {:<6}", row.what, row.ours, row.unit);
  if (const auto ratio = row.ratio()) {
    line += fmt::format(" {:>7.2f} x {}", *ratio, row.peer);
    if (row.target) line += fmt::format(" (promised {:g} x)", *row.target);
  } else if (row.target) {
    line += fmt::format(" (promised {} {:g})",
                        row.better == Better::kHigher ? "at least" : "at most", *row.target);
  }
  if (row.holds() == false) line += "  NOT HELD";
  if (row.spread > kNoisySpread) line += fmt::format("  spread {:.0f} %", 100 * row.spread);
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace

std::optional<double> Row::ratio() const {
  if (!theirs) return std::nullopt;
  return better == Better::kHigher ? ours / *theirs : *theirs / ours;
}

std::optional<bool> Row::holds() const {
  if (!target) return std::nullopt;
  if (const auto times = ratio()) return *times >= *target;
  return better == Better::kHigher ? ours >= *target : ours <= *target;
}

void Report::add(Row row) {
  print_row(row);
  rows_.push_back(std::move(row));
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

bool Report::write(const std::string& path, double seconds) const {
  nlohmann::ordered_json json{
      {"name", name_}, {"commit", CAD_COMMIT}, {"machine", machine()}, {"seconds", seconds}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows_)
    json["rows"].push_back(to_json(row));
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
  std::printf("%.0f s; %zu promises not held; rows in %s\n", seconds, report.broken_promises(),
              argv[2]);
  return 0;
}

}  // namespace cadastre::bench
