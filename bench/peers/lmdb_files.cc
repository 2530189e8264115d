#include "bench/peers/lmdb_files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <lmdb.h>

#include "base/bytes.h"
#include "base/check.h"
#include "bench/peers/process_io.h"
#include "bench/peers/set_store.h"
#include "kv/lmdb/lmdb_options.h"

namespace cadastre::bench {
namespace {

constexpr mdb_mode_t kFileMode = 0644;

MDB_val to_mdb(base::ByteView bytes) {
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};  // NOLINT: LMDB only reads it
}

base::ByteView to_view(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

void must(int code) {
  CAD_CHECK(code == MDB_SUCCESS, mdb_strerror(code));
}

// Whether something was found.
bool found(int code) {
  if (code == MDB_NOTFOUND) return false;
  must(code);
  return true;
}

}  // namespace

std::optional<base::ByteView> LmdbRead::get(base::ByteView key) const {
  MDB_val wanted = to_mdb(key);
  MDB_val value{};
  if (!found(mdb_get(txn_.get(), database_, &wanted, &value))) return std::nullopt;
  return to_view(value);
}

LmdbRead::Cursor LmdbRead::open_cursor() const {
  MDB_cursor* cursor = nullptr;
  must(mdb_cursor_open(txn_.get(), database_, &cursor));
  return Cursor(cursor);
}

std::optional<LmdbEntry> LmdbRead::seek(MDB_cursor* cursor, base::ByteView key) {
  MDB_val at = to_mdb(key);
  MDB_val value{};
  const MDB_cursor_op where = key.empty() ? MDB_FIRST : MDB_SET_RANGE;
  if (!found(mdb_cursor_get(cursor, &at, &value, where))) return std::nullopt;
  return LmdbEntry{to_view(at), to_view(value)};
}

std::optional<LmdbEntry> LmdbRead::step(MDB_cursor* cursor) {
  MDB_val at{};
  MDB_val value{};
  if (!found(mdb_cursor_get(cursor, &at, &value, MDB_NEXT))) return std::nullopt;
  return LmdbEntry{to_view(at), to_view(value)};
}

bool LmdbRead::starts_with(base::ByteView key, base::ByteView prefix) {
  return key.size() >= prefix.size() && base::equal(key.first(prefix.size()), prefix);
}

void LmdbWrite::put(base::ByteView key, base::ByteView value) {
  MDB_val at = to_mdb(key);
  MDB_val bytes = to_mdb(value);
  must(mdb_put(txn_.get(), database_, &at, &bytes, 0));
}

void LmdbWrite::erase(base::ByteView key) {
  MDB_val at = to_mdb(key);
  (void)found(mdb_del(txn_.get(), database_, &at, nullptr));
}

void LmdbWrite::commit() {
  must(mdb_txn_commit(txn_.release()));
}

LmdbFiles::LmdbFiles(std::string directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  MDB_env* env = nullptr;
  must(mdb_env_create(&env));
  env_.reset(env);
  must(mdb_env_set_mapsize(env, kv::lmdb::kMapBytesDefault));
  must(mdb_env_open(env, directory_.c_str(), MDB_NOTLS | MDB_NOSYNC, kFileMode));
  MDB_txn* txn = nullptr;
  must(mdb_txn_begin(env, nullptr, 0, &txn));
  must(mdb_dbi_open(txn, nullptr, 0, &database_));
  must(mdb_txn_commit(txn));
}

LmdbRead LmdbFiles::read() const {
  MDB_txn* txn = nullptr;
  must(mdb_txn_begin(env_.get(), nullptr, MDB_RDONLY, &txn));
  return {txn, database_};
}

LmdbWrite LmdbFiles::write() {
  MDB_txn* txn = nullptr;
  must(mdb_txn_begin(env_.get(), nullptr, 0, &txn));
  return {txn, database_};
}

void LmdbFiles::set_durability(Durability durability) {
  must(mdb_env_set_flags(env_.get(), MDB_NOSYNC, durability == Durability::kNone ? 1 : 0));
  if (durability == Durability::kSync) must(mdb_env_sync(env_.get(), 1));
}

Space LmdbFiles::space() const {
  MDB_stat stat{};
  must(mdb_env_stat(env_.get(), &stat));
  const std::uint64_t pages = stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
  return {.file_bytes = directory_bytes(directory_), .live_bytes = pages * stat.ms_psize};
}

}  // namespace cadastre::bench
