// The transactions of a MemoryStore.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/memory/memory_store.h"
#include "kv/memory/space_map.h"
#include "kv/store.h"
#include "kv/transaction_state.h"

namespace cadastre::kv::memory {

class MemoryReader final : public Reader {
 public:
  MemoryReader(TransactionState& state,
               const Limits& limits,
               std::shared_ptr<const SpaceMap> map) noexcept;

  [[nodiscard]] Result<std::optional<ByteView>, Error> get(ByteView key) override;
  [[nodiscard]] Result<std::unique_ptr<Cursor>, Error> cursor() override;
  [[nodiscard]] std::uint64_t mutation_count() const override { return state_.mutations; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }

 private:
  TransactionState& state_;
  const Limits& limits_;
  const SpaceVersion version_;
};

class MemoryRead final : public ReadTransaction {
 public:
  // The slot is left by the destructor.
  MemoryRead(MemoryStore& store, std::uint32_t slot);
  MemoryRead(const MemoryRead&) = delete;
  MemoryRead& operator=(const MemoryRead&) = delete;
  ~MemoryRead() override;

  [[nodiscard]] Reader& reader(SpaceId space) override;

 private:
  MemoryStore& store_;
  const std::uint32_t slot_;
  const std::shared_ptr<const Snapshot> snapshot_;
  TransactionState state_;
  std::vector<std::unique_ptr<MemoryReader>> readers_;  // By SpaceId, made when asked for.
};

// What the writers of one transaction have in common.
struct WriteState : TransactionState {
  std::uint64_t bytes = 0;  // Of all key spaces, changes included.
  std::uint64_t bytes_max = 0;
};

class MemoryWriter final : public Writer {
 public:
  MemoryWriter(WriteState& state,
               const Limits& limits,
               std::shared_ptr<const SpaceMap> map) noexcept;

  [[nodiscard]] Result<std::optional<ByteView>, Error> get(ByteView key) override;
  [[nodiscard]] Result<std::unique_ptr<Cursor>, Error> cursor() override;
  [[nodiscard]] std::uint64_t mutation_count() const override { return state_.mutations; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] Result<void, Error> put(ByteView key, ByteView value) override;
  [[nodiscard]] Result<void, Error> erase(ByteView key) override;
  [[nodiscard]] Result<void, Error> erase_range(ByteView first, ByteView last) override;

  [[nodiscard]] const SpaceVersion& version() const noexcept { return version_; }

 private:
  WriteState& state_;
  const Limits& limits_;
  SpaceVersion version_;
};

class MemoryWrite final : public WriteTransaction {
 public:
  // The gate's writer is inside; it leaves at the end.
  explicit MemoryWrite(MemoryStore& store);
  MemoryWrite(const MemoryWrite&) = delete;
  MemoryWrite& operator=(const MemoryWrite&) = delete;
  ~MemoryWrite() override;

  [[nodiscard]] Reader& reader(SpaceId space) override { return writer(space); }
  [[nodiscard]] Writer& writer(SpaceId space) override;
  [[nodiscard]] std::uint64_t mutation_count() const override { return state_.mutations; }
  [[nodiscard]] Result<void, Error> commit() override;
  void abort() override;

 private:
  MemoryStore& store_;
  const std::shared_ptr<const Snapshot> before_;
  WriteState state_;
  std::vector<std::unique_ptr<MemoryWriter>> writers_;  // By SpaceId, made when asked for.
  bool is_inside_ = true;
};

}  // namespace cadastre::kv::memory
