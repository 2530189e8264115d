// LmdbStore: a directory as a store, over LMDB. Durable, memory-mapped, one writer, readers on snapshots.
//
// The directory holds data.mdb and lock.mdb (LMDB's own) and LOCK (base/directory_lock.h). Key spaces are
// LMDB's named databases; the unnamed one holds their names and nothing else.
//
// What to know
//   - Nothing but this class may touch the files while the store is open: a data.mdb that is cut short
//     under a map ends the process (SIGBUS).
//   - A read transaction keeps the pages that it sees. While it lives they are not used again and the file
//     grows: stats() says how old the oldest one is.
//   - After kOutcomeUnknown, and after kUnavailable, close the store and open it again.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lmdb.h>

#include "base/clock.h"
#include "base/directory_lock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb/lmdb_options.h"
#include "kv/lmdb/lmdb_read.h"
#include "kv/lmdb/lmdb_write.h"
#include "kv/store.h"
#include "kv/transaction_gate.h"

namespace cadastre::kv::lmdb {

struct EnvCloser {
  void operator()(MDB_env* env) const noexcept { mdb_env_close(env); }
};
using OwnedEnv = std::unique_ptr<MDB_env, EnvCloser>;

using SpaceNames = std::map<std::string, SpaceId, std::less<>>;  // A SpaceId is LMDB's handle.

class LmdbStore final : public Store {
 public:
  // An opened directory.
  struct Parts {
    base::DirectoryLock lock;  // Released after the environment is closed.
    OwnedEnv env;
    SpaceNames names;
  };

  // The clock outlives the store.
  [[nodiscard]] static Result<std::unique_ptr<LmdbStore>, Error> open(
      const base::Clock& clock, const std::string& directory, const LmdbOptions& options = {});
  LmdbStore(const base::Clock& clock, const LmdbOptions& options, Parts parts);

  [[nodiscard]] const Limits& limits() const override;
  [[nodiscard]] Result<SpaceId, Error> open_space(std::string_view name) override;
  [[nodiscard]] std::optional<SpaceId> find_space(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> space_names() const override;
  [[nodiscard]] Result<std::unique_ptr<ReadTransaction>, Error> begin_read() override;
  [[nodiscard]] Result<std::unique_ptr<WriteTransaction>, Error> begin_write() override;
  [[nodiscard]] Result<std::uint64_t, Error> grow(OpenTransactions others) override;
  [[nodiscard]] Result<void, Error> sync() override;
  [[nodiscard]] StoreStats stats() const override;

  // Writes what is committed now into another directory, without free pages, synced: open it as a store.
  // The directory is made if it is not there; kIo with EEXIST if it holds a store. Counts as a reader
  // while it lasts.
  [[nodiscard]] Result<void, Error> backup(const std::string& directory);

 private:
  friend class LmdbRead;

  [[nodiscard]] Result<std::unique_ptr<LmdbWrite>, Error> begin();
  [[nodiscard]] Result<void, Error> check_mapped() const CAD_EXCLUDES(map_mutex_);
  [[nodiscard]] bool is_read_only() const { return options_.access == Access::kReadOnly; }
  [[nodiscard]] Result<std::uint64_t, Error> remap() CAD_EXCLUDES(map_mutex_);

  const base::Clock& clock_;
  const LmdbOptions options_;
  const base::DirectoryLock lock_;
  const OwnedEnv env_;
  std::vector<ReadSlot> slots_;  // A reader's slot in gate_ is its place here.
  TransactionGate gate_;

  mutable base::Mutex names_mutex_;
  SpaceNames names_ CAD_GUARDED_BY(names_mutex_);

  mutable base::Mutex map_mutex_;                        // While the map moves nobody looks at it.
  bool is_unmapped_ CAD_GUARDED_BY(map_mutex_) = false;  // It could not be mapped again.
};

}  // namespace cadastre::kv::lmdb
