// The door through which LMDB's numbers and errno become kv::Error.

#pragma once

#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::kv::lmdb {

// `code` is what an LMDB function returned, or an errno; not success.
[[nodiscard]] Error to_error(int code) noexcept;

[[nodiscard]] Result<void, Error> checked(int code) noexcept;

}  // namespace cadastre::kv::lmdb
