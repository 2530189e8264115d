// Prospects: the free shards of one run as this process knows them, so that a claim need not read the run.
//
// A guess that is asked only whom to try: the transaction of an acquisition decides who gets a shard, and that
// nothing is free is never said from here. What this process does to the run is told at once, what others do is seen
// when the run is read again: after `kept_for()` at the latest, and whenever `take` has nothing to offer.
//
//   1. A shard that was taken out is offered again only when it is put back or a later reading shows it.
//   2. If nobody else acts on the run, `take` names the shard that a claim would take after reading everything.
//
// A reading may take a while: what is told between begin_reading() and show() is newer than what was read. If that
// is too much to remember, nothing is known afterwards.
//
// A value without clock or locks; times come as arguments.

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "coord/etcd/store.h"
#include "coord/identity.h"

namespace cadastre::coord::etcd {

// Of the whole run, at one revision.
struct ProspectReading {
  std::vector<ShardId> free;                          // ascending
  std::optional<LogicalTime> earliest_deadline = {};  // of the shards that are not free
  std::size_t shards = 0;                             // of the run, free or not
  LogicalTime now = {};                               // that it was judged by
  Revision revision = {};
};

// How long a reading of so many shards serves: the time that reading them takes stays a small part of it.
[[nodiscard]] std::chrono::milliseconds kept_for(std::size_t shards) noexcept;

class Prospects {
 public:
  // Whether a claim at this time should read the run though there is something to offer: one at a time does, the
  // others go on with what is known for as long again.
  [[nodiscard]] bool wants_reading(base::Elapsed at) const noexcept;
  void begin_reading() noexcept { ++readings_; }
  void show(const ProspectReading& reading, base::Elapsed at);
  void fail_reading() noexcept { end_reading(); }

  // The shard that a claim by this worker should try, taken out; nothing if the run has to be read.
  [[nodiscard]] std::optional<ShardId> take(WorkerId worker, LogicalTime now, base::Elapsed at);

  // What became of a shard: free, or held until a deadline, or never to be claimed again.
  void put_back(ShardId shard);
  void remove(ShardId shard);
  void remove(ShardId shard, LogicalTime deadline);

  // How many are free; nothing if that is not known or too old.
  [[nodiscard]] std::optional<std::size_t> count(base::Elapsed at) const noexcept;

 private:
  [[nodiscard]] bool is_usable(base::Elapsed at) const noexcept {
    return is_known_ && at - shown_at_ <= 2 * kept_for_;
  }
  void tell(ShardId shard, bool is_free);
  void place(ShardId shard, bool is_free);
  void end_reading() noexcept;

  bool is_known_ = false;
  std::vector<ShardId> free_;  // ascending
  std::optional<LogicalTime> earliest_deadline_;
  LogicalTime now_;
  Revision revision_{};
  base::Elapsed shown_at_{};
  std::chrono::milliseconds kept_for_{};

  // Since the first of the readings under way began.
  std::size_t readings_ = 0;
  std::map<ShardId, bool> told_;  // whether it is free; at most kProspectsToldMax
  bool told_too_much_ = false;
  std::optional<LogicalTime> told_deadline_;  // the earliest of them
};

}  // namespace cadastre::coord::etcd
