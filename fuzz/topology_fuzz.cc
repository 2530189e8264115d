// A topology file: any bytes are refused with a reason, or hold what the header promises.
//
// Input: the text.

#include "server/topology.h"

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"
#include "log/types.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  const auto topology = server::parse_topology(base::as_text(input));
  if (!topology) {
    CAD_CHECK(!topology.error().detail.empty(), "a refusal says why");
    return;
  }
  CAD_CHECK(topology->cluster != log::ClusterId{0}, "a cluster has an id");
  CAD_CHECK(topology->coordination != log::GroupId{0}, "group 0 carries no coordination");
  CAD_CHECK(topology->group(topology->coordination) != nullptr, "and the one that does exists");
  for (const server::TopologyGroup& group : topology->groups) {
    CAD_CHECK(!group.voters.empty(), "a group has a voter");
    for (const log::NodeId voter : group.voters)
      CAD_CHECK(topology->node(voter) != nullptr, "a voter is a node");
  }
  if (topology->ranges.empty()) return;
  CAD_CHECK(topology->ranges.front().start.empty(), "the first key is covered");
  CAD_CHECK(topology->ranges.back().end.empty(), "so is the last");
}

}  // namespace cadastre::fuzz
