// BlobStore: one roaring bitmap for each key, in LMDB, as portable bytes. Whatever changes, the whole
// value is read, decoded, changed, encoded and written; whatever is asked, it is decoded. Without run
// containers, until it is compacted: to look for runs at every change costs more than they save.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "bench/peers/lmdb_files.h"
#include "bench/peers/roaring64.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {

class BlobStore final : public SetStore {
 public:
  explicit BlobStore(std::string directory) : files_(std::move(directory)) {}

  [[nodiscard]] std::string_view name() const override { return "blob in LMDB"; }
  void begin() override { txn_.emplace(files_.write()); }
  void insert(std::string_view key, Id id) override;
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override;
  void set_durability(Durability durability) override { files_.set_durability(durability); }
  void compact(std::string_view key) override;
  // One value whatever the order of arrival, and containers depend on what is in them alone.
  void preload(std::string_view key, std::span<const Id> ids) override;
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  [[nodiscard]] Space space() override { return files_.space(); }

 private:
  void edit(std::string_view key, base::FunctionRef<void(Roaring64&)> change);

  LmdbFiles files_;
  std::optional<LmdbWrite> txn_;
  base::Bytes value_;
};

}  // namespace cadastre::bench
