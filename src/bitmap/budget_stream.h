// BudgetStream: as much of a stream as a budget allows, each container checked; for work that goes on in
// another transaction.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/key_codec.h"

namespace cadastre::bitmap {

// Shared by the streams of one piece of work.
struct BudgetLeft {
  std::size_t bytes_max = 0;
  std::size_t bytes_read = 0;
};

class BudgetStream final : public IdStream {
 public:
  // From `chunk` on. The first container of all comes whatever the budget, so that work ends.
  BudgetStream(Stream ascending, ByteView base_key, std::uint64_t chunk, BudgetLeft& budget)
      : IdStream(Direction::kAscending),
        stream_(std::move(ascending)),
        base_key_(base_key),
        first_chunk_(chunk),
        budget_(&budget) {}

  Result<std::optional<ContainerView>, Error> next() override;
  Result<std::optional<ContainerView>, Error> seek(std::uint64_t chunk) override;

  // The chunk that the budget kept back, once the stream has ended there.
  [[nodiscard]] std::optional<std::uint64_t> stopped_at() const noexcept { return stopped_at_; }

 private:
  Result<std::optional<ContainerView>, Error> pass(std::optional<ContainerView> container);

  Stream stream_;
  ByteView base_key_;
  std::uint64_t first_chunk_;
  BudgetLeft* budget_;
  bool is_begun_ = false;
  std::optional<std::uint64_t> stopped_at_;
};

}  // namespace cadastre::bitmap
