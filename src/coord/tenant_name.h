// The tenant that a name stands for, the same in every program: a digest, so that any text will do.

#pragma once

#include <string_view>

#include "coord/identity.h"

namespace cadastre::coord {

// BLAKE3 in derive-key mode, context `cadastre/tenant/v1`.
[[nodiscard]] TenantId tenant_named(std::string_view name) noexcept;

}  // namespace cadastre::coord
