// State: what the replicated backend replicates: records, settings, the times of tenants. Executes
// commands; the same commands on the same state give the same answers and the same state, whatever its history.
//
// Whether bytes fit is judged by the settings alone. The slab below has room for whatever they allow:
// before a command is executed, all bytes that it could bring fit behind the slab's last block; where they
// do not, everything moves into a larger slab.
//
// A tenant's time is the largest `now` of its commands, once it has a run. It decides nothing here:
// a server that stamps time for its clients asks for it, so that their time never goes back.
//
// One thread at a time. No clock, no chance (the seed of hash tables decides nothing), no I/O.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/attributes.h"
#include "base/bytes.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/record_codec.h"
#include "coord/replicated/command.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/snapshot.h"

namespace cadastre::coord::replicated {

class State {
 public:
  // Empty, with the settings' defaults until a command writes others.
  explicit State(std::uint64_t hash_seed);
  // What a snapshot holds.
  State(const SnapshotContent& content, std::uint64_t hash_seed);

  // Decodes and executes a command. The answer's bytes; an error if this release does not know it.
  [[nodiscard]] Result<base::Bytes, DecodeError> execute(ByteView command);

  [[nodiscard]] memory::MemoryBackend& records() noexcept CAD_LIFETIMEBOUND { return *records_; }
  [[nodiscard]] const memory::MemoryBackend& records() const noexcept CAD_LIFETIMEBOUND {
    return *records_;
  }
  [[nodiscard]] bool configured() const noexcept { return configured_; }
  [[nodiscard]] const Settings& settings() const noexcept CAD_LIFETIMEBOUND { return settings_; }
  // 0: the tenant has no time yet.
  [[nodiscard]] LogicalTime largest_now(const TenantId& tenant) const noexcept;
  [[nodiscard]] std::vector<TenantTime> times() const;  // by tenant

  // Aborts unless every record, index and counter agrees.
  void verify() const { records_->verify(); }

 private:
  // One function for each operation.
  struct Executor;

  void make_room(std::size_t command_bytes);
  void move_to_slab(std::uint64_t capacity);
  void note_time(const Command& command);
  [[nodiscard]] std::unique_ptr<memory::MemoryBackend> new_records(std::uint64_t capacity) const;

  const std::uint64_t hash_seed_;
  bool configured_ = false;
  Settings settings_;
  std::unique_ptr<memory::MemoryBackend> records_;
  std::unordered_map<TenantId, LogicalTime> times_;
  // Used again and again.
  CommandScratch command_scratch_;
  std::unique_ptr<AcquireScratch> acquire_scratch_;
};

}  // namespace cadastre::coord::replicated
