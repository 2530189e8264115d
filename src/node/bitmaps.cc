#include "node/bitmaps.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/error.h"
#include "bitmap/stored.h"
#include "kv/error.h"
#include "kv/lmdb/lmdb_options.h"
#include "kv/lmdb/lmdb_store.h"
#include "kv/memory/memory_store.h"

namespace cadastre::node {
namespace {

// Whether there is such a directory and nothing but the traces of an opener in it.
bool holds_nothing(const std::string& directory) {
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  if (error) return false;
  return std::all_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename() == "LOCK" || entry.path().filename() == "lock.mdb";
  });
}

kv::lmdb::LmdbOptions lmdb_options(BitmapsAccess access) {
  kv::lmdb::LmdbOptions options;
  options.access = access == BitmapsAccess::kReadOnly ? kv::lmdb::Access::kReadOnly
                                                      : kv::lmdb::Access::kReadWrite;
  return options;
}

}  // namespace

Result<std::unique_ptr<Bitmaps>, bitmap::Error> Bitmaps::open(const base::Clock& clock,
                                                              const std::string& directory,
                                                              const BitmapsOptions& options) {
  if (options.access == BitmapsAccess::kReadOnly && holds_nothing(directory)) {
    auto database = CAD_TRY(make_memory_bitmaps(clock, options.tables));
    return std::unique_ptr<Bitmaps>(new Bitmaps(std::move(database), nullptr));
  }
  auto store = CAD_TRY(
      bitmap::stored(kv::lmdb::LmdbStore::open(clock, directory, lmdb_options(options.access))));
  kv::lmdb::LmdbStore* const lmdb = store.get();
  auto database = CAD_TRY(bitmap::BitmapDatabase::open(std::move(store), options.tables));
  return std::unique_ptr<Bitmaps>(new Bitmaps(std::move(database), lmdb));
}

Result<void, bitmap::Error> Bitmaps::backup(const std::string& directory) {
  if (store_ == nullptr) {
    return base::fail(bitmap::from_storage({.code = kv::ErrorCode::kNotFound}));
  }
  return bitmap::stored(store_->backup(directory));
}

Result<std::unique_ptr<bitmap::BitmapDatabase>, bitmap::Error> make_memory_bitmaps(
    const base::Clock& clock, const bitmap::DatabaseConfig& tables) {
  return bitmap::BitmapDatabase::open(std::make_unique<kv::memory::MemoryStore>(clock), tables);
}

}  // namespace cadastre::node
