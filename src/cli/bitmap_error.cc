#include "cli/bitmap_error.h"

#include <cerrno>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/limits.h"
#include "cli/command_error.h"
#include "kv/error.h"

namespace cadastre::cli {
namespace {

using bitmap::ErrorCode;
using bitmap::Misuse;

CommandError of_misuse(Misuse misuse) {
  switch (misuse) {
    case Misuse::kKeyTooLong:
      return {"key_too_long", fmt::format("a key has at most {} bytes", bitmap::kBaseKeyBytesMax)};
    case Misuse::kTooManyOperands:
      return {"too_many_keys",
              fmt::format("a set operation has at most {} keys", bitmap::kOperandsMax)};
    case Misuse::kResultTooLarge:
      return {"result_too_large", "the set is too large for one file: read it with get, in pages"};
    case Misuse::kBadPortableBytes:
      return {"not_portable", "the bytes are not a portable 64-bit roaring bitmap"};
    case Misuse::kConfig:
    case Misuse::kBadRange:
    case Misuse::kMixedDirections:
    case Misuse::kTableExists:
    case Misuse::kNoSuchTable:
    case Misuse::kUnsortedIds:
    case Misuse::kTooManyBuckets:
    case Misuse::kBadCopyCursor: break;
  }
  return {std::string(name(ErrorCode::kInvalidArgument)), std::string(name(misuse))};
}

CommandError of_lock(const kv::Error& error) {
  if (error.holder_pid == 0) {
    return {"locked", "another process has the directory open: try again", Retry::kLater};
  }
  return {"locked",
          fmt::format("process {} has the directory open: wait until it ends, or stop it",
                      error.holder_pid),
          Retry::kLater,
          {{"pid", static_cast<std::uint64_t>(error.holder_pid)}}};
}

CommandError of_system(const kv::Error& error) {
  if (error.system_code == EEXIST) {
    return {"already_exists", "the directory holds a database already: name another one"};
  }
  return {"io", to_string(error), Retry::kLater};
}

// `code` is what the table made of it.
CommandError of_storage(const kv::Error& error, ErrorCode code) {
  switch (error.code) {
    case kv::ErrorCode::kLocked: return of_lock(error);
    case kv::ErrorCode::kIo: return of_system(error);
    case kv::ErrorCode::kNotFound:
      return {"no_database", "there is no database in this directory: the first add makes one"};
    case kv::ErrorCode::kCorrupt:
      return {"corrupt", "the database file is damaged or of another kind: restore a backup"};
    case kv::ErrorCode::kInvalidName:
      return {"bad_table_name", "a table's name has 1 to 255 bytes, none of them zero"};
    case kv::ErrorCode::kTooManySpaces:
      return {"too_many_tables", "the database has as many tables as it can hold"};
    case kv::ErrorCode::kReadOnly: return {"read_only", "the database is open for reading only"};
    case kv::ErrorCode::kMapFull:
      return {"full", "the database is full; nothing was changed: do it again, it grows",
              Retry::kNow};
    case kv::ErrorCode::kDiskFull:
      return {"disk_full", "the device is full; nothing was changed: free some space",
              Retry::kLater};
    case kv::ErrorCode::kTransactionTooLarge:
      return {"transaction_too_large",
              "nothing was changed: do less between begin and commit, or in one request"};
    case kv::ErrorCode::kReadersFull:
      return {"busy", "too many processes read the database: try again", Retry::kLater};
    case kv::ErrorCode::kConflict:
      return {"conflict", "another transaction came first; nothing was changed: do it again",
              Retry::kNow};
    case kv::ErrorCode::kUnavailable:
      return {"unavailable", "nothing was changed: try again", Retry::kLater};
    case kv::ErrorCode::kOutcomeUnknown:
      return {"outcome_unknown",
              "it may or may not have happened: look before you do it again (the same ids "
              "may be added and removed twice)",
              Retry::kLater};
    case kv::ErrorCode::kInvalidKey:
    case kv::ErrorCode::kKeyTooLong:
    case kv::ErrorCode::kValueTooLarge:
    case kv::ErrorCode::kStaleCursor:
    case kv::ErrorCode::kEnded:
    case kv::ErrorCode::kBusy: break;
  }
  return {std::string(name(code)), to_string(error)};
}

template <class Fault>
CommandError of_fault(Fault fault, ErrorCode code) {
  if (code == ErrorCode::kUnsupportedForm) {
    return {std::string(name(code)), "a newer release wrote this: upgrade"};
  }
  return {
      std::string(name(code)),
      fmt::format("a stored record is damaged ({}): see cadastre bitmap verify, restore a backup",
                  name(fault))};
}

CommandError without_cause(ErrorCode code) {
  switch (code) {
    case ErrorCode::kConfigMismatch:
      return {std::string(name(code)),
              "the table has another number of shards: leave --shards away, or name a new table"};
    case ErrorCode::kStale:
      return {std::string(name(code)), "the table changed while it was read: do it again",
              Retry::kNow};
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupportedForm:
    case ErrorCode::kFull:
    case ErrorCode::kStorage: break;
  }
  return {std::string(name(code)), "the request was refused"};
}

}  // namespace

CommandError from_bitmap(const bitmap::Error& error) {
  return std::visit(
      [&error](const auto& cause) -> CommandError {
        using Cause = std::remove_cvref_t<decltype(cause)>;
        if constexpr (std::is_same_v<Cause, std::monostate>) {
          return without_cause(error.code);
        } else if constexpr (std::is_same_v<Cause, Misuse>) {
          return of_misuse(cause);
        } else if constexpr (std::is_same_v<Cause, kv::Error>) {
          return of_storage(cause, error.code);
        } else {
          return of_fault(cause, error.code);
        }
      },
      error.cause);
}

CommandError not_portable(bitmap::ValueFault fault) {
  CommandError error = of_misuse(Misuse::kBadPortableBytes);
  error.detail += fmt::format(" ({})", name(fault));
  return error;
}

}  // namespace cadastre::cli
