// history_judge: judges what was recorded of a real cluster with the simulator's checkers.
//
//   history_judge --registers FILE   registers (RegisterModel), in the form of sim/checkers/history_text.h
//   history_judge --shards FILE      shards of the coordination service (ShardModel)
//   history_judge --lists FILE       lists that only grow (LogModel)
//   history_judge --digests FILE     digests of replicas, in the form of sim/checkers/digest_text.h
//
// Each may be given several times. Exit status: 0, all is as it must be; 1, something is not, and is printed; 2, a file
// cannot be read, or the work ran out before there was a verdict.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>     // IWYU pragma: keep: App's members are defined there
#include <CLI/Formatter.hpp>  // IWYU pragma: keep: App's members are defined there
#include <fmt/format.h>

#include "sim/checkers/digest_agreement.h"
#include "sim/checkers/digest_text.h"
#include "sim/checkers/history.h"
#include "sim/checkers/history_text.h"
#include "sim/checkers/linearizability.h"
#include "sim/checkers/model.h"
#include "sim/checkers/shard_model.h"

namespace cadastre::sim::checkers {
namespace {

constexpr int kGood = 0;
constexpr int kWrong = 1;
constexpr int kUndecided = 2;
constexpr std::size_t kDisagreementsShown = 5;

std::optional<std::string> text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

int unreadable(const std::string& file, std::string_view why) {
  fmt::print(stderr, "history_judge: {}: {}\n", file, why);
  return kUndecided;
}

int judge_history(const std::string& file, const Model& model, std::uint64_t work_max) {
  const auto text = text_of(file);
  if (!text) return unreadable(file, "cannot be read");
  const auto history = history_of(*text);
  if (!history) return unreadable(file, "no operation: " + history.error().detail);
  std::array<std::size_t, 3> outcomes{};
  std::set<KeyId> keys;
  for (const Operation& operation : history->operations()) {
    ++outcomes.at(static_cast<std::size_t>(operation.outcome));
    keys.insert(operation.call.key);
  }
  const Judgement judgement = check_linearizable(history->operations(), model, work_max);
  fmt::print("{}: {}; {} operations on {} keys: {} ok, {} failed, {} unknown; work {}\n", file,
             name(judgement.verdict), history->operations().size(), keys.size(), outcomes[0],
             outcomes[1], outcomes[2], judgement.work);
  if (judgement.verdict == Verdict::kLinearizable) return kGood;
  fmt::print("key k{}: {}\n", judgement.key.value_or(KeyId{}).value(), judgement.detail);
  return judgement.verdict == Verdict::kGaveUp ? kUndecided : kWrong;
}

int judge_digests(const std::vector<std::string>& files) {
  DigestAgreement agreement;
  std::uint64_t reports = 0;
  for (const std::string& file : files) {
    const auto text = text_of(file);
    if (!text) return unreadable(file, "cannot be read");
    const auto reported = report_digests(*text, agreement);
    if (!reported) return unreadable(file, "no report: " + reported.error().detail);
    reports += *reported;
  }
  const auto found = agreement.disagreements();
  fmt::print("digests: {}; {} reports, {} compared\n", found.empty() ? "agree" : "disagree",
             reports, agreement.compared());
  for (const Disagreement& each : found.first(std::min(found.size(), kDisagreementsShown)))
    fmt::print("node {} at {}: {}\n", each.replica.node.value(), each.index.value(), each.detail);
  if (!found.empty()) return kWrong;
  return agreement.compared() == 0 ? kUndecided : kGood;  // Nothing that two replicas have.
}

struct Arguments {
  std::vector<std::string> registers, shards, lists, digests;
  std::uint64_t work_max = 100 * kWorkMax;
};

// What is wrong counts more than what is not known.
int worse(int one, int other) {
  if (one == kWrong || other == kWrong) return kWrong;
  return std::max(one, other);
}

int judge(const Arguments& arguments) {
  int status = kGood;
  for (const std::string& file : arguments.registers)
    status = worse(status, judge_history(file, RegisterModel(), arguments.work_max));
  for (const std::string& file : arguments.shards)
    status = worse(status, judge_history(file, ShardModel(), arguments.work_max));
  for (const std::string& file : arguments.lists)
    status = worse(status, judge_history(file, LogModel(), arguments.work_max));
  if (!arguments.digests.empty()) status = worse(status, judge_digests(arguments.digests));
  return status;
}

}  // namespace
}  // namespace cadastre::sim::checkers

int main(int argc, char** argv) {
  cadastre::sim::checkers::Arguments arguments;
  CLI::App app("Judges what was recorded of a real cluster");
  app.add_option("--registers", arguments.registers, "histories of registers");
  app.add_option("--shards", arguments.shards, "histories of shards");
  app.add_option("--lists", arguments.lists, "histories of lists");
  app.add_option("--digests", arguments.digests, "digests of one group's replicas");
  app.add_option("--work", arguments.work_max, "give up after so much of it, for each history");
  CLI11_PARSE(app, argc, argv);
  return cadastre::sim::checkers::judge(arguments);
}
