#include "server/peer_admission.h"

#include <charconv>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "log/frame_limits.h"

namespace cadastre::server {
namespace {

constexpr std::string_view kClusterPart = "cadastre://cluster/";
constexpr std::string_view kNodePart = "/node/";

// Cuts `text` off the front, if it is there.
bool skip(std::string_view& rest, std::string_view text) noexcept {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

// Cuts a number off the front.
std::optional<std::uint64_t> number(std::string_view& rest) noexcept {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{}) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}

}  // namespace

std::string_view name_of(PeerRefusal refusal) noexcept {
  switch (refusal) {
    case PeerRefusal::kDamaged: return "damaged";
    case PeerRefusal::kVersion: return "version";
    case PeerRefusal::kTooLong: return "too_long";
    case PeerRefusal::kCluster: return "cluster";
    case PeerRefusal::kNode: return "node";
    case PeerRefusal::kIdentity: return "identity";
    case PeerRefusal::kIncarnation: return "incarnation";
    case PeerRefusal::kGroup: return "group";
  }
  return "";
}

std::string_view sentence_of(PeerRefusal refusal) noexcept {
  switch (refusal) {
    case PeerRefusal::kDamaged: return "these are not the bytes of a node";
    case PeerRefusal::kVersion:
      return "this node is of another release and does not understand that";
    case PeerRefusal::kTooLong: return "this is longer than any node may send";
    case PeerRefusal::kCluster: return "this node is of another cluster: look at the addresses";
    case PeerRefusal::kNode: return "this is another node than was meant: look at the addresses";
    case PeerRefusal::kIdentity: return "the certificate or the stream is another node's";
    case PeerRefusal::kIncarnation:
      return "a newer process with this node id was here: one of the two must be stopped";
    case PeerRefusal::kGroup: return "this node has no such group: compare the topology files";
  }
  return "";
}

std::string to_uri(const PeerIdentity& identity) {
  return fmt::format("{}{}{}{}", kClusterPart, identity.cluster.value(), kNodePart,
                     identity.node.value());
}

std::optional<PeerIdentity> identity_of(std::string_view uri) {
  std::string_view rest = uri;
  if (!skip(rest, kClusterPart)) return std::nullopt;
  const auto cluster = number(rest);
  if (!cluster || !skip(rest, kNodePart)) return std::nullopt;
  const auto node = number(rest);
  if (!node || !rest.empty()) return std::nullopt;
  const PeerIdentity identity{log::ClusterId{*cluster}, log::NodeId{*node}};
  if (to_uri(identity) != uri) return std::nullopt;  // A number in another form, such as 007.
  return identity;
}

bool vouches_for(const Authenticated& end, const PeerIdentity& node) noexcept {
  return !end.by_tls || end.identity == node;
}

base::Result<log::Preamble, PeerRefusal> PeerAdmission::admit(base::ByteView first_message,
                                                              const Authenticated& end) {
  const auto read = log::decode_preamble(first_message);
  if (!read) return base::fail(refusal_of(read.error().code));
  const log::Preamble& stream = *read;
  if (stream.cluster != self_.cluster) return base::fail(PeerRefusal::kCluster);
  if (stream.to != self_.node || stream.from == self_.node || stream.from == log::kNoNode)
    return base::fail(PeerRefusal::kNode);
  if (!vouches_for(end, {stream.cluster, stream.from})) return base::fail(PeerRefusal::kIdentity);
  if (!newest_.contains(stream.from) && newest_.size() >= log::kPeersMax)
    return base::fail(PeerRefusal::kNode);
  log::PeerIncarnation& newest = newest_[stream.from];
  if (stream.incarnation < newest) return base::fail(PeerRefusal::kIncarnation);
  newest = stream.incarnation;
  return stream;
}

std::optional<PeerRefusal> PeerAdmission::refuse(const log::Preamble& stream,
                                                 const log::FrameView& frame) noexcept {
  if (frame.from != stream.from) return PeerRefusal::kIdentity;
  if (frame.to != stream.to) return PeerRefusal::kNode;
  return std::nullopt;
}

bool PeerAdmission::is_current(const log::Preamble& stream) const noexcept {
  const auto newest = newest_.find(stream.from);
  return newest != newest_.end() && newest->second == stream.incarnation;
}

PeerRefusal refusal_of(log::FrameError error) noexcept {
  switch (error) {
    case log::FrameError::kVersion: return PeerRefusal::kVersion;
    case log::FrameError::kTooLong: return PeerRefusal::kTooLong;
    case log::FrameError::kDamaged:
    case log::FrameError::kKind:
    case log::FrameError::kCutShort:
    case log::FrameError::kFragment: return PeerRefusal::kDamaged;
  }
  return PeerRefusal::kDamaged;
}

}  // namespace cadastre::server
