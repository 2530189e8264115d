// PeerAdmission: which streams of other nodes are read, and which frames on them (L-68).
//
// A stream begins with its preamble. It is refused if it is of another cluster, for another node, of a release that
// is not understood, from somebody else than its certificate names, or from an older process of a node whose
// newer one was here: two processes must not have one identity. Every frame is from and to the nodes of the
// preamble. A refusal ends the stream and is counted by its reason; nothing else happens.
//
// A certificate names a node by a URI among its subject's alternative names: cadastre://cluster/<id>/node/<id>.
//
// Pure: no I/O. Belongs to whoever locks it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/frame_codec.h"
#include "log/types.h"

namespace cadastre::server {

// Reaches metrics, by its name.
enum class PeerRefusal : std::uint8_t {
  kDamaged,  // Bytes that no node of ours sends.
  kVersion,  // Of a release that this one does not understand.
  kTooLong,  // A frame or a message of the stream above its limit.
  kCluster,  // Of another cluster.
  kNode,  // For another node, from none or from this one, or from more nodes than are kept in mind.
  kIdentity,     // From somebody else than the certificate or the preamble says.
  kIncarnation,  // From an older process than one that was here.
  kGroup,        // Of a group that this cluster does not have.
};
inline constexpr std::size_t kPeerRefusals = 8;

[[nodiscard]] std::string_view name_of(PeerRefusal refusal) noexcept;
// For the operator of the node that was refused.
[[nodiscard]] std::string_view sentence_of(PeerRefusal refusal) noexcept;

struct PeerIdentity {
  log::ClusterId cluster = {};
  log::NodeId node = {};

  friend bool operator==(const PeerIdentity&, const PeerIdentity&) noexcept = default;
};
[[nodiscard]] std::string to_uri(const PeerIdentity& identity);
// Nothing if it is not of exactly that form.
[[nodiscard]] std::optional<PeerIdentity> identity_of(std::string_view uri);

// Whom the other end of a connection is, as far as TLS says.
struct Authenticated {
  bool by_tls = false;  // Else nobody vouches, and preambles are believed.
  std::optional<PeerIdentity> identity =
      std::nullopt;  // Nothing: the certificate names no node, or several.
};
// Whether the other end may be this node.
[[nodiscard]] bool vouches_for(const Authenticated& end, const PeerIdentity& node) noexcept;

class PeerAdmission {
 public:
  explicit PeerAdmission(const PeerIdentity& self) noexcept : self_(self) {}

  // The preamble of a stream that may be read.
  [[nodiscard]] base::Result<log::Preamble, PeerRefusal> admit(base::ByteView first_message,
                                                               const Authenticated& end);

  // Why a frame of an admitted stream ends it; nothing: it does not.
  [[nodiscard]] static std::optional<PeerRefusal> refuse(const log::Preamble& stream,
                                                         const log::FrameView& frame) noexcept;
  // No newer process of the node was here since.
  [[nodiscard]] bool is_current(const log::Preamble& stream) const noexcept;

 private:
  const PeerIdentity self_;
  std::map<log::NodeId, log::PeerIncarnation> newest_;  // At most kPeersMax.
};

[[nodiscard]] PeerRefusal refusal_of(log::FrameError error) noexcept;

}  // namespace cadastre::server
