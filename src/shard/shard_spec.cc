#include "shard/shard_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/spec_error.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

Result<void, SpecError> validate(const ShardSpecRef& spec) noexcept {
  const ByteView start = spec.start();
  const ByteView end = spec.end();
  if (start.size() > kMaxKeySize) {
    return base::fail(
        SpecError::key_too_large(start.size(), kMaxKeySize, SpecError::Bound::kStart));
  }
  if (end.size() > kMaxKeySize) {
    return base::fail(SpecError::key_too_large(end.size(), kMaxKeySize, SpecError::Bound::kEnd));
  }
  if (spec.metadata().size() > kMaxMetadataSize) {
    return base::fail(SpecError::metadata_too_large(spec.metadata().size(), kMaxMetadataSize));
  }
  if (!start.empty() && !end.empty() && !base::less(start, end)) {
    return base::fail(SpecError::inverted_range(start.size(), end.size()));
  }
  return {};
}

Result<ShardSpecRef, SpecError> ShardSpecRef::try_make(ByteView start,
                                                       ByteView end,
                                                       ByteView metadata,
                                                       SpecGuards guards) noexcept {
  const ShardSpecRef spec = unchecked(start, end, metadata, guards);
  CAD_TRY(validate(spec));
  return spec;
}

ShardSpecRef ShardSpecRef::must_make(ByteView start, ByteView end, ByteView metadata) noexcept {
  const auto spec = try_make(start, end, metadata);
  CAD_CHECK(spec.has_value(), "must_make is for specs known to be valid");
  return *spec;
}

ShardSpec::ShardSpec(const ShardSpecRef& spec)
    // NOLINTNEXTLINE(modernize-avoid-c-arrays): one block of a size known only at run time
    : block_(std::make_unique_for_overwrite<std::byte[]>(spec.start().size() + spec.end().size() +
                                                         spec.metadata().size())),
      start_size_(static_cast<std::uint32_t>(spec.start().size())),
      end_size_(static_cast<std::uint32_t>(spec.end().size())),
      metadata_size_(static_cast<std::uint32_t>(spec.metadata().size())) {
  std::byte* at = std::ranges::copy(spec.start(), block_.get()).out;
  at = std::ranges::copy(spec.end(), at).out;
  std::ranges::copy(spec.metadata(), at);
}

Result<ShardSpec, SpecError> ShardSpec::try_from(const ShardSpecRef& spec) {
  CAD_TRY(validate(spec));
  return ShardSpec(spec);
}

ShardSpec::ShardSpec(const ShardSpec& other) : ShardSpec(other.ref()) {}

ShardSpec::ShardSpec(ShardSpec&& other) noexcept
    : block_(std::move(other.block_)),
      start_size_(std::exchange(other.start_size_, 0)),
      end_size_(std::exchange(other.end_size_, 0)),
      metadata_size_(std::exchange(other.metadata_size_, 0)) {}

ShardSpec& ShardSpec::operator=(const ShardSpec& other) {
  if (this != &other) *this = ShardSpec(other);
  return *this;
}

ShardSpec& ShardSpec::operator=(ShardSpec&& other) noexcept {
  block_ = std::move(other.block_);
  start_size_ = std::exchange(other.start_size_, 0);
  end_size_ = std::exchange(other.end_size_, 0);
  metadata_size_ = std::exchange(other.metadata_size_, 0);
  return *this;
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
