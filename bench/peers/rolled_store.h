// RolledStore: the rolled layout on LMDB (3.8). Sixteen shards by a hash of key and id; in each, numbered
// segments of at most 64 KiB, of which only the newest is written.
//
//   u32_be key_len || key || u16_be shard || u16_be segment   ->  01 || portable roaring
//   u32_be key_len || key || u16_be shard                     ->  u16_be number of the newest segment
//
// An id is added to the newest segment if that then has at most 64 KiB, else it begins the next one.
// Older segments are not asked, so an id may lie in several; a lookup and a removal visit them all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "bench/peers/lmdb_files.h"
#include "bench/peers/roaring64.h"
#include "bench/peers/set_store.h"
#include "bitmap/ids.h"

namespace cadastre::bench {

inline constexpr std::uint16_t kRolledShards = 16;
inline constexpr std::size_t kRolledBytesMax = std::size_t{64} << 10;

class RolledStore final : public SetStore {
 public:
  explicit RolledStore(std::string directory) : files_(std::move(directory)) {}

  [[nodiscard]] std::string_view name() const override { return "rolled on LMDB"; }
  void begin() override { txn_.emplace(files_.write()); }
  void insert(std::string_view key, Id id) override;
  // The same bytes as id by id, but a segment is decoded and encoded once for all that it takes.
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override;
  void set_durability(Durability durability) override { files_.set_durability(durability); }
  void compact(std::string_view key) override;
  // In one call each segment is encoded once; the bytes are those of id by id (a test holds them so).
  void preload(std::string_view key, std::span<const Id> ids) override;
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  [[nodiscard]] Space space() override { return files_.space(); }

 private:
  void insert_into(base::ByteView key, bitmap::Shard shard, std::span<const Id> ids);
  void remove_from(base::ByteView key, bitmap::Shard shard, std::span<const Id> ids);
  void compact_shard(base::ByteView key, bitmap::Shard shard);
  void store(base::ByteView key, bitmap::Shard shard, std::uint16_t segment, const Roaring64& set);
  void store_head(base::ByteView key, bitmap::Shard shard, std::uint16_t head);

  LmdbFiles files_;
  std::optional<LmdbWrite> txn_;
  base::Bytes value_;
  std::vector<std::vector<Id>> by_shard_ = std::vector<std::vector<Id>>(kRolledShards);
};

}  // namespace cadastre::bench
