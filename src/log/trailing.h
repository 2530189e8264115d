// Trailing: up to where a replica may truncate its log for the sake of peers that are behind (L-78). A leader keeps what
// peers lack that were heard from lately, within bounds; a follower keeps a little, for the day it leads. Pure; belongs
// to the log thread.

#pragma once

#include <algorithm>
#include <map>
#include <span>

#include "base/clock.h"
#include "log/replica.h"
#include "log/types.h"

namespace cadastre::log {

class Trailing {
 public:
  // This node leads from now on: whom it has not heard counts as heard now.
  void lead(base::Elapsed now) {
    heard_.clear();
    since_ = now;
  }

  // The lowest position of those heard from within `patience`; the last one's if that is nobody.
  [[nodiscard]] Index lowest_match(std::span<const PeerProgress> peers,
                                   Index last,
                                   base::Elapsed patience,
                                   base::Elapsed now) {
    Index lowest = last;
    for (const PeerProgress& peer : peers) {
      base::Elapsed& heard = heard_.try_emplace(peer.node, since_).first->second;
      if (peer.active) heard = now;
      if (now - heard <= patience) lowest = std::min(lowest, peer.match);
    }
    return lowest;
  }

 private:
  std::map<NodeId, base::Elapsed> heard_;
  base::Elapsed since_{};
};

}  // namespace cadastre::log
