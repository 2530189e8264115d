// Error: what a key-value call can answer instead of its result. A small value: no text, no allocation.
//
// What is left of a transaction after an error stands at each code. "Unchanged" means that nothing was
// attempted and the transaction goes on; "abort" means that it can only be aborted.

#pragma once

#include <cstdint>
#include <string>

namespace cadastre::kv {

enum class ErrorCode : std::uint8_t {
  // The call is wrong. Unchanged: fix the call.
  kInvalidKey,     // An empty key in get, put or erase.
  kKeyTooLong,     // Over Limits::key_bytes_max.
  kValueTooLarge,  // Over Limits::value_bytes_max.
  kInvalidName,    // A key space's name is empty, too long, or has a zero byte.
  kReadOnly,       // The store was opened for reading: open it for writing.
  kStaleCursor,    // The transaction changed since the cursor was placed: seek again.
  kEnded,          // The transaction is over, or failed before: begin another.
  kBusy,           // A transaction is open that would have to end first: end it, call again.

  // There is no room. Abort, make room as said, run the transaction again.
  kMapFull,              // Call Store::grow.
  kDiskFull,             // Free space on the device.
  kTransactionTooLarge,  // Do less in one transaction.
  kReadersFull,          // End read transactions, or open with a larger readers_max.
  kTooManySpaces,        // Open with a larger spaces_max.

  // Others, or the way to them, are at fault.
  kConflict,        // Another transaction came first; nothing was written. Run it again.
  kUnavailable,     // Nothing was written. Safe to try again.
  kOutcomeUnknown,  // A commit may or may not have happened. Read before you decide.
  kLocked,          // The directory belongs to another opener: process `holder_pid`.
  kNotFound,        // There is no store here to open for reading.
  kCorrupt,         // What is stored is not what was written: restore a backup.
  kIo,              // The operating system refused: `system_code` says why. Abort.
};

struct Error {
  ErrorCode code;
  int system_code = 0;          // errno, or the storage library's own (negative) number; 0: none
  std::int64_t holder_pid = 0;  // kLocked only; 0: not known

  friend bool operator==(const Error&, const Error&) = default;
};

// A sentence for people, without user data.
[[nodiscard]] std::string to_string(const Error& error);

}  // namespace cadastre::kv
