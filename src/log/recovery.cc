#include "log/recovery.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace cadastre::log {

std::optional<Term> term_at(const GroupImage& image, Index index) noexcept {
  if (index == image.truncated.index) return image.truncated.term;
  if (index < image.truncated.index || index > image.last.index) return std::nullopt;
  const auto behind = std::ranges::upper_bound(image.terms, index, {}, &TermRun::first);
  return std::prev(behind)->term;
}

base::Result<void, OpenError> check_state(const GroupImage& image, Position durable) {
  const auto name = [&] {
    return fmt::format("group {}", image.group.value());
  };
  if (durable.index > image.last.index) {
    return base::fail(
        OpenError::kDamaged,
        fmt::format("{}: the log lost synced entries: the state is at {}, the log ends at {}",
                    name(), to_string(durable), to_string(image.last)));
  }
  if (durable.index < image.truncated.index) {
    return base::fail(
        OpenError::kDamaged,
        fmt::format("{}: the state lost flushed entries: it is at {}, the log begins after {}",
                    name(), to_string(durable), to_string(image.truncated)));
  }
  const auto term = term_at(image, durable.index);
  if (!term || *term != durable.term) {
    return base::fail(
        OpenError::kDamaged,
        fmt::format("{}: the log lost synced entries: the state applied {}, the log has "
                    "another entry there",
                    name(), to_string(durable)));
  }
  return {};
}

}  // namespace cadastre::log
