// RaftEngine: raft-rs 0.7.0 behind the shim, as Engine and Replica. See open_raft_engine.h.
//
// Bodies of an output refer to the shim's handle: no byte is copied on this side. Handles are counted and
// may be dropped from any thread. Everything else belongs to the log thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "log/engine.h"
#include "log/metrics.h"
#include "log/raft/open_raft_engine.h"
#include "log/raft/shim_views.h"
#include "log/replica.h"

namespace cadastre::log {

class RaftEngine final : public Engine, public Replica {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<Engine>, OpenError> open(
      const RaftParts& parts);

  [[nodiscard]] base::Result<Position, ProposeError> propose(Term term_or_any,
                                                             std::span<const Body> bodies) override;
  void read_index(const ReadContext& context) override;
  void tick() override;
  [[nodiscard]] bool has_output() const override;
  [[nodiscard]] Output take_output() override;
  void on_persisted(OutputNumber upto) override;
  void on_applied(Index upto) override;
  void on_truncated(Position upto) override;
  [[nodiscard]] EngineStatus status() const override;
  [[nodiscard]] Replica* replica() noexcept override { return this; }

  [[nodiscard]] std::optional<MessageHead> look(ByteView message) const override;
  [[nodiscard]] base::Result<void, StepError> step(ByteView message) override;
  void report_unreachable(NodeId peer) override;
  [[nodiscard]] base::Result<Position, ConfError> propose_conf(const ConfChange& change) override;
  [[nodiscard]] base::Result<ConfRecord, ConfError> apply_conf(const Entry& entry) override;
  [[nodiscard]] base::Result<void, TransferError> transfer(NodeId to) override;
  [[nodiscard]] Wants take_wants() override;
  void fetched(std::uint64_t token, std::span<const Entry> entries) override;
  void set_snapshot(const Snapshot& snapshot) override;
  void withdraw_snapshot() override;
  void report_snapshot(NodeId peer, SnapshotFate fate) override;
  void shrink_cache(Index keep_from) override;
  [[nodiscard]] std::uint64_t cache_bytes() const override;
  [[nodiscard]] std::vector<PeerProgress> progress() const override;
  [[nodiscard]] NodeId transferee() const override;

 private:
  explicit RaftEngine(const RaftParts& parts);

  [[nodiscard]] base::Result<void, OpenError> create(const RaftParts& parts);
  [[nodiscard]] cad_status shim_status() const;
  void note_term_start(const Output& output);

  static cad_result read(void* self,
                         std::uint64_t low,
                         std::uint64_t high,
                         std::uint64_t bytes_max,
                         cad_entries** out) noexcept;
  static void write_line(void* self, std::uint32_t level, cad_slice text) noexcept;

  const GroupId group_;
  const Incarnation incarnation_;
  const NodeId self_;
  LogStorage& storage_;
  Runner& runner_;
  const base::Logger* const logger_;
  Counter* const sync_reads_;
  CrashListener* const crashes_;
  RaftHandle raft_;
  Position term_start_;  // The last term that this node opened as a leader.
};

}  // namespace cadastre::log
