// `./dev bench log-raft`: the log on three machines that are three processes of this one, with one disk, beside that disk
// and etcd with as many members. Commands are submitted in the leader's process where no row says otherwise.
//
//   ./dev bench log-raft -- --only PART [--rounds N] [--seconds S]

#include "bench/log_raft_bench.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/raft_node_main.h"
#include "bench/report.h"

namespace cadastre::bench {
namespace {

struct Part {
  std::string_view name;
  void (*add)(Report&, const RaftBenchPlan&);
};
constexpr std::array kParts{Part{"rates", add_rates},       Part{"leases", add_leases},
                            Part{"failover", add_failover}, Part{"catch-up", add_catch_up},
                            Part{"groups", add_groups},     Part{"voters", add_voters},
                            Part{"idle", add_idle}};

// Takes an option and its value out of the arguments.
std::optional<std::string> take_option(std::vector<char*>& arguments, std::string_view name) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != name) continue;
    std::string value = arguments[i + 1];
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(at, at + 2);
    return value;
  }
  return std::nullopt;
}

int usage() {
  std::fputs("--only is one of:", stderr);
  for (const Part& part : kParts)
    std::fprintf(stderr, " %s", std::string(part.name).c_str());
  std::fputs("; --rounds and --seconds are numbers above 0\n", stderr);
  return 2;
}

int raft_bench_main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const std::string only = take_option(arguments, "--only").value_or("");
  RaftBenchPlan plan;
  if (const auto rounds = take_option(arguments, "--rounds"))
    plan.rounds = std::atoi(rounds->c_str());
  if (const auto seconds = take_option(arguments, "--seconds"))
    plan.seconds = std::atof(seconds->c_str());
  bool known = only.empty();
  for (const Part& part : kParts)
    known = known || part.name == only;
  if (!known || plan.rounds < 1 || plan.seconds <= 0) return usage();
  return run_benchmark("log-raft", static_cast<int>(arguments.size()), arguments.data(),
                       [&](Report& report) {
                         for (const Part& part : kParts) {
                           if (only.empty() || part.name == only) part.add(report, plan);
                         }
                       });
}

}  // namespace
}  // namespace cadastre::bench

int main(int argc, char** argv) {
  using namespace cadastre::bench;
  if (argc > 1 && argv[1] == kNodeWord) return run_raft_node({argv + 2, argv + argc});
  return raft_bench_main(argc, argv);
}
