#include "coord/tenant_name.h"

#include <string_view>

#include "base/blake3.h"
#include "base/bytes.h"

namespace cadastre::coord {
namespace {

constexpr std::string_view kTenantContext = "cadastre/tenant/v1";

}  // namespace

TenantId tenant_named(std::string_view name) noexcept {
  return TenantId::from_bytes(base::derive_key(kTenantContext, base::as_bytes(name)));
}

}  // namespace cadastre::coord
