#include "kv/memory/memory_transaction.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "kv/argument_checks.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/memory/memory_store.h"
#include "kv/memory/space_map.h"
#include "kv/store.h"
#include "kv/transaction_state.h"

namespace cadastre::kv::memory {

// ---- Reading -----------------------------------------------------------------------------------

MemoryReader::MemoryReader(TransactionState& state,
                           const Limits& limits,
                           std::shared_ptr<const SpaceMap> map) noexcept
    : state_(state), limits_(limits), version_(std::move(map)) {}

Result<std::optional<ByteView>, Error> MemoryReader::get(ByteView key) {
  CAD_TRY(check_key(key, limits_));
  return find(version_.map(), key);
}

Result<std::unique_ptr<Cursor>, Error> MemoryReader::cursor() {
  return make_cursor(state_, version_);
}

MemoryRead::MemoryRead(MemoryStore& store, std::uint32_t slot)
    : store_(store), slot_(slot), snapshot_(store.current()) {
  store_.gate_.note_reader(slot_, snapshot_->commits, store_.clock_.now());
}

MemoryRead::~MemoryRead() {
  store_.gate_.leave_read(slot_);
}

Reader& MemoryRead::reader(SpaceId space) {
  const std::size_t index = space.value();
  if (readers_.size() <= index) readers_.resize(index + 1);
  if (!readers_[index]) {
    auto map = index < snapshot_->spaces.size() ? snapshot_->spaces[index]
                                                : std::make_shared<const SpaceMap>();
    readers_[index] =
        std::make_unique<MemoryReader>(state_, store_.options_.limits, std::move(map));
  }
  return *readers_[index];
}

// ---- Writing -----------------------------------------------------------------------------------

MemoryWriter::MemoryWriter(WriteState& state,
                           const Limits& limits,
                           std::shared_ptr<const SpaceMap> map) noexcept
    : state_(state), limits_(limits), version_(std::move(map)) {}

Result<std::optional<ByteView>, Error> MemoryWriter::get(ByteView key) {
  CAD_TRY(state_.usable());
  CAD_TRY(check_key(key, limits_));
  return find(version_.map(), key);
}

Result<std::unique_ptr<Cursor>, Error> MemoryWriter::cursor() {
  CAD_TRY(state_.usable());
  return make_cursor(state_, version_);
}

Result<void, Error> MemoryWriter::put(ByteView key, ByteView value) {
  CAD_TRY(state_.usable());
  CAD_TRY(check_entry({key, value}, limits_));
  const auto old = version_.map().find(key);
  const std::size_t old_bytes =
      old == version_.map().end() ? 0 : old->first.size() + old->second->size();
  const std::uint64_t bytes = state_.bytes - old_bytes + key.size() + value.size();
  if (bytes > state_.bytes_max) {
    state_.is_over = true;
    return base::fail(Error{ErrorCode::kMapFull});
  }
  auto owned = std::make_shared<const base::Bytes>(base::to_owned(value));
  version_.changeable().insert_or_assign(base::to_owned(key), std::move(owned));
  state_.bytes = bytes;
  ++state_.mutations;
  return {};
}

Result<void, Error> MemoryWriter::erase(ByteView key) {
  CAD_TRY(state_.usable());
  CAD_TRY(check_key(key, limits_));
  if (!version_.map().contains(key)) return {};
  SpaceMap& map = version_.changeable();
  const auto at = map.find(key);
  state_.bytes -= at->first.size() + at->second->size();
  map.erase(at);
  ++state_.mutations;
  return {};
}

Result<void, Error> MemoryWriter::erase_range(ByteView first, ByteView last) {
  CAD_TRY(state_.usable());
  if (!base::less(first, last)) return {};
  if (version_.map().lower_bound(first) == version_.map().lower_bound(last)) return {};
  SpaceMap& map = version_.changeable();
  const auto end = map.lower_bound(last);
  for (auto at = map.lower_bound(first); at != end; at = map.erase(at))
    state_.bytes -= at->first.size() + at->second->size();
  ++state_.mutations;
  return {};
}

MemoryWrite::MemoryWrite(MemoryStore& store) : store_(store), before_(store.current()) {
  state_.bytes = before_->bytes;
  state_.bytes_max = store.capacity_bytes();
}

MemoryWrite::~MemoryWrite() {
  abort();
}

Writer& MemoryWrite::writer(SpaceId space) {
  const std::size_t index = space.value();
  CAD_CHECK(index < before_->spaces.size(), "a key space is opened before it is written");
  if (writers_.size() <= index) writers_.resize(index + 1);
  if (!writers_[index]) {
    writers_[index] =
        std::make_unique<MemoryWriter>(state_, store_.options_.limits, before_->spaces[index]);
  }
  return *writers_[index];
}

Result<void, Error> MemoryWrite::commit() {
  const bool is_over = state_.is_over;
  if (!is_over && state_.mutations > 0) {
    Snapshot next = *before_;
    for (std::size_t i = 0; i < writers_.size(); ++i) {
      if (writers_[i] && writers_[i]->version().is_changed())
        next.spaces[i] = writers_[i]->version().shared();
    }
    next.bytes = state_.bytes;
    ++next.commits;
    store_.publish(std::move(next));
  }
  abort();
  if (is_over) return base::fail(Error{ErrorCode::kEnded});
  return {};
}

void MemoryWrite::abort() {
  state_.is_over = true;
  if (std::exchange(is_inside_, false)) store_.gate_.leave_write();
}

}  // namespace cadastre::kv::memory
