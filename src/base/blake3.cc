#include "base/blake3.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

#include <blake3.h>
extern "C" {
#include <blake3_impl.h>  // Where the compression function is declared.
}

#include "base/bytes.h"
#include "base/endian.h"

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

namespace {

// The digest of one chunk, at most BLAKE3_CHUNK_LEN bytes, which is the root of its own tree: its
// blocks are compressed one after the other, the first and the last one flagged as such.
Blake3Digest hash_one_chunk(const std::uint32_t* key, ByteView bytes) noexcept {
  std::array<std::uint32_t, 8> chain{};
  std::memcpy(chain.data(), key, sizeof chain);
  std::uint8_t start = CHUNK_START;
  while (bytes.size() > BLAKE3_BLOCK_LEN) {
    blake3_compress_in_place(chain.data(), reinterpret_cast<const std::uint8_t*>(bytes.data()),
                             BLAKE3_BLOCK_LEN, 0, DERIVE_KEY_MATERIAL | start);
    start = 0;
    bytes = bytes.subspan(BLAKE3_BLOCK_LEN);
  }
  std::array<std::uint8_t, BLAKE3_BLOCK_LEN> last{};
  if (!bytes.empty()) std::memcpy(last.data(), bytes.data(), bytes.size());
  blake3_compress_in_place(chain.data(), last.data(), static_cast<std::uint8_t>(bytes.size()), 0,
                           DERIVE_KEY_MATERIAL | start | CHUNK_END | ROOT);
  Blake3Digest digest{};
  for (std::size_t i = 0; i < chain.size(); ++i)
    store_le(digest.data() + i * sizeof(std::uint32_t), chain[i]);
  return digest;
}

}  // namespace

Blake3Digest Blake3Context::hash(ByteView key_material) const noexcept {
  if (key_material.size() <= BLAKE3_CHUNK_LEN) {
    return hash_one_chunk(foreign(keyed_.state_.data())->key, key_material);
  }
  Blake3Hasher hasher = keyed_;
  hasher.update(key_material);
  return hasher.finalize();
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
