// ClusterAdmin: who belongs to a cluster's group, and how that changes, by way of any of its nodes (admin.proto).
//
//   auto admin = CAD_TRY(ClusterAdmin::open({.address = "a:7400,b:7400"}));
//   const ClusterMembership seen = CAD_TRY(admin->membership(ViewOf::kLeader));
//   CAD_TRY(admin->change({.expected_conf_index = seen.conf_index, .kind = ChangeKind::kRemove, .node = MemberId{3}}));
//
// Calls wait, one at a time. Each of the addresses is tried once, until one answers; nothing is repeated that was
// heard: whoever asks looks at the membership again. For one thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "client/remote_coordination.h"
#include "coord/errors.h"

namespace cadastre::client {

using MemberId = base::Strong<struct MemberIdTag>;  // A node's raft_id.

enum class MemberKind : std::uint8_t {
  kVoter,
  kLearner,
  kLeaving,  // A voter of the old half of a joint configuration only.
};
enum class MemberState : std::uint8_t {
  kUnknown,  // Nobody leads there, so nobody knows.
  kProbed,
  kFollows,
  kSnapshot,
};
[[nodiscard]] std::string_view name_of(MemberKind kind) noexcept;
[[nodiscard]] std::string_view name_of(MemberState state) noexcept;

struct ClusterMemberView {
  MemberId node = {};
  MemberKind kind = MemberKind::kVoter;
  std::string peer_address = {};
  std::string service_address = {};
  MemberState state = MemberState::kUnknown;
  std::uint64_t match = 0;
  std::optional<std::uint64_t> silent_ms = std::nullopt;
  bool caught_up = false;
};

struct ClusterMembership {
  std::uint64_t cluster = 0;
  std::uint64_t group = 0;
  MemberId node = {};  // Whose view it is.
  std::string role = {};
  std::uint64_t term = 0;
  MemberId leader = {};  // 0: not known.
  std::uint64_t last = 0;
  std::uint64_t committed = 0;
  std::uint64_t applied = 0;
  std::uint64_t durable = 0;
  std::uint64_t truncated = 0;
  std::uint64_t conf_index = 0;
  bool conf_pending = false;
  bool joint = false;
  bool recovered = false;
  std::string halted = {};
  std::vector<ClusterMemberView> members = {};  // By id.
  std::vector<MemberId> removed = {};

  // Nothing: no member.
  [[nodiscard]] const ClusterMemberView* find(MemberId node) const noexcept;
  [[nodiscard]] bool has_left(MemberId node) const noexcept;
};

// What a node says to a request. Codes are those of admin.proto, and `unreachable`.
struct AdminError {
  std::string code = {};
  std::string detail = {};
  coord::RetryAdvice retry = coord::RetryAdvice::kNever;
};
template <class T>
using AdminResult = std::expected<T, AdminError>;

enum class ViewOf : std::uint8_t {
  kLeader,  // Of the node that is asked, if no leader is known.
  kNode,    // Of the node that is asked.
};

enum class ChangeKind : std::uint8_t {
  kAddLearner,
  kPromote,
  kRemove,
  kReplace,  // `node` votes, and `voter` leaves.
};
struct MembershipRequest {
  std::uint64_t expected_conf_index = 0;
  ChangeKind kind = ChangeKind::kAddLearner;
  MemberId node = {};
  MemberId voter = {};
  std::string peer_address = {};
  std::string service_address = {};
  std::uint64_t min_match = 0;
  bool force = false;
};

class ClusterAdmin {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ClusterAdmin>, RemoteError> open(
      const RemoteOptions& options);
  ClusterAdmin(const ClusterAdmin&) = delete;
  ClusterAdmin& operator=(const ClusterAdmin&) = delete;
  ~ClusterAdmin();

  [[nodiscard]] AdminResult<ClusterMembership> membership(ViewOf view);
  [[nodiscard]] AdminResult<ClusterMembership> change(const MembershipRequest& request);
  [[nodiscard]] AdminResult<void> transfer(MemberId to, bool force);

 private:
  struct Stubs;  // gRPC's side
  ClusterAdmin(RemoteOptions options, std::unique_ptr<Stubs> stubs);

  const RemoteOptions options_;
  const std::unique_ptr<Stubs> stubs_;
};

}  // namespace cadastre::client
