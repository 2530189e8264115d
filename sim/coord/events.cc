#include "sim/coord/events.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/xxh3.h"
#include "sim/coord/request.h"

namespace cadastre::sim {

void Events::count(std::string_view group, std::string_view event, std::uint64_t times) {
  counts_[{group, event}] += times;
}

void Events::observe(const Request& request, const Answer& answer) {
  ++requests_;
  count(name(request.call), answer.accepted() ? name(answer.verdict) : answer.code);
  for (const Renewal& renewal : answer.renewals)
    count("renewed_lease", renewal.code.empty() ? "renewed" : renewal.code);
  const std::array<std::uint64_t, 8> facts{
      static_cast<std::uint64_t>(request.call),
      static_cast<std::uint64_t>(answer.verdict),
      request.now.raw(),
      request.op.raw(),
      answer.lease ? answer.lease->shard().raw() : 0,
      answer.lease ? answer.lease->fence().raw() : answer.fence.raw(),
      answer.lease ? answer.lease->deadline().raw() : answer.deadline.raw(),
      answer.shards.empty() ? answer.capacity.available_count : answer.shards.back().raw()};
  std::array<std::byte, sizeof(facts)> bytes{};
  for (std::size_t i = 0; i < facts.size(); ++i)
    base::store_le(bytes.data() + i * sizeof(std::uint64_t), facts[i]);
  digest_ = base::xxh3_64(bytes, digest_ ^ base::xxh3_64(base::as_bytes(answer.code)));
}

void Events::add(const Events& other) {
  for (const auto& [event, times] : other.counts_)
    counts_[event] += times;
  requests_ += other.requests_;
  digest_ ^= other.digest_;
}

std::uint64_t Events::of(std::string_view group, std::string_view event) const {
  const auto at = counts_.find({group, event});
  return at == counts_.end() ? 0 : at->second;
}

std::string Events::to_text() const {
  std::string text;
  for (const auto& [event, times] : counts_)
    text += fmt::format("  {}.{} {}\n", event.group, event.event, times);
  return text;
}

}  // namespace cadastre::sim
