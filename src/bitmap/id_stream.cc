#include "bitmap/id_stream.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/container.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/portable_format.h"
#include "bitmap/slot_kernels.h"

namespace cadastre::bitmap {
namespace {

// Containers in memory that the stream owns.
class OwnedStream final : public IdStream {
 public:
  OwnedStream(base::Bytes portable, Direction direction)
      : IdStream(direction), portable_(std::move(portable)) {
    const auto maps = PortableMaps::parse(portable_, EmptyMaps::kAccepted);
    CAD_CHECK(maps.has_value(), "a bitmap's own bytes are valid");
    containers_.reserve(maps->container_count());
    for (std::size_t at = PortableMaps::first_at(); at < maps->end_at();) {
      const PortableMap map = maps->map_at(at);
      for (std::size_t i = 0; i < map.count(); ++i)
        containers_.push_back(map.container(i));
      at = PortableMaps::next_at(at, map);
    }
    if (direction == Direction::kDescending) std::ranges::reverse(containers_);
  }

  Result<std::optional<ContainerView>, Error> next() override {
    if (at_ == containers_.size()) return std::nullopt;
    return containers_[at_++];
  }
  Result<std::optional<ContainerView>, Error> seek(std::uint64_t chunk) override {
    while (at_ < containers_.size() && comes_before(containers_[at_].chunk, chunk))
      ++at_;
    return next();
  }

 private:
  base::Bytes portable_;
  std::vector<ContainerView> containers_;
  std::size_t at_ = 0;
};

// Containers that are kept until they are written as one value (B-24).
class Gathering {
 public:
  // False if the result would exceed `bytes_max`.
  [[nodiscard]] bool add(const ContainerView& container, std::size_t bytes_max) {
    size_.add(container.chunk, container.bytes.size(), container.kind == ContainerKind::kRun);
    if (size_.bytes() > bytes_max) return false;
    offsets_.push_back(bytes_.size());
    containers_.push_back(container);
    bytes_.insert(bytes_.end(), container.bytes.begin(), container.bytes.end());
    return true;
  }

  [[nodiscard]] base::Bytes write() {
    for (std::size_t i = 0; i < containers_.size(); ++i) {
      ContainerView& container = containers_[i];
      container.bytes = base::ByteView(bytes_).subspan(offsets_[i], container.bytes.size());
    }
    base::Bytes portable(size_.bytes());
    write_portable(portable.data(), containers_);
    return portable;
  }

 private:
  PortableSize size_;
  std::vector<ContainerView> containers_;
  std::vector<std::size_t> offsets_;
  base::Bytes bytes_;
};

// Without a stop between the stored slots and the ids: most containers of sparse sets are arrays.
bool visit_array(const ContainerView& array,
                 std::array<Id, kBlockIds>& ids,
                 base::FunctionRef<bool(std::span<const Id>)> visit) {
  const Id first = fence_at(array.chunk);
  for (std::size_t done = 0; done < array.cardinality;) {
    const std::size_t n = std::min<std::size_t>(array.cardinality - done, kBlockIds);
    const base::ByteView slots = array.bytes.subspan(done * kSlotBytes, n * kSlotBytes);
    slot_kernels().widen(slots, first, ids.data());
    if (!visit(std::span<const Id>(ids).first(n))) return false;
    done += n;
  }
  return true;
}

}  // namespace

Result<std::optional<ChunkCount>, Error> IdStream::skim() {
  const auto container = CAD_TRY(next());
  if (!container) return std::nullopt;
  return ChunkCount{container->chunk, container->cardinality};
}

Result<std::uint64_t, Error> count(IdStream& stream) {
  std::uint64_t sum = 0;
  while (const auto chunk = CAD_TRY(stream.skim()))
    sum += chunk->cardinality;
  return sum;
}

Result<bool, Error> any(IdStream& stream) {
  return CAD_TRY(stream.next())
  .has_value();
}

Result<Bitmap, Error> collect(IdStream& stream, std::size_t bytes_max) {
  CAD_CHECK(stream.direction() == Direction::kAscending, "a set is collected from its start");
  Gathering gathering;
  while (const auto container = CAD_TRY(stream.next())) {
    if (!gathering.add(*container, bytes_max)) return base::fail(misuse(Misuse::kResultTooLarge));
  }
  auto collected = Bitmap::from_portable(gathering.write());
  if (!collected) return base::fail(corrupt(collected.error(), {}));
  return std::move(*collected);
}

Result<void, Error> for_each(IdStream& stream, base::FunctionRef<bool(std::span<const Id>)> visit) {
  // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): read as far as they are written
  std::array<std::uint16_t, kBlockIds> slots;
  std::array<Id, kBlockIds> ids;
  // NOLINTEND(cppcoreguidelines-pro-type-member-init)
  if (stream.direction() == Direction::kAscending) {
    while (const auto container = CAD_TRY(stream.next())) {
      if (container->kind == ContainerKind::kArray) {
        if (!visit_array(*container, ids, visit)) return {};
        continue;
      }
      SlotReader reader(*container);
      for (std::size_t n = reader.read(slots); n != 0; n = reader.read(slots)) {
        for (std::size_t i = 0; i < n; ++i)
          ids[i] = id_at(container->chunk, slots[i]);
        if (!visit(std::span<const Id>(ids).first(n))) return {};
      }
    }
    return {};
  }
  while (const auto container = CAD_TRY(stream.next())) {
    for (std::uint32_t left = container->cardinality; left > 0;) {
      const auto n = std::min<std::uint32_t>(left, kBlockIds);
      for (std::uint32_t i = 0; i < n; ++i) {
        const auto slot = select(*container, left - 1 - i);
        if (!slot) return base::fail(corrupt(ValueFault::kCardinalityDiffers, {}));
        ids[i] = id_at(container->chunk, *slot);
      }
      left -= n;
      if (!visit(std::span<const Id>(ids).first(n))) return {};
    }
  }
  return {};
}

IdCursor::IdCursor(Stream stream) noexcept : stream_(std::move(stream)) {}

Result<std::optional<Id>, Error> IdCursor::next() {
  if (at_ == slots_.size()) {
    const auto container = CAD_TRY(stream_->next());
    if (!container) return std::nullopt;
    slots_.resize(container->cardinality);
    slots_.resize(SlotReader(*container).read(slots_));
    if (stream_->direction() == Direction::kDescending) std::ranges::reverse(slots_);
    chunk_ = container->chunk;
    at_ = 0;
    if (slots_.empty()) return base::fail(corrupt(ValueFault::kEmptyContainer, {}));
  }
  return id_at(chunk_, slots_[at_++]);
}

Stream stream_of(const Bitmap& bitmap, Direction direction) {
  return std::make_unique<OwnedStream>(bitmap.to_portable(), direction);
}

}  // namespace cadastre::bitmap
