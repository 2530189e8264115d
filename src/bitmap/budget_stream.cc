#include "bitmap/budget_stream.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/error.h"
#include "bitmap/key_codec.h"

namespace cadastre::bitmap {

Result<std::optional<ContainerView>, Error> BudgetStream::next() {
  if (!std::exchange(is_begun_, true)) return pass(CAD_TRY(stream_->seek(first_chunk_)));
  if (stopped_at_) return std::nullopt;
  return pass(CAD_TRY(stream_->next()));
}

Result<std::optional<ContainerView>, Error> BudgetStream::seek(std::uint64_t chunk) {
  if (stopped_at_) return std::nullopt;
  is_begun_ = true;
  return pass(CAD_TRY(stream_->seek(std::max(chunk, first_chunk_))));
}

Result<std::optional<ContainerView>, Error> BudgetStream::pass(
    std::optional<ContainerView> container) {
  if (!container) return std::nullopt;
  if (budget_->bytes_read != 0 && budget_->bytes_read >= budget_->bytes_max) {
    stopped_at_ = container->chunk;
    return std::nullopt;
  }
  if (const auto valid = validate(*container); !valid) {
    return base::fail(corrupt(valid.error(), key_prefix(base_key_)));
  }
  budget_->bytes_read += container->bytes.size();
  return container;
}

}  // namespace cadastre::bitmap
