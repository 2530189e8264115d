#include "bench/peers/blob_store.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "bench/peers/lmdb_files.h"
#include "bench/peers/roaring64.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {
namespace {

Roaring64 read_set(const LmdbRead& txn, std::string_view key) {
  const auto value = txn.get(base::as_bytes(key));
  return value ? Roaring64::read_portable(*value) : Roaring64();
}

class BlobReader final : public SetReader {
 public:
  explicit BlobReader(const LmdbFiles& files) : files_(files), txn_(files.read()) {}

  void renew() override { txn_ = files_.read(); }
  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    return read_set(txn_, key).contains(id);
  }
  [[nodiscard]] std::uint64_t count_present(std::string_view key,
                                            std::span<const Id> ids) override {
    const Roaring64 set = read_set(txn_, key);
    return static_cast<std::uint64_t>(
        std::ranges::count_if(ids, [&](Id id) { return set.contains(id); }));
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    return read_set(txn_, key).cardinality();
  }
  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    read_set(txn_, key).visit(range, visit);
  }
  [[nodiscard]] std::uint64_t materialise(std::string_view key) override { return count(key); }
  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    return count_of(SetOperation::kIntersection, a, b);
  }
  // Each of the two is decoded once, whatever is asked.
  [[nodiscard]] std::uint64_t count_of(SetOperation operation,
                                       std::string_view a,
                                       std::string_view b) override {
    return Roaring64::count_of(operation, read_set(txn_, a), read_set(txn_, b));
  }

 private:
  const LmdbFiles& files_;
  LmdbRead txn_;
};

}  // namespace

void BlobStore::edit(std::string_view key, base::FunctionRef<void(Roaring64&)> change) {
  Roaring64 set = read_set(*txn_, key);
  change(set);
  value_.clear();
  set.write_portable(value_);
  txn_->put(base::as_bytes(key), value_);
}

void BlobStore::insert(std::string_view key, Id id) {
  edit(key, [&](Roaring64& set) { set.add(id); });
}

void BlobStore::insert_many(std::string_view key, std::span<const Id> ids) {
  std::vector<Id> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  Roaring64 added;
  added.add_many(sorted);
  edit(key, [&](Roaring64& set) { set.unite(added); });
}

void BlobStore::remove_many(std::string_view key, std::span<const Id> ids) {
  edit(key, [&](Roaring64& set) {
    for (const Id id : ids)
      set.remove(id);
  });
}

void BlobStore::commit() {
  txn_->commit();
  txn_.reset();
}

void BlobStore::compact(std::string_view key) {
  begin();
  edit(key, [](Roaring64& set) { set.optimise(); });
  commit();
}

void BlobStore::preload(std::string_view key, std::span<const Id> ids) {
  begin();
  insert_many(key, ids);
  commit();
}

std::unique_ptr<SetReader> BlobStore::reader() {
  return std::make_unique<BlobReader>(files_);
}

}  // namespace cadastre::bench
