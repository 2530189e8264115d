#include "kv/store.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "kv/limits.h"

namespace cadastre::kv {

bool is_valid_space_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kSpaceNameBytesMax && !name.contains('\0');
}

std::uint64_t grown_capacity(std::uint64_t bytes, std::uint64_t bytes_max) noexcept {
  return bytes > bytes_max / 2 ? std::max(bytes, bytes_max) : bytes * 2;
}

}  // namespace cadastre::kv
