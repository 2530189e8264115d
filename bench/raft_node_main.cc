#include "bench/raft_node_main.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <latch>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/signal.h"
#include "bench/harness.h"
#include "bench/lease_reads.h"
#include "bench/log_callers.h"
#include "bench/peers/log_echo.h"
#include "log/address_book.h"
#include "log/group_status.h"
#include "log/propose.h"

namespace cadastre::bench {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1};

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  CAD_CHECK(read.ptr == text.data() + text.size(), "the parent sends numbers where they belong");
  return value;
}

std::vector<log::PeerAddress> read_peers(std::istream& words) {
  std::vector<log::PeerAddress> peers;
  std::string word;
  while (words >> word) {
    const std::size_t sign = word.find('=');
    CAD_CHECK(sign != std::string::npos, "a peer is ID=ADDRESS");
    peers.push_back({log::NodeId{number(word.substr(0, sign))}, {word.substr(sign + 1), {}}});
  }
  return peers;
}

// One command: whether it was applied.
bool write_one(log::Group& group) {
  const std::vector<std::byte> command(kCommandBytes);
  std::latch told(1);
  bool applied = false;
  std::array proposals{log::Proposal{command, [&](const log::Answer& answer) {
                                       applied = answer.has_value();
                                       told.count_down();
                                     }}};
  group.propose(proposals, log::Class::kUser);
  told.wait();
  return applied;
}

class Answers {
 public:
  Answers(RaftNode& node, log::NodeId self) : node_(node), self_(self) {}

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "peers") {
      node_.set_peers(read_peers(words));
      return "ok";
    }
    if (verb == "leads") return std::to_string(node_.groups_led());
    if (verb == "give") {
      node_.give_leadership(log::NodeId{next(words)});
      return "ok";
    }
    if (verb == "load") return load(words);
    if (verb == "read") return read(words);
    if (verb == "read-guarded") return read_guarded(next_seconds(words));
    if (verb == "fill") return fill(words);
    if (verb == "door") return open_door(words);
    if (verb == "applied") return std::to_string(group().status().applied.value());
    if (verb == "await") return await(log::Index{next(words)});
    if (verb == "write") return write(log::NodeId{next(words)});
    if (verb == "cpu") return fmt::format("{}", processor_seconds());
    CAD_CHECK(false, "the parent knows what a node answers");
  }

 private:
  log::Group& group() { return *node_.groups().front(); }

  static std::uint64_t next(std::istream& words) {
    std::string word;
    words >> word;
    return number(word);
  }
  static double next_seconds(std::istream& words) {
    double seconds = 0;
    words >> seconds;
    return seconds;
  }

  std::string load(std::istream& words) {
    LoadPlan plan;
    words >> plan.groups >> plan.outstanding >> plan.commands >> plan.command_bytes >> plan.seconds;
    const LoadResult result = run_callers(node_.groups(), node_.metrics(), plan);
    return fmt::format("{} {} {} {} {}", result.commands_per_second, result.sets_per_second,
                       result.p50_us, result.p99_us, result.cpu_us_per_command);
  }

  std::string read(std::istream& words) {
    const auto outstanding = next(words);
    return fmt::format("{}", run_readers(group(), outstanding, next_seconds(words)));
  }

  std::string read_guarded(double seconds) {
    const GuardedReads result = run_guarded_reads(group(), seconds);
    return fmt::format("{} {} {}", result.guarded, result.unguarded, result.by_lease);
  }

  std::string fill(std::istream& words) {
    FillPlan plan;
    words >> plan.bytes >> plan.command_bytes;
    fill_groups(node_.groups().first(1), plan);
    return "ok";
  }

  std::string open_door(std::istream& words) {
    std::string kind;
    words >> kind;
    std::unique_ptr<LogEcho>& door = kind == "log" ? log_door_ : bare_door_;
    if (door == nullptr) door = std::make_unique<LogEcho>(kind == "log" ? &group() : nullptr);
    return door->address();
  }

  std::string await(log::Index index) {
    const auto began = std::chrono::steady_clock::now();
    while (group().status().applied < index)
      base::Signal().wait_for(kLookEvery);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return fmt::format("{}", took.count());
  }

  std::string write(log::NodeId gone) {
    for (;;) {
      const log::GroupStatus status = group().status();
      if (status.role == log::Role::kLeader) {
        if (write_one(group())) return "written";
      } else if (status.leader != log::kNoNode && status.leader != gone && status.leader != self_) {
        return "another";
      }
      base::Signal().wait_for(kLookEvery);
    }
  }

  RaftNode& node_;
  const log::NodeId self_;
  std::unique_ptr<LogEcho> log_door_;
  std::unique_ptr<LogEcho> bare_door_;
};

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

}  // namespace

std::vector<std::string> node_arguments(const RaftNodePlan& plan) {
  return {plan.directory.string(),
          std::to_string(plan.id.value()),
          std::to_string(plan.start),
          std::to_string(plan.voters),
          std::to_string(plan.groups),
          plan.flushes == Flushes::kNever ? "never" : "at-once",
          plan.raft.lease_reads ? "leases" : "no-leases"};
}

int run_raft_node(const std::vector<std::string>& arguments) {
  CAD_CHECK(arguments.size() == 7, "a node's process is started by the benchmark");
  const RaftNodePlan plan{.directory = arguments[0],
                          .id = log::NodeId{number(arguments[1])},
                          .start = number(arguments[2]),
                          .voters = number(arguments[3]),
                          .groups = number(arguments[4]),
                          .flushes = arguments[5] == "never" ? Flushes::kNever : Flushes::kAtOnce,
                          .raft = {.lease_reads = arguments[6] == "leases"}};
  RaftNode node(plan);
  say(std::to_string(node.port()));
  Answers answers(node, plan.id);
  std::string line;
  while (std::getline(std::cin, line))
    say(answers.answer(line));
  return 0;
}

}  // namespace cadastre::bench
