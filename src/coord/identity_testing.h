// Words for tests: ids and times from plain numbers.

#pragma once

#include <cstddef>
#include <cstdint>

#include "coord/identity.h"

namespace cadastre::coord::testing {

inline LogicalTime at(std::uint64_t time) {
  return LogicalTime::from_raw(time);
}
inline OpId op(std::uint64_t id) {
  return OpId::from_raw(id);
}
inline WorkerId worker(std::uint64_t id) {
  return WorkerId::from_raw(id);
}
// Thirty-two times the same byte.
inline TenantId tenant_of(std::uint8_t byte) {
  TenantId::Bytes bytes{};
  bytes.fill(std::byte{byte});
  return TenantId::from_bytes(bytes);
}

}  // namespace cadastre::coord::testing
