// Stores on disk for tests, also of other rooms, which do not see backends.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "base/check.h"
#include "base/clock.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/lmdb_options.h"  // IWYU pragma: export
#include "kv/lmdb/lmdb_store.h"
#include "kv/store.h"

namespace cadastre::kv {

using lmdb::Access;
using lmdb::Durability;
using lmdb::LmdbOptions;
using lmdb::Writes;

// A directory of its own, gone with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cadastre_kv_XXXXXX").string();
    CAD_CHECK(mkdtemp(pattern.data()) != nullptr, "a test can make a directory");
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

[[nodiscard]] inline Result<std::unique_ptr<Store>, Error> open_lmdb_store(
    const std::string& directory, const LmdbOptions& options = {}) {
  static const base::SystemClock clock;
  return CAD_TRY(lmdb::LmdbStore::open(clock, directory, options));
}

}  // namespace cadastre::kv
