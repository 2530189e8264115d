// What an operator's wish takes, step by step: `next_step(what is seen, what is wanted)`. All progress is in the group's
// configuration: whoever is killed in between asks again, and goes on where the group stands.
//
//   wish                steps
//   add                 add as a learner
//   add and promote     add as a learner, wait until it has caught up, promote
//   remove              remove
//   replace OLD NEW     add NEW as a learner, wait, one joint change, wait until the group has left it
//
// Pure.

#pragma once

#include <cstdint>
#include <string>

#include "client/cluster_admin.h"

namespace cadastre::client {

enum class WishKind : std::uint8_t {
  kAdd,
  kAddVoter,
  kRemove,
  kReplace,
};
struct Wish {
  WishKind kind = WishKind::kAdd;
  MemberId node = {};   // Who joins, or leaves.
  MemberId voter = {};  // Who is replaced.
  std::string peer_address = {};
  std::string service_address = {};
  bool force = false;
};

struct MemberStep {
  enum class What : std::uint8_t {
    kDone,
    kAsk,     // Send `request`.
    kWait,    // `why` says for what; look again.
    kRefuse,  // `why` says what is wrong with the wish.
  };
  What what = What::kDone;
  MembershipRequest request = {};
  std::string why = {};
};

[[nodiscard]] MemberStep next_step(const ClusterMembership& seen, const Wish& wish);

}  // namespace cadastre::client
