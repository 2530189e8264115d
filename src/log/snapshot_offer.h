// SnapshotOffer: what a leader does about peers of a group that need a snapshot (L-71, L-73, L-75).
//
//   a peer wants one ─► a young checkpoint is there ──────────────► offered ─► fetched by peers ─► their reports
//                   └─► none is: one is made and sealed ─► made ──┘                            └─► silence: overdue
//
// Whoever fetches shows in the engine's progress: a snapshot on offer is handed to any peer that lacks enough. While
// somebody fetches, or may begin to, the log above the checkpoint is kept; and for whoever was fed, what it lacks until it is near
// enough to follow: else the next thing it needed would be another snapshot. Pure; belongs to the log thread.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "log/checkpoint.h"
#include "log/conf_state.h"
#include "log/replica.h"
#include "log/settings.h"
#include "log/snapshotter.h"
#include "log/types.h"

namespace cadastre::log {

// Since which entry of this history the node belongs to the group without a break; 0 if the oldest record has it. A snapshot
// from before would be refused by it: it names others only.
[[nodiscard]] Index member_since(const std::vector<ConfRecord>& history, NodeId node) noexcept;

class SnapshotOffer {
 public:
  explicit SnapshotOffer(const SnapshotSettings& settings) noexcept : settings_(settings) {}

  // A peer needs one at or above this entry.
  void wanted(NodeId peer, Index least);

  enum class Next : std::uint8_t {
    kNothing,
    kMake,   // A checkpoint, then making().
    kOffer,  // checkpoint(), then offered().
  };
  [[nodiscard]] Next next(Index truncated, base::Elapsed now) const;

  // A checkpoint is being made; it will stand at or above `applied`.
  void making(Index applied);
  void made(const CheckpointManifest& manifest, base::Elapsed now);
  void not_made(base::Elapsed now);  // Tries again later.
  [[nodiscard]] bool is_making() const noexcept { return making_.has_value(); }
  [[nodiscard]] const CheckpointManifest& checkpoint() const { return newest_->manifest; }
  void offered(base::Elapsed now);

  // A peer says what became of the one at `index`. One that failed is not offered again; word of an older one says
  // nothing about the newest.
  struct Report {
    Index index;
    SnapshotFate fate = SnapshotFate::kFailed;
  };
  void reported(NodeId peer, const Report& report, base::Elapsed now);
  // Nothing is heard of a peer: whatever it fetches is taken for failed.
  void given_up(NodeId peer, base::Elapsed now);

  // When a byte of a checkpoint was last read; nothing: none was, or it is not here.
  using LastRead = std::function<std::optional<base::Elapsed>(const CheckpointName&)>;

  // Who fetches, as the engine sees it. Those of whom nothing was heard for too long, nor any byte read: they are
  // to be given up.
  [[nodiscard]] std::vector<NodeId> overdue(std::span<const PeerProgress> peers,
                                            const LastRead& last_read,
                                            base::Elapsed now);
  // Whether the engine was given it last.
  [[nodiscard]] bool is_on_offer(const CheckpointName& name) const { return on_offer_ == name; }

  // Entries above this one are kept for those who fetch; nothing: nobody does.
  [[nodiscard]] std::optional<Index> kept_above(base::Elapsed now) const;
  // The same for those who were fed and lack entries up to `trail`, from where on all have what they need. One that
  // acknowledges nothing for too long is not waited for.
  [[nodiscard]] std::optional<Index> kept_for_fed(std::span<const PeerProgress> peers,
                                                  Index trail,
                                                  base::Elapsed now);

  // Checkpoints that nobody fetches and that are too old to be offered, or that a newer one replaced; the caller releases
  // them. However often a peer fails, what was made for it before does not pile up.
  [[nodiscard]] std::vector<CheckpointName> take_expired(const LastRead& last_read,
                                                         base::Elapsed now);

  // This node leads no more: nobody is waited for. What was being fetched stays while it is read (L-73).
  void forget_peers();

 private:
  struct Made {
    CheckpointManifest manifest;
    base::Elapsed at{};
    std::optional<base::Elapsed> offered = std::nullopt;
    bool failed = false;
    bool while_read = false;  // Kept for those who fetch it, though their leader is another one.
  };
  struct Retired {
    CheckpointName name;
    Index index;
    base::Elapsed made{};
    base::Elapsed replaced{};
    bool while_read = false;
  };
  struct Fed {
    Index match;            // It has at least so much,
    base::Elapsed since{};  // and had no more since then.
  };
  [[nodiscard]] bool in_use(base::Elapsed now) const;
  // Whether somebody who fetches may have begun when it was the newest.
  [[nodiscard]] bool is_fetched(const Retired& retired) const;
  void failed(base::Elapsed now);
  [[nodiscard]] bool is_read(const CheckpointName& name,
                             const LastRead& last_read,
                             base::Elapsed now) const;

  const SnapshotSettings settings_;
  std::map<NodeId, Index> wanted_;
  std::map<NodeId, base::Elapsed> fetching_;  // Since when.
  std::map<NodeId, Fed> fed_;
  std::optional<Index> making_;
  std::optional<CheckpointName> on_offer_;
  std::optional<Made> newest_;
  std::vector<Retired> retired_;  // Perhaps still fetched.
  base::Elapsed not_before_{};
  std::uint32_t failures_ = 0;  // One after the other.
};

}  // namespace cadastre::log
