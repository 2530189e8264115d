#include "base/blake3.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

#include <blake3.h>

#include "base/bytes.h"

namespace cadastre::base {
namespace {

static_assert(std::is_trivially_copyable_v<blake3_hasher>, "a hasher is copied as bytes");
static_assert(sizeof(blake3_hasher) <= sizeof(Blake3Hasher));
static_assert(alignof(blake3_hasher) <= alignof(Blake3Hasher));
static_assert(sizeof(Blake3Digest) == BLAKE3_OUT_LEN);

blake3_hasher* foreign(std::byte* state) noexcept {
  return std::launder(reinterpret_cast<blake3_hasher*>(state));
}

const blake3_hasher* foreign(const std::byte* state) noexcept {
  return std::launder(reinterpret_cast<const blake3_hasher*>(state));
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the library writes what it will read.
Blake3Hasher::Blake3Hasher() noexcept {
  blake3_hasher_init(::new (state_.data()) blake3_hasher);
}

Blake3Hasher Blake3Hasher::deriving(std::string_view context) noexcept {
  Blake3Hasher hasher;
  blake3_hasher_init_derive_key_raw(foreign(hasher.state_.data()), context.data(), context.size());
  return hasher;
}

void Blake3Hasher::update(ByteView bytes) noexcept {
  if (bytes.empty()) return;
  blake3_hasher_update(foreign(state_.data()), bytes.data(), bytes.size());
}

Blake3Digest Blake3Hasher::finalize() const noexcept {
  std::array<std::uint8_t, BLAKE3_OUT_LEN> out{};
  blake3_hasher_finalize(foreign(state_.data()), out.data(), out.size());
  return std::bit_cast<Blake3Digest>(out);
}

Blake3Digest blake3(ByteView bytes) noexcept {
  Blake3Hasher hasher;
  hasher.update(bytes);
  return hasher.finalize();
}

Blake3Digest derive_key(std::string_view context, ByteView key_material) noexcept {
  auto hasher = Blake3Hasher::deriving(context);
  hasher.update(key_material);
  return hasher.finalize();
}

}  // namespace cadastre::base
