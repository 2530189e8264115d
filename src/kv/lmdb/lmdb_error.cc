#include "kv/lmdb/lmdb_error.h"

#include <cerrno>

#include <lmdb.h>

#include "base/result.h"
#include "kv/error.h"

namespace cadastre::kv::lmdb {
namespace {

ErrorCode to_code(int code) noexcept {
  switch (code) {
    case MDB_MAP_FULL: return ErrorCode::kMapFull;
    case MDB_TXN_FULL: return ErrorCode::kTransactionTooLarge;
    case MDB_READERS_FULL: return ErrorCode::kReadersFull;
    case MDB_DBS_FULL: return ErrorCode::kTooManySpaces;
    case MDB_BAD_TXN: return ErrorCode::kEnded;
    case MDB_BAD_VALSIZE: return ErrorCode::kInvalidKey;
    case MDB_PANIC:        // A commit failed in its last step: open the store again.
    case MDB_MAP_RESIZED:  // Another machine grew the map.
    case MDB_BAD_RSLOT: return ErrorCode::kUnavailable;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PAGE_FULL:
    case MDB_CURSOR_FULL:
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE: return ErrorCode::kCorrupt;
    case ENOSPC:
    case EDQUOT: return ErrorCode::kDiskFull;
    case EROFS: return ErrorCode::kReadOnly;
    case ENOENT: return ErrorCode::kNotFound;
    default: return ErrorCode::kIo;
  }
}

}  // namespace

Error to_error(int code) noexcept {
  return {.code = to_code(code), .system_code = code};
}

Result<void, Error> checked(int code) noexcept {
  if (code != MDB_SUCCESS) return base::fail(to_error(code));
  return {};
}

}  // namespace cadastre::kv::lmdb
