// AdminHandlers: each method of the Admin service from message to message: admission, deadline, access, decoding, the
// group's call, encoding. The rules are the group's (log/membership.h). No gRPC.
//
// Where the server has tokens, a caller needs one that is bound to the tenant kOperatorTenant. Request and answer are
// borrowed until `done` is called, exactly once, on any thread. Safe from any thread.

#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "client/wire_error.h"
#include "client/wire_messages.h"
#include "log/frame_bodies.h"
#include "log/group.h"
#include "log/types.h"
#include "server/admission.h"
#include "server/coordination_handlers.h"
#include "server/current_access.h"

namespace cadastre::server {

inline constexpr std::string_view kOperatorTenant = "operator";

// A group that can be administered from here.
struct AdminGroup {
  log::Group& group;
  log::ClusterId cluster = {};
  log::NodeId self = {};
  std::function<std::optional<log::NodeAddress>(log::NodeId)> address_of;
};

struct AdminParts {
  const AdminGroup* group = nullptr;  // Nothing: this server is on its own.
  const base::Clock& clock;
  const CurrentAccess& access;
  Admission& admission;
};

class AdminHandlers {
 public:
  // The parts outlive it.
  explicit AdminHandlers(const AdminParts& parts) : parts_(parts) {}

  void get_membership(const Caller& caller,
                      const v1::GetMembershipRequest& request,
                      v1::Membership& answer,
                      Done done);
  void change_membership(const Caller& caller,
                         const v1::ChangeMembershipRequest& request,
                         v1::Membership& answer,
                         Done done);
  void transfer_leadership(const Caller& caller,
                           const v1::TransferLeadershipRequest& request,
                           v1::TransferLeadershipResponse& answer,
                           Done done);

 private:
  // Enters the call, or says why not. Whoever entered leaves.
  [[nodiscard]] std::optional<client::WireStatus> refusal(const Caller& caller) const;

  const AdminParts parts_;
};

}  // namespace cadastre::server
