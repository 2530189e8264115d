#include "kv/lmdb/lmdb_store.h"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lmdb.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/limits.h"
#include "kv/lmdb/lmdb_error.h"
#include "kv/lmdb/lmdb_options.h"
#include "kv/lmdb/lmdb_read.h"
#include "kv/lmdb/lmdb_write.h"
#include "kv/lmdb/space_access.h"
#include "kv/store.h"

namespace cadastre::kv::lmdb {
namespace {

constexpr mdb_mode_t kFileMode = 0600;
constexpr std::uint64_t kMapStepBytes = 4096;  // LMDB asks for whole pages.
// Readers of our own beside those of the gate: a backup's, and the look at a failed commit.
constexpr unsigned kOwnReaders = 2;

bool writes_through_map(const LmdbOptions& options) noexcept {
  return options.access == Access::kReadWrite && options.writes == Writes::kThroughMap;
}

unsigned flags_of(const LmdbOptions& options) {
  unsigned flags = MDB_NOTLS;  // A read transaction belongs to its object, not to a thread.
  if (options.access == Access::kReadOnly) flags |= MDB_RDONLY;
  if (writes_through_map(options)) flags |= MDB_WRITEMAP;
  switch (options.durability) {
    case Durability::kSync: break;
    case Durability::kNoMetaSync: flags |= MDB_NOMETASYNC; break;
    case Durability::kNoSync: flags |= MDB_NOSYNC; break;
  }
  return flags;
}

Result<void, Error> make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return base::fail(to_error(error.value()));
  return {};
}

Result<base::DirectoryLock, Error> lock_directory(const std::string& directory, Access access) {
  auto lock = base::DirectoryLock::acquire(directory + "/LOCK", access == Access::kReadOnly
                                                                    ? base::LockKind::kReader
                                                                    : base::LockKind::kWriter);
  if (lock) return std::move(*lock);
  const base::LockRefused& refused = lock.error();
  if (refused.system_code != 0) return base::fail(to_error(refused.system_code));
  return base::fail(Error{.code = ErrorCode::kLocked, .holder_pid = refused.holder_pid});
}

// Of a file, or of a directory's entries.
Result<void, Error> sync_path(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return base::fail(to_error(errno));
  const int code = fsync(file) == 0 ? 0 : errno;
  close(file);
  return checked(code);
}

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kMapStepBytes - 1) / kMapStepBytes * kMapStepBytes;
}

// LMDB maps its table of readers from a sparse file. On a full device a page of it that is touched later
// would end the process (SIGBUS), so it gets its room before LMDB opens it.
Result<void, Error> reserve_reader_table(const std::string& directory, const LmdbOptions& options) {
  constexpr std::uint64_t kReaderBytes = 64;
  constexpr std::uint64_t kHeaderBytes = 4096;
  const std::string path = directory + "/lock.mdb";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (file < 0) return base::fail(to_error(errno));
  const std::uint64_t bytes =
      whole_pages(kHeaderBytes + (options.readers_max + kOwnReaders) * kReaderBytes);
  const int code = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  close(file);
  return checked(code);
}

Result<OwnedEnv, Error> open_env(const std::string& directory, const LmdbOptions& options) {
  MDB_env* created = nullptr;
  CAD_TRY(checked(mdb_env_create(&created)));
  OwnedEnv env(created);
  CAD_TRY(checked(mdb_env_set_mapsize(created, whole_pages(options.map_bytes))));
  CAD_TRY(checked(mdb_env_set_maxdbs(created, options.spaces_max)));
  CAD_TRY(checked(mdb_env_set_maxreaders(created, options.readers_max + kOwnReaders)));
  CAD_TRY(checked(mdb_env_open(created, directory.c_str(), flags_of(options), kFileMode)));
  int dead = 0;
  CAD_TRY(checked(mdb_reader_check(created, &dead)));
  return env;
}

// Room on the device for all that the map may hold.
Result<void, Error> reserve_map(MDB_env* env, std::uint64_t bytes) {
  mdb_filehandle_t file = -1;
  CAD_TRY(checked(mdb_env_get_fd(env, &file)));
  return checked(posix_fallocate(file, 0, static_cast<off_t>(bytes)));
}

std::uint64_t mapped_bytes(MDB_env* env) {
  MDB_envinfo info{};
  mdb_env_info(env, &info);
  return info.me_mapsize;
}

// The unnamed database lists the spaces. Opens a handle for each, in `txn`.
Result<SpaceNames, Error> read_spaces(MDB_txn* txn) {
  MDB_dbi unnamed = 0;
  MDB_cursor* opened = nullptr;
  CAD_TRY(checked(mdb_dbi_open(txn, nullptr, 0, &unnamed)));
  CAD_TRY(checked(mdb_cursor_open(txn, unnamed, &opened)));
  const OwnedCursor cursor(opened);
  SpaceNames names;
  MDB_val key{};
  MDB_val value{};
  int code = mdb_cursor_get(opened, &key, &value, MDB_FIRST);
  for (; code == MDB_SUCCESS; code = mdb_cursor_get(opened, &key, &value, MDB_NEXT)) {
    const std::string name(base::as_text(to_view(key)));
    if (!is_valid_space_name(name)) return base::fail(Error{ErrorCode::kCorrupt});
    MDB_dbi space = 0;
    unsigned flags = 0;
    CAD_TRY(checked(mdb_dbi_open(txn, name.c_str(), 0, &space)));
    CAD_TRY(checked(mdb_dbi_flags(txn, space, &flags)));
    if (flags != 0) return base::fail(Error{ErrorCode::kCorrupt});  // Another order than ours.
    names.emplace(name, SpaceId(space));
  }
  if (code != MDB_NOTFOUND) return base::fail(to_error(code));
  return names;
}

// Every space has its handle before the first transaction begins, and each later one gets it from the
// commit that makes it: LMDB wants no two transactions that open handles.
Result<SpaceNames, Error> load_spaces(MDB_env* env) {
  MDB_txn* txn = nullptr;
  CAD_TRY(checked(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn)));
  auto names = read_spaces(txn);
  if (names)
    CAD_TRY(checked(mdb_txn_commit(txn)));  // Which keeps the handles.
  else
    mdb_txn_abort(txn);
  return names;
}

}  // namespace

class LmdbRead final : public ReadTransaction {
 public:
  LmdbRead(LmdbStore& store, std::uint32_t slot) noexcept : store_(store), slot_(slot) {}
  LmdbRead(const LmdbRead&) = delete;
  LmdbRead& operator=(const LmdbRead&) = delete;
  ~LmdbRead() override {
    store_.slots_[slot_].end();
    store_.gate_.leave_read(slot_);
  }

  [[nodiscard]] Reader& reader(SpaceId space) override {
    return store_.slots_[slot_].reader(space);
  }

 private:
  LmdbStore& store_;
  const std::uint32_t slot_;
};

LmdbStore::LmdbStore(const base::Clock& clock, const LmdbOptions& options, Parts parts)
    : clock_(clock),
      options_(options),
      lock_(std::move(parts.lock)),
      env_(std::move(parts.env)),
      slots_(options.readers_max),
      gate_(options.readers_max),
      names_(std::move(parts.names)) {}

Result<std::unique_ptr<LmdbStore>, Error> LmdbStore::open(const base::Clock& clock,
                                                          const std::string& directory,
                                                          const LmdbOptions& options) {
  const bool is_writer = options.access == Access::kReadWrite;
  if (is_writer) CAD_TRY(make_directory(directory));
  base::DirectoryLock lock = CAD_TRY(lock_directory(directory, options.access));
  if (is_writer) CAD_TRY(reserve_reader_table(directory, options));
  OwnedEnv env = CAD_TRY(open_env(directory, options));
  if (writes_through_map(options)) CAD_TRY(reserve_map(env.get(), mapped_bytes(env.get())));
  if (is_writer) CAD_TRY(sync_path(directory));
  SpaceNames names = CAD_TRY(load_spaces(env.get()));
  return std::make_unique<LmdbStore>(clock, options,
                                     Parts{std::move(lock), std::move(env), std::move(names)});
}

const Limits& LmdbStore::limits() const {
  return kEmbeddedLimits;
}

Result<SpaceId, Error> LmdbStore::open_space(std::string_view name) {
  if (!is_valid_space_name(name)) return base::fail(Error{ErrorCode::kInvalidName});
  if (const auto space = find_space(name)) return *space;
  const auto txn = CAD_TRY(begin());
  if (const auto space = find_space(name)) return *space;  // While this one waited.
  const SpaceId space = CAD_TRY(txn->make_space(std::string(name).c_str()));
  CAD_TRY(txn->commit());
  const base::MutexLock lock(names_mutex_);
  names_.emplace(name, space);
  return space;
}

std::optional<SpaceId> LmdbStore::find_space(std::string_view name) const {
  const base::MutexLock lock(names_mutex_);
  const auto at = names_.find(name);
  if (at == names_.end()) return std::nullopt;
  return at->second;
}

std::vector<std::string> LmdbStore::space_names() const {
  const base::MutexLock lock(names_mutex_);
  std::vector<std::string> names;
  names.reserve(names_.size());
  for (const auto& [name, space] : names_)
    names.push_back(name);
  return names;
}

Result<std::unique_ptr<ReadTransaction>, Error> LmdbStore::begin_read() {
  const std::uint32_t slot = CAD_TRY(gate_.enter_read());
  auto begun = check_mapped();
  if (begun) begun = slots_[slot].begin(env_.get());
  if (!begun) {
    gate_.leave_read(slot);
    return base::fail(begun.error());
  }
  gate_.note_reader(slot, slots_[slot].commit(), clock_.now());
  return std::make_unique<LmdbRead>(*this, slot);
}

Result<std::unique_ptr<WriteTransaction>, Error> LmdbStore::begin_write() {
  return begin();
}

Result<std::uint64_t, Error> LmdbStore::grow(OpenTransactions others) {
  if (is_read_only()) return base::fail(Error{ErrorCode::kReadOnly});
  CAD_TRY(gate_.close(others));
  auto grown = remap();
  gate_.reopen();
  return grown;
}

Result<void, Error> LmdbStore::sync() {
  if (is_read_only()) return {};
  return checked(mdb_env_sync(env_.get(), 1));
}

StoreStats LmdbStore::stats() const {
  StoreStats stats;
  stats.capacity_bytes_max = whole_pages(options_.map_bytes_max);
  stats.readers_open = gate_.readers_open();
  stats.readers_max = gate_.readers_max();
  {
    const base::MutexLock lock(map_mutex_);
    if (is_unmapped_) return stats;
    MDB_envinfo info{};
    MDB_stat pages{};
    mdb_env_info(env_.get(), &info);
    mdb_env_stat(env_.get(), &pages);
    stats.capacity_bytes = info.me_mapsize;
    stats.used_bytes = (info.me_last_pgno + 1) * pages.ms_psize;
    stats.commits = info.me_last_txnid;
  }
  stats.oldest_reader = gate_.oldest_reader(stats.commits, clock_.now());
  return stats;
}

Result<void, Error> LmdbStore::backup(const std::string& directory) {
  const std::string data = directory + "/data.mdb";
  CAD_TRY(make_directory(directory));
  std::error_code error;
  if (std::filesystem::exists(data, error)) return base::fail(to_error(EEXIST));
  const auto reader = CAD_TRY(begin_read());  // The map stays where it is meanwhile.
  const auto copied = checked(mdb_env_copy2(env_.get(), directory.c_str(), MDB_CP_COMPACT));
  if (!copied) {
    std::filesystem::remove(data, error);
    return copied;
  }
  CAD_TRY(sync_path(data));
  return sync_path(directory);
}

Result<std::unique_ptr<LmdbWrite>, Error> LmdbStore::begin() {
  if (is_read_only()) return base::fail(Error{ErrorCode::kReadOnly});
  CAD_TRY(gate_.enter_write());
  MDB_txn* txn = nullptr;
  auto begun = check_mapped();
  if (begun) begun = checked(mdb_txn_begin(env_.get(), nullptr, 0, &txn));
  if (!begun) {
    gate_.leave_write();
    return base::fail(begun.error());
  }
  return std::make_unique<LmdbWrite>(env_.get(), gate_, txn);
}

Result<void, Error> LmdbStore::check_mapped() const {
  const base::MutexLock lock(map_mutex_);
  if (is_unmapped_) return base::fail(Error{ErrorCode::kUnavailable});
  return {};
}

Result<std::uint64_t, Error> LmdbStore::remap() {
  const base::MutexLock lock(map_mutex_);
  if (is_unmapped_) return base::fail(Error{ErrorCode::kUnavailable});
  const std::uint64_t mapped = mapped_bytes(env_.get());
  const std::uint64_t grown = grown_capacity(mapped, whole_pages(options_.map_bytes_max));
  if (grown == mapped) return base::fail(Error{ErrorCode::kMapFull});
  if (writes_through_map(options_)) CAD_TRY(reserve_map(env_.get(), grown));
  const int code = mdb_env_set_mapsize(env_.get(), grown);
  is_unmapped_ = code != MDB_SUCCESS;
  CAD_TRY(checked(code));
  return grown;
}

}  // namespace cadastre::kv::lmdb
