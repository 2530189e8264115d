// Bitmap tables in this process: a directory, opened with LMDB.
//
//   auto bitmaps = CAD_TRY(Bitmaps::open(clock, "tags.db", {.access = BitmapsAccess::kReadOnly}));
//   CAD_TRY(bitmaps->database().contains("default", key, id));
//
// The directory belongs to the process that opened it for writing: whoever comes second gets
// kStorage with the key-value store's kLocked, which names the holder's process id. Processes that only
// read share it. Safe from any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/error.h"

namespace cadastre::kv::lmdb {
class LmdbStore;
}

namespace cadastre::node {

using base::Result;

enum class BitmapsAccess : std::uint8_t {
  kReadWrite,  // The directory is made if it is not there.
  kReadOnly,   // A directory with nothing in it reads as a database without tables.
};

struct BitmapsOptions {
  bitmap::DatabaseConfig tables;
  BitmapsAccess access = BitmapsAccess::kReadWrite;
};

class Bitmaps {
 public:
  // The clock outlives the result. kStorage with kNotFound where there is nothing to read.
  [[nodiscard]] static Result<std::unique_ptr<Bitmaps>, bitmap::Error> open(
      const base::Clock& clock, const std::string& directory, const BitmapsOptions& options);

  [[nodiscard]] bitmap::BitmapDatabase& database() noexcept { return *database_; }

  // What is committed now, into another directory, synced: open it as this one. kStorage with kIo and
  // EEXIST if there is a database already, with kNotFound if there is nothing to copy.
  [[nodiscard]] Result<void, bitmap::Error> backup(const std::string& directory);

 private:
  Bitmaps(std::unique_ptr<bitmap::BitmapDatabase> database, kv::lmdb::LmdbStore* store) noexcept
      : database_(std::move(database)), store_(store) {}

  std::unique_ptr<bitmap::BitmapDatabase> database_;
  kv::lmdb::LmdbStore* store_;  // the database's own; none for a directory with nothing in it
};

// Tables that live as long as the result, for tests. The clock outlives it.
[[nodiscard]] Result<std::unique_ptr<bitmap::BitmapDatabase>, bitmap::Error> make_memory_bitmaps(
    const base::Clock& clock, const bitmap::DatabaseConfig& tables);

}  // namespace cadastre::node
