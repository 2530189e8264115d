// MemoryStore: a store that lives as long as this object. The reference for the others, and for tests.
//
// A read transaction shares the maps that were current when it began. A write transaction copies a map
// before it changes it first (keys only: values are shared), so a transaction costs as much as the key
// spaces it changes have entries. Not for large data.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/limits.h"
#include "kv/memory/space_map.h"
#include "kv/store.h"
#include "kv/transaction_gate.h"

namespace cadastre::kv::memory {

inline constexpr std::uint64_t kCapacityBytesDefault = std::uint64_t{1} << 40;

struct MemoryOptions {
  Limits limits = kEmbeddedLimits;
  std::uint64_t capacity_bytes = kCapacityBytesDefault;  // Of keys and values.
  std::uint64_t capacity_bytes_max = kCapacityBytesDefault;
  std::uint32_t readers_max = kReadersMaxDefault;
  std::uint32_t spaces_max = kSpacesMaxDefault;
};

// Every key space at one moment. Immutable.
struct Snapshot {
  std::vector<std::shared_ptr<const SpaceMap>> spaces;  // By SpaceId.
  std::uint64_t commits = 0;
  std::uint64_t bytes = 0;
};

class MemoryStore final : public Store {
 public:
  // The clock outlives the store.
  explicit MemoryStore(const base::Clock& clock, const MemoryOptions& options = {});

  [[nodiscard]] const Limits& limits() const override { return options_.limits; }
  [[nodiscard]] Result<SpaceId, Error> open_space(std::string_view name) override;
  [[nodiscard]] std::optional<SpaceId> find_space(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> space_names() const override;
  [[nodiscard]] Result<std::unique_ptr<ReadTransaction>, Error> begin_read() override;
  [[nodiscard]] Result<std::unique_ptr<WriteTransaction>, Error> begin_write() override;
  [[nodiscard]] Result<std::uint64_t, Error> grow(OpenTransactions others) override;
  [[nodiscard]] Result<void, Error> sync() override { return {}; }
  [[nodiscard]] StoreStats stats() const override;

 private:
  friend class MemoryRead;
  friend class MemoryWrite;

  [[nodiscard]] std::shared_ptr<const Snapshot> current() const CAD_EXCLUDES(mutex_);
  void publish(Snapshot next) CAD_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t capacity_bytes() const CAD_EXCLUDES(mutex_);

  const base::Clock& clock_;
  const MemoryOptions options_;
  TransactionGate gate_;

  mutable base::Mutex mutex_;
  std::uint64_t capacity_bytes_ CAD_GUARDED_BY(mutex_);
  std::vector<std::string> names_ CAD_GUARDED_BY(mutex_);  // By SpaceId; grows only.
  std::shared_ptr<const Snapshot> current_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::kv::memory
