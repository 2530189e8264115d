// register_node: a node of a cluster that replicates registers: the production log, storage and transport under
// RegisterMachine, with a door for lines (line_door.h). It runs until it is killed.
//
//   register_node --node 1 --data DIR --peers 1=HOST:PORT,2=…,3=… --digests FILE --door HOST:PORT --run N [--lease-reads]
//
//   put KEY VALUE            ─► ok
//   cas KEY EXPECTED VALUE   ─► swapped | kept
//   get KEY                  ─► VALUE | nil; from any node, and linearizable
//   transfer NODE            ─► ok | refused; at the leader
//   status                   ─► one line of JSON
//
// Any but the last may be answered "refused WHY", nothing was done and nothing will be, or "unknown".

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>     // IWYU pragma: keep: App's members are defined there
#include <CLI/Formatter.hpp>  // IWYU pragma: keep: App's members are defined there
#include <fmt/format.h>

#include "base/boot_clock.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "client/alarm_timer.h"
#include "log/address_book.h"
#include "log/engine.h"
#include "log/frame_bodies.h"
#include "log/group.h"
#include "log/host.h"
#include "log/propose.h"
#include "log/types.h"
#include "node/local_log.h"
#include "node/log_page.h"
#include "server/grpc/peer_transport.h"
#include "server/listen_address.h"
#include "server/peer_hooks.h"
#include "tests/cluster/line_door.h"
#include "tests/cluster/register_machine.h"

namespace cadastre::cluster {
namespace {

constexpr log::ClusterId kCluster{8};
constexpr log::GroupId kGroup{1};

struct Arguments {
  std::uint64_t node = 0;
  std::string data;
  std::vector<std::string> peers;
  std::string digests;
  std::string door;
  std::uint64_t run = 1;
  bool lease_reads = false;
};

server::ListenAddress address_of(const std::string& text) {
  const auto address = server::parse_listen_address(text);
  CAD_CHECK(address.has_value(), "the test gives addresses");
  return *address;
}

// Nobody is removed here, and nobody moves.
class NoHooks final : public server::PeerHooks {
 public:
  [[nodiscard]] bool has_group(log::GroupId /*group*/) const override { return true; }
  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId /*group*/,
                                                   log::NodeId /*from*/) const override {
    return std::nullopt;
  }
  void on_not_here(log::NodeId /*from*/, log::GroupId /*group*/, log::Index /*index*/) override {}
  void on_snapshot_report(log::NodeId /*from*/,
                          log::GroupId /*group*/,
                          const log::SnapshotReport& /*report*/) override {}
  void on_address_hint(log::NodeId /*from*/, const log::NodeAddress& /*address*/) override {}
};

std::vector<log::PeerAddress> peers_of(const Arguments& arguments) {
  std::vector<log::PeerAddress> peers;
  for (const std::string& each : arguments.peers) {
    const std::size_t equals = each.find('=');
    CAD_CHECK(equals != std::string::npos, "a peer is NODE=HOST:PORT");
    const std::string address = each.substr(equals + 1);
    peers.push_back({log::NodeId{std::stoull(each.substr(0, equals))}, {address, address}});
  }
  return peers;
}

bool is_certain(log::ProposeError error) {
  return error != log::ProposeError::kOutcomeUnknown;
}

class RegisterNode {
 public:
  explicit RegisterNode(const Arguments& arguments)
      : id_(arguments.node),
        lease_reads_(arguments.lease_reads),
        random_(arguments.node * 1'000'003 + arguments.run),
        transport_({.self = {kCluster, id_},
                    .incarnation = log::PeerIncarnation{arguments.run},
                    .clock = clock_,
                    .random = random_,
                    .timer = timer_,
                    .logger = &logger_}),
        machine_({std::filesystem::path(arguments.data) / "registers", arguments.digests}, id_),
        door_(address_of(arguments.door),
              [this](LineDoor::Connection from, std::string_view line) { ask(from, line); }) {
    const std::vector<log::PeerAddress> peers = peers_of(arguments);
    log::ReplicaOptions replica{.founders = {}, .seed = random_.next_u64()};
    for (const log::PeerAddress& peer : peers)
      replica.founders.push_back(peer.node);
    node::LocalLogOptions options{.directory = std::filesystem::path(arguments.data) / "log",
                                  .identity = {kCluster, id_},
                                  .appliers = 1,
                                  .replication = {.self = id_,
                                                  .run = arguments.run,
                                                  .transport = &transport_,
                                                  .boot_clock = &boot_clock_}};
    options.settings.raft.lease_reads = lease_reads_;
    auto opened = node::LocalLog::open(options, clock_, logger_);
    if (!opened) refuse(opened.error().detail);
    log_ = *std::move(opened);
    const auto group =
        log_->host().open_group({.group = kGroup, .machine = machine_, .replicated = replica});
    if (!group) refuse(group.error().detail);
    group_ = *group;
    for (const log::PeerAddress& peer : peers) {
      if (peer.node != id_) continue;
      const auto started = transport_.start(
          {.address = address_of(peer.address.peer), .plain = server::PlainPolicy::kAnywhere},
          log_->host(), hooks_);
      if (!started) refuse(started.error().detail);
    }
    transport_.set_peers(peers);
  }

  [[noreturn]] void serve() {
    fmt::print("ready\n");
    (void)std::fflush(stdout);
    door_.serve();
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) {
    fmt::print(stderr, "register_node: {}\n", why);
    std::exit(EXIT_FAILURE);
  }

  void ask(LineDoor::Connection from, std::string_view line) {
    if (line == "status") {
      std::string page = node::group_line(kGroup, id_, group_->status());
      page.pop_back();
      return door_.answer(from, std::move(page));
    }
    if (line.starts_with("get ")) return get(from, std::string(line.substr(4)));
    if (line.starts_with("transfer ")) return transfer(from, std::string(line.substr(9)));
    propose(from, line);
  }

  void get(LineDoor::Connection from, const std::string& digits) {
    const bool by_lease = lease_reads_ && group_->status().role == log::Role::kLeader;
    read(from, std::strtoull(digits.c_str(), nullptr, 10),
         by_lease ? log::ReadMode::kLeaseIfValid : log::ReadMode::kFollower);
  }

  void transfer(LineDoor::Connection from, const std::string& digits) {
    group_->transfer_leadership(
        log::NodeId{std::strtoull(digits.c_str(), nullptr, 10)}, {},
        [this, from](const auto& done) { door_.answer(from, done ? "ok" : "refused"); });
  }

  void read(LineDoor::Connection from, std::uint64_t key, log::ReadMode mode) {
    group_->read_barrier(mode, [this, from, key](const log::ReadAnswer& answer) {
      if (!answer) return door_.answer(from, "refused " + answer.error().detail);
      const auto value = machine_.read(key);
      if (!group_->still_holds(*answer)) return read(from, key, log::ReadMode::kFollower);
      door_.answer(from, value ? std::to_string(*value) : "nil");
    });
  }

  void propose(LineDoor::Connection from, std::string_view line) {
    log::Proposal proposal{base::as_bytes(line), [this, from](const log::Answer& answer) {
                             door_.answer(from, text_of(answer));
                           }};
    group_->propose(std::span(&proposal, 1), log::Class::kUser);
  }

  static std::string text_of(const log::Answer& answer) {
    if (answer) return std::string(base::as_text(answer->result));
    return fmt::format("{} {}", is_certain(answer.error().code) ? "refused" : "unknown",
                       name_of(answer.error().code));
  }

  const log::NodeId id_;
  const bool lease_reads_;
  const base::SystemClock clock_;
  const base::SystemBootClock boot_clock_;
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  const base::Logger logger_{*sink_, clock_, base::LogForm::kText};
  base::SeededRandom random_;
  client::AlarmTimer timer_;
  NoHooks hooks_;
  server::GrpcPeerTransport transport_;
  RegisterMachine machine_;
  LineDoor door_;
  std::unique_ptr<node::LocalLog> log_;
  log::Group* group_ = nullptr;
};

}  // namespace
}  // namespace cadastre::cluster

int main(int argc, char** argv) {
  cadastre::cluster::Arguments arguments;
  CLI::App app("A node that replicates registers");
  app.add_option("--node", arguments.node)->required();
  app.add_option("--data", arguments.data)->required();
  app.add_option("--peers", arguments.peers)->required()->delimiter(',');
  app.add_option("--digests", arguments.digests)->required();
  app.add_option("--door", arguments.door)->required();
  app.add_option("--run", arguments.run)->required();
  app.add_flag("--lease-reads", arguments.lease_reads);
  CLI11_PARSE(app, argc, argv);
  cadastre::cluster::RegisterNode node(arguments);
  node.serve();
}
