// RaftNode: one node of a cluster as production puts it together: the log on its threads and its own RocksDB, streams
// to the other nodes on gRPC, and replicated groups 1, 2, 3, … whose state machine only counts.
//
// All members found every group together. Elections begin once the peers are known.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/boot_clock.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/random.h"
#include "bench/log_machine.h"
#include "client/alarm_timer.h"
#include "log/address_book.h"
#include "log/frame_bodies.h"
#include "log/group.h"
#include "log/settings.h"
#include "log/types.h"
#include "node/local_log.h"
#include "server/grpc/peer_transport.h"
#include "server/peer_hooks.h"

namespace cadastre::bench {

struct RaftNodePlan {
  std::filesystem::path directory;  // The log's; new, or of the same node before.
  log::NodeId id;
  std::uint64_t start = 1;  // Higher with each start of the node.
  std::size_t voters = 3;   // Nodes 1 to so many.
  std::size_t groups = 1;
  Flushes flushes = Flushes::kAtOnce;
  log::RaftSettings raft;
};

class RaftNode final : public server::PeerHooks {
 public:
  explicit RaftNode(const RaftNodePlan& plan);
  ~RaftNode() override;

  [[nodiscard]] std::uint16_t port() const noexcept { return transport_->port(); }
  void set_peers(std::span<const log::PeerAddress> peers) { transport_->set_peers(peers); }

  [[nodiscard]] std::span<log::Group* const> groups() const noexcept { return groups_; }
  [[nodiscard]] const log::NodeMetrics& metrics() { return log_->host().metrics(); }
  [[nodiscard]] std::size_t groups_led() const;
  // Another node leads where this one did, and what was asked of this one here is over.
  void give_leadership(log::NodeId to);

  // ---- server/peer_hooks.h: nothing of it happens here ------------------------------------------

  [[nodiscard]] bool has_group(log::GroupId /*group*/) const override { return true; }
  [[nodiscard]] std::optional<log::Index> not_here(log::GroupId /*group*/,
                                                   log::NodeId /*from*/) const override {
    return std::nullopt;
  }
  void on_not_here(log::NodeId, log::GroupId, log::Index) override {}
  void on_snapshot_report(log::NodeId, log::GroupId, const log::SnapshotReport&) override {}
  void on_address_hint(log::NodeId, const log::NodeAddress&) override {}

 private:
  base::SystemClock clock_;
  base::SystemBootClock boot_clock_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger logger_;
  base::OsSeededRandom random_;
  client::AlarmTimer timer_;
  std::vector<std::unique_ptr<CountingMachine>> machines_;
  std::unique_ptr<server::GrpcPeerTransport> transport_;
  std::unique_ptr<node::LocalLog> log_;  // Ends before what it borrows.
  std::vector<log::Group*> groups_;
};

}  // namespace cadastre::bench
