// MemoryStorage: the log on a disk made of bytes, for tests and simulation. The same records and the
// same recovery as on RocksDB; in place of its write-ahead log a list of frames, one for each set:
//
//   frame   u32 body bytes, u32 crc32c of the body, u32 crc32c of these eight bytes, body
//   body    operations: u8 kind (1 put, 2 erase, 3 erase range), u32 bytes and bytes of a, the same of b
//
// A MemoryDisk outlives the storages opened on it, as a disk outlives processes. Bytes appended after
// the last sync may vanish or be cut in a crash; a frame that is cut is dropped whole, and damage before
// the last frame is an error, as L-24 asks.
//
// One thread at a time.

#pragma once

#include <cstddef>
#include <map>

#include "base/bytes.h"
#include "base/result.h"
#include "log/storage.h"
#include "log/storage/records.h"

namespace cadastre::log {

class MemoryDisk {
 public:
  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t synced_bytes() const noexcept { return synced_; }
  [[nodiscard]] std::size_t unsynced_bytes() const noexcept { return bytes_.size() - synced_; }

  void append(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void sync() noexcept { synced_ = bytes_.size(); }
  // In place of everything, synced: what a rename of a complete file does.
  void replace(Bytes bytes) {
    bytes_ = std::move(bytes);
    sync();
  }

  // The power fails: of what was not synced, so many bytes are there.
  void crash(std::size_t unsynced_kept);
  // A bit of what lies on the disk turns.
  void flip_bit(std::size_t bit);
  // A disk that lied: synced bytes are gone.
  void lose_tail(std::size_t bytes);

 private:
  Bytes bytes_;
  std::size_t synced_ = 0;
};

class MemoryStorage final : public LogStorage {
 public:
  MemoryStorage(MemoryDisk& disk, NodeIdentity identity) noexcept
      : disk_(disk), identity_(identity) {}

  [[nodiscard]] base::Result<Recovered, OpenError> recover() override;
  [[nodiscard]] base::Result<void, WriteError> write(const WriteSet& set) override;
  [[nodiscard]] base::Result<std::vector<Entry>, LogReadError> read(GroupId group,
                                                                    Incarnation incarnation,
                                                                    Index low,
                                                                    Index high,
                                                                    std::size_t bytes_max) override;
  [[nodiscard]] StorageUsage usage() const override { return {disk_.bytes().size()}; }

  // The disk gives back other bytes than it was given: this entry fails its sum when it is read.
  void spoil_entry(GroupId group, Incarnation incarnation, Index index);

  // Up to where a disk's bytes are whole frames; what a crash cut short lies behind.
  [[nodiscard]] static std::size_t whole_bytes(ByteView disk) noexcept;

  // The two halves of write(), for whoever decides when a sync ends.
  void append(const WriteSet& set);
  void sync();

 private:
  struct Less {
    using is_transparent = void;
    bool operator()(ByteView a, ByteView b) const noexcept { return base::less(a, b); }
  };
  using Records = std::map<Bytes, Bytes, Less>;
  friend class MapCursor;

  base::Result<void, OpenError> replay();
  base::Result<void, OpenError> apply_frame(ByteView body);
  void compact();

  MemoryDisk& disk_;
  const NodeIdentity identity_;
  Records records_;
  std::size_t live_bytes_ = 0;  // Of records_, keys included.
};

}  // namespace cadastre::log
