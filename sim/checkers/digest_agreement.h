// DigestAgreement: replicas of a group that applied the same index must have become the same.
//
// Each replica reports every index it applies, with a rolling digest of its state: one that depends on
// all entries up to there. Two digests of one index that differ are a disagreement, whoever reports
// second. So is an index that a state applies twice or leaves out. A state begins empty at index 0, and
// is replaced as a whole when a replica restarts from its disk or installs a snapshot.
//
// Fed by a simulation after every step; one thread.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/strong.h"
#include "sim/schedule/node_id.h"

namespace cadastre::sim::checkers {

using GroupId = base::Strong<struct GroupIdTag>;
using LogIndex = base::Strong<struct LogIndexTag>;  // 0: before the first entry.
using Digest = base::Strong<struct DigestTag>;

struct Replica {
  GroupId group;
  NodeId node;

  friend auto operator<=>(const Replica&, const Replica&) = default;
};

enum class Fault : std::uint8_t {
  kDiffers,       // from what another replica, or the same one earlier, had at this index
  kAppliedTwice,  // at or below what the state holds
  kSkipped,       // an index between this one and what the state holds
};

struct Disagreement {
  Fault fault;
  Replica replica;
  LogIndex index;
  std::string detail;
};

class DigestAgreement {
 public:
  // The replica's state went from the index before to this one.
  void applied(const Replica& replica, LogIndex index, Digest digest);
  // The replica's state is now another one, that of `index`. The digest of index 0 is not looked at.
  void restored(const Replica& replica, LogIndex index, Digest digest);
  // Bounds memory: digests below are dropped, and reports of them compared with nothing.
  void forget_below(GroupId group, LogIndex index);

  // The first kDisagreementsMax of them, in the order of the reports.
  [[nodiscard]] std::span<const Disagreement> disagreements() const noexcept { return found_; }
  // How many digests were compared with that of another report.
  [[nodiscard]] std::uint64_t compared() const noexcept { return compared_; }

  static constexpr std::size_t kDisagreementsMax = 100;

 private:
  struct Known {
    Digest digest;
    NodeId first_reporter;
  };
  struct Group {
    std::uint64_t forgotten_below = 0;
    std::map<std::uint64_t, Known> by_index;
  };

  void compare(const Replica& replica, LogIndex index, Digest digest);
  void note(Fault fault, const Replica& replica, LogIndex index, std::string detail);

  std::map<GroupId, Group> groups_;
  std::map<Replica, std::uint64_t> states_;  // The index of each replica's state.
  std::vector<Disagreement> found_;
  std::uint64_t compared_ = 0;
};

}  // namespace cadastre::sim::checkers
