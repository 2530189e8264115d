#include "bench/peers/set_store.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/mutex.h"
#include "bench/peers/process_io.h"
#include "bench/peers/roaring64.h"
#include "bitmap/ids.h"

namespace cadastre::bench {

void SetReader::set_patience(std::optional<std::chrono::steady_clock::time_point> until) {
  patient_until_ = until;
  has_given_up_ = false;
}

bool SetReader::gives_up() {
  if (patient_until_ && std::chrono::steady_clock::now() >= *patient_until_) has_given_up_ = true;
  return has_given_up_;
}

std::uint64_t SetReader::count_present(std::string_view key, std::span<const Id> ids) {
  std::uint64_t present = 0;
  for (const Id id : ids)
    present += contains(key, id) ? 1 : 0;
  return present;
}

std::uint64_t SetReader::materialise(std::string_view key) {
  Roaring64 all;
  stream(key, kAllIds, [&](std::span<const Id> ids) { all.add_many(ids); });
  return all.cardinality();
}

std::uint64_t SetReader::count_of(SetOperation operation, std::string_view a, std::string_view b) {
  const std::uint64_t both = intersection_count(a, b);
  switch (operation) {
    case SetOperation::kIntersection: return both;
    case SetOperation::kUnion: return count(a) + count(b) - both;
    case SetOperation::kDifference: return count(a) - both;
  }
  CAD_CHECK(false, "there are three operations");
}

void SetStore::preload(std::string_view key, std::span<const Id> ids) {
  constexpr std::size_t kTransactionIds = 100'000;
  while (!ids.empty()) {
    const auto some = ids.first(std::min(ids.size(), kTransactionIds));
    begin();
    insert_many(key, some);
    commit();
    ids = ids.subspan(some.size());
  }
}

void SetStore::insert_alone(std::string_view key, Id id) {
  const base::MutexLock lock(alone_mutex_);
  begin();
  insert(key, id);
  commit();
}

std::uint64_t SetStore::bytes_written() const {
  return bytes_handed_over("self");
}

}  // namespace cadastre::bench
