#include "shard/pooled.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/byte_slab.h"
#include "base/check.h"
#include "base/endian.h"
#include "base/result.h"
#include "shard/cursor.h"
#include "shard/limits.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {
namespace {

constexpr std::size_t kIdBytes = 8;

}  // namespace

Result<void, base::SlabFull> PooledSpec::update(base::ByteSlab& slab,
                                                const ShardSpecRef& spec) noexcept {
  CAD_CHECK(validate(spec).has_value(), "a pool stores valid specs");
  return slots_.update(slab, {spec.start(), spec.end(), spec.metadata()});
}

Result<void, base::SlabFull> PooledCursor::update(base::ByteSlab& slab,
                                                  const CursorUpdate& cursor) noexcept {
  return slots_.update(
      slab, {cursor.last_key().value_or(ByteView{}), cursor.token().value_or(ByteView{})});
}

Result<void, base::SlabFull> PooledIdList::append(base::ByteSlab& slab,
                                                  std::span<const ShardId> ids) noexcept {
  CAD_CHECK(ids.size() <= kMaxSpawnedPerShard - count_,
            "the spawn limit is checked before the list grows");
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only the bytes in use are written
  std::array<std::byte, kMaxSpawnedPerShard * kIdBytes> bytes;
  const ByteView before = slots_.get(slab, 0);
  if (!before.empty()) std::memcpy(bytes.data(), before.data(), before.size());
  std::size_t size = before.size();
  for (const ShardId id : ids) {
    base::store_le(bytes.data() + size, id.raw());
    size += kIdBytes;
  }
  CAD_TRY(slots_.update(slab, {ByteView(bytes.data(), size)}));
  count_ = static_cast<std::uint16_t>(size / kIdBytes);
  return {};
}

void PooledIdList::release(base::ByteSlab& slab) noexcept {
  slots_.release(slab);
  count_ = 0;
}

ShardId PooledIdList::at(const base::ByteSlab& slab, std::size_t index) const noexcept {
  CAD_CHECK(index < count_, "an index inside the list");
  return ShardId::from_raw(
      base::load_le<std::uint64_t>(slots_.get(slab, 0).data() + index * kIdBytes));
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
