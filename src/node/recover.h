// Quorum loss (L-93): what the survivors of a group have, and the group's continuation by some of them. Offline, on
// copies of the survivors' data directories, and only when an operator says so: what a lost node had acknowledged and no
// survivor has is lost. Nothing does this by itself.
//
//   survey    position, commit index and digest of each survivor; which of them has most
//   recover   the kept ones get the log of the one that has most, and behind it one entry, in a term above all that was
//             seen, that makes them the voters. The group says `recovered` for ever. Who is not kept never comes back.
//
// Killed in between, the same call goes on where it stands.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/types.h"
#include "node/closed_group.h"

namespace cadastre::node {

struct Survivor {
  std::filesystem::path directory;
  log::NodeId node = {};
  log::Position last = {};
  log::Term term = {};  // The highest that it knows.
  log::Index commit = {};
  log::Index conf_index = {};
  std::vector<log::NodeId> voters = {};
  bool recovered = false;
};

struct Survey {
  log::ClusterId cluster = {};
  log::GroupId group = {};
  std::vector<Survivor> survivors = {};  // By node.
  log::NodeId highest = {};              // Whose (last term, last index) is the highest.
  log::Index digest_after =
      {};  // Entries (digest_after, digest_upto] are committed on all of them,
  log::Index digest_upto = {};
  std::string digest = {};  // and have this digest on all of them; hexadecimal.
};

[[nodiscard]] base::Result<Survey, ClosedError> survey_survivors(
    const std::vector<std::filesystem::path>& directories, log::GroupId group);

struct Recovery {
  std::vector<log::NodeId> keep = {};  // The voters from now on; each of them has its directory.
  log::NodeId highest = {};  // The survivor that has most, as the operator read in the survey.
};
// The configuration's position.
[[nodiscard]] base::Result<log::Position, ClosedError> recover_group(
    const std::vector<std::filesystem::path>& directories,
    log::GroupId group,
    const Recovery& recovery);

}  // namespace cadastre::node
