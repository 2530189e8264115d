// Between gRPC's buffers and bytes, and who the other end of a connection is. For grpc/ only.

#pragma once

#include <cstddef>
#include <span>

#include <grpcpp/security/auth_context.h>
#include <grpcpp/support/byte_buffer.h>

#include "base/bytes.h"
#include "log/peer_lane.h"
#include "server/listen_address.h"
#include "server/peer_admission.h"

namespace cadastre::server {

inline constexpr const char* kFramesMethod = "/cadastre.Internal/Frames";
inline constexpr const char* kFetchMethod = "/cadastre.Internal/FetchCheckpoint";
// In the initial metadata of a stream that is let in; a refusal has metadata, too, but not this.
inline constexpr const char* kLetInKey = "cadastre-let-in";

[[nodiscard]] grpc::ByteBuffer to_buffer(base::ByteView bytes);
// Encodes the frames one behind the other.
[[nodiscard]] grpc::ByteBuffer to_buffer(std::span<const log::LaneFrame> frames);
// `to` has room for buffer.Length() bytes. False: gRPC could not give them.
[[nodiscard]] bool copy_out(const grpc::ByteBuffer& buffer, std::byte* to);

// Under TLS whoever names no node is nobody.
[[nodiscard]] Authenticated authenticated(const grpc::AuthContext& context, Transport security);

}  // namespace cadastre::server
