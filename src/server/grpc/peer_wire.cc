#include "server/grpc/peer_wire.h"

#include <cstring>
#include <string_view>
#include <vector>

#include <grpc/grpc_security_constants.h>
#include <grpc/slice.h>
#include <grpcpp/support/slice.h>

#include "log/frame_codec.h"

namespace cadastre::server {
namespace {

// So much memory of gRPC's own; `fill` writes it.
template <class Fill>
grpc::ByteBuffer filled(std::size_t bytes, const Fill& fill) {
  grpc_slice raw = grpc_slice_malloc(bytes);
  fill(std::span(reinterpret_cast<std::byte*>(GRPC_SLICE_START_PTR(raw)), bytes));
  const grpc::Slice slice(raw, grpc::Slice::STEAL_REF);
  return {&slice, 1};
}

}  // namespace

grpc::ByteBuffer to_buffer(base::ByteView bytes) {
  return filled(bytes.size(), [&](std::span<std::byte> to) {
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  });
}

grpc::ByteBuffer to_buffer(std::span<const log::LaneFrame> frames) {
  std::size_t bytes = 0;
  for (const log::LaneFrame& frame : frames)
    bytes += frame.bytes();
  return filled(bytes, [&](std::span<std::byte> to) {
    for (const log::LaneFrame& frame : frames) {
      const std::size_t size = frame.bytes();
      log::encode_frame(frame.view(), to.first(size));
      to = to.subspan(size);
    }
  });
}

bool copy_out(const grpc::ByteBuffer& buffer, std::byte* to) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return false;
  for (const grpc::Slice& slice : slices) {
    if (slice.size() != 0) std::memcpy(to, slice.begin(), slice.size());
    to += slice.size();
  }
  return true;
}

Authenticated authenticated(const grpc::AuthContext& context, Transport security) {
  Authenticated end;
  end.by_tls = security == Transport::kTls;
  std::vector<PeerIdentity> named;
  for (const grpc::string_ref& uri : context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    if (const auto identity = identity_of({uri.data(), uri.size()})) named.push_back(*identity);
  }
  if (named.size() == 1) end.identity = named.front();
  return end;
}

}  // namespace cadastre::server
