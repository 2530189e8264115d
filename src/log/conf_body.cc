#include "log/conf_body.h"

#include <cstdint>

#include "base/endian.h"

namespace cadastre::log {
namespace {

constexpr std::size_t kHeadBytes = sizeof(std::uint32_t);

}  // namespace

Body join_conf_body(const ConfBody& parts) {
  Bytes bytes(kHeadBytes);
  base::store_le(bytes.data(), static_cast<std::uint32_t>(parts.change.size()));
  bytes.insert(bytes.end(), parts.change.begin(), parts.change.end());
  bytes.insert(bytes.end(), parts.context.begin(), parts.context.end());
  return Body::copy_of(bytes);
}

std::optional<ConfBody> split_conf_body(ByteView body) noexcept {
  if (body.size() < kHeadBytes) return std::nullopt;
  const std::size_t change = base::load_le<std::uint32_t>(body.data());
  if (body.size() - kHeadBytes < change) return std::nullopt;
  return ConfBody{body.subspan(kHeadBytes, change), body.subspan(kHeadBytes + change)};
}

}  // namespace cadastre::log
