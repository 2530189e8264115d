#include "kv/memory/memory_store.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/memory/memory_transaction.h"
#include "kv/memory/space_map.h"
#include "kv/store.h"

namespace cadastre::kv::memory {

MemoryStore::MemoryStore(const base::Clock& clock, const MemoryOptions& options)
    : clock_(clock),
      options_(options),
      gate_(options.readers_max),
      capacity_bytes_(options.capacity_bytes),
      current_(std::make_shared<const Snapshot>()) {}

Result<SpaceId, Error> MemoryStore::open_space(std::string_view name) {
  if (!is_valid_space_name(name)) return base::fail(Error{ErrorCode::kInvalidName});
  if (const auto space = find_space(name)) return *space;
  const auto txn = CAD_TRY(begin_write());
  if (const auto space = find_space(name)) return *space;  // While this one waited.
  Snapshot next = *current();
  if (next.spaces.size() >= options_.spaces_max)
    return base::fail(Error{ErrorCode::kTooManySpaces});
  next.spaces.push_back(std::make_shared<const SpaceMap>());
  ++next.commits;
  const SpaceId space(static_cast<std::uint32_t>(next.spaces.size() - 1));
  publish(std::move(next));
  const base::MutexLock lock(mutex_);
  names_.emplace_back(name);
  return space;
}

std::optional<SpaceId> MemoryStore::find_space(std::string_view name) const {
  const base::MutexLock lock(mutex_);
  const auto at = std::ranges::find(names_, name);
  if (at == names_.end()) return std::nullopt;
  return SpaceId(static_cast<std::uint32_t>(at - names_.begin()));
}

std::vector<std::string> MemoryStore::space_names() const {
  std::vector<std::string> names;
  {
    const base::MutexLock lock(mutex_);
    names = names_;
  }
  std::ranges::sort(names);
  return names;
}

Result<std::unique_ptr<ReadTransaction>, Error> MemoryStore::begin_read() {
  return std::make_unique<MemoryRead>(*this, CAD_TRY(gate_.enter_read()));
}

Result<std::unique_ptr<WriteTransaction>, Error> MemoryStore::begin_write() {
  CAD_TRY(gate_.enter_write());
  return std::make_unique<MemoryWrite>(*this);
}

Result<std::uint64_t, Error> MemoryStore::grow(OpenTransactions others) {
  CAD_TRY(gate_.close(others));
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  {
    const base::MutexLock lock(mutex_);
    before = capacity_bytes_;
    after = grown_capacity(before, options_.capacity_bytes_max);
    capacity_bytes_ = after;
  }
  gate_.reopen();
  if (after == before) return base::fail(Error{ErrorCode::kMapFull});
  return after;
}

StoreStats MemoryStore::stats() const {
  const auto snapshot = current();
  return {
      .capacity_bytes = capacity_bytes(),
      .capacity_bytes_max = options_.capacity_bytes_max,
      .used_bytes = snapshot->bytes,
      .commits = snapshot->commits,
      .readers_open = gate_.readers_open(),
      .readers_max = gate_.readers_max(),
      .oldest_reader = gate_.oldest_reader(snapshot->commits, clock_.now()),
  };
}

std::shared_ptr<const Snapshot> MemoryStore::current() const {
  const base::MutexLock lock(mutex_);
  return current_;
}

void MemoryStore::publish(Snapshot next) {
  auto shared = std::make_shared<const Snapshot>(std::move(next));
  const base::MutexLock lock(mutex_);
  current_.swap(shared);
}

std::uint64_t MemoryStore::capacity_bytes() const {
  const base::MutexLock lock(mutex_);
  return capacity_bytes_;
}

}  // namespace cadastre::kv::memory
