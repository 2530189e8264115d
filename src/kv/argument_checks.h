// The checks of arguments that every backend makes before it touches anything.

#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::kv {

[[nodiscard]] inline Result<void, Error> check_key(ByteView key, const Limits& limits) {
  if (key.empty()) return base::fail(Error{ErrorCode::kInvalidKey});
  if (key.size() > limits.key_bytes_max) return base::fail(Error{ErrorCode::kKeyTooLong});
  return {};
}

[[nodiscard]] inline Result<void, Error> check_entry(const EntryView& entry, const Limits& limits) {
  CAD_TRY(check_key(entry.key, limits));
  if (entry.value.size() > limits.value_bytes_max)
    return base::fail(Error{ErrorCode::kValueTooLarge});
  return {};
}

}  // namespace cadastre::kv
