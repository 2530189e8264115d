// Values that requests and answers share, on the wire and here.
//
// Reading checks what a type here cannot hold: an enum's number, a tenant's length, a lease that cannot
// have been granted, a cursor that is none. Sizes of keys, metadata and tokens are the protocol's business,
// which has its own errors for them. What is read borrows the message's bytes.
//
// Everything here is a pure function. Not for users of the client: wire_request.h and wire_answer.h call it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/attributes.h"
#include "base/result.h"
#include "client/wire_messages.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/run_record.h"
#include "coord/snapshot.h"
#include "coord/states.h"
#include "shard/cursor.h"
#include "shard/shard_spec.h"

namespace cadastre::client {

using base::Result;

// A message that is none: the field that is wrong, as in "children[3].spec", and why. Send another.
struct BadRequest {
  std::string field;
  std::string detail;

  friend bool operator==(const BadRequest&, const BadRequest&) = default;
};

// On the wire each of these is its stored number plus one; 0 is a field left out.
template <class E>
[[nodiscard]] constexpr int wire_number(E value) noexcept {
  return static_cast<int>(value) + 1;
}
template <class E>
[[nodiscard]] constexpr std::optional<E> from_wire_number(int number) noexcept {
  if (number < 1 || number > UINT8_MAX) return std::nullopt;
  return coord::parse_stored<E>(static_cast<std::uint8_t>(number - 1));
}

[[nodiscard]] std::string to_wire(const coord::TenantId& tenant);
[[nodiscard]] Result<coord::TenantId, BadRequest> tenant_from_wire(std::string_view bytes);

void to_wire(const shard::ShardSpecRef& spec, v1::Spec& out);
[[nodiscard]] shard::ShardSpecRef from_wire(const v1::Spec& spec CAD_LIFETIMEBOUND);

void to_wire(const shard::CursorUpdate& cursor, v1::Cursor& out);
// `field` is where the cursor stands, for the error.
[[nodiscard]] Result<shard::CursorUpdate, BadRequest> from_wire(
    const v1::Cursor& cursor CAD_LIFETIMEBOUND, std::string_view field);

// Writes the lease's tenant only where it is not the request's.
void to_wire(const coord::Lease& lease, const coord::TenantId& tenant, v1::Lease& out);
[[nodiscard]] Result<coord::Lease, BadRequest> from_wire(const v1::Lease& lease,
                                                         const coord::TenantId& tenant,
                                                         std::string_view field);

void to_wire(const coord::RunConfig& config, v1::RunConfig& out);
[[nodiscard]] Result<coord::RunConfig, BadRequest> from_wire(const v1::RunConfig& config);

void to_wire(const coord::CapacityHint& capacity, v1::Capacity& out);
[[nodiscard]] coord::CapacityHint from_wire(const v1::Capacity& capacity) noexcept;

}  // namespace cadastre::client
