// Error: what an operation of a table can answer instead of its result (3.9). Seven codes, each of
// which says what the caller may do; the detail is for whoever looks for the cause.
//
// One function for each boundary translates the faults below it. No fault is dropped, and none
// becomes an empty set.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/faults.h"
#include "kv/error.h"

namespace cadastre::bitmap {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  // Fix the call; nothing was attempted and the transaction goes on.
  kConfigMismatch,   // Open with the stored settings, or rebuild.
  kCorrupt,          // Abort, run verify, restore.
  kUnsupportedForm,  // Written by a newer release: upgrade.
  kStale,            // The transaction changed under a stream: open the stream again.
  kFull,             // Abort; enlarge the store, or do less in one transaction.
  kStorage,          // As the kv error says: retry, or read first.
};

[[nodiscard]] std::string_view name(ErrorCode code) noexcept;

// What a caller did wrong.
enum class Misuse : std::uint8_t {
  kConfig,      // A setting is out of its range, or the backend cannot keep such values.
  kKeyTooLong,  // Over kBaseKeyBytesMax bytes.
  kBadRange,    // The first id is above the last, or the range is wider than one call may change.
  kTooManyOperands,  // Over kOperandsMax.
  kMixedDirections,  // Operands of one set operation run in different directions.
  kTableExists,      // A table is created where records are.
  kResultTooLarge,   // The set does not fit the bytes that the caller allows.
  kNoSuchTable,      // There is no table of this name.
  kUnsortedIds,      // Ids that should ascend strictly do not.
  kTooManyBuckets,   // Over kBucketsMax are present in the range: ask for less of it.
  kBadCopyCursor,    // A copy goes on from where the target does not end.
  kBadPortableBytes,  // What should be a portable bitmap is none; the ValueFault is lost to the caller.
};

[[nodiscard]] std::string_view name(Misuse misuse) noexcept;

struct Error {
  using Cause = std::
      variant<std::monostate, Misuse, KeyFault, ValueFault, RecordFault, PartitionFault, kv::Error>;

  ErrorCode code;
  Cause cause;
  base::Bytes raw_key;  // Of the record at fault; may be empty.

  friend bool operator==(const Error&, const Error&) = default;
};

[[nodiscard]] Error misuse(Misuse misuse);
[[nodiscard]] Error corrupt(KeyFault fault, base::ByteView raw_key);
[[nodiscard]] Error corrupt(ValueFault fault, base::ByteView raw_key);  // or kUnsupportedForm
[[nodiscard]] Error corrupt(RecordFault fault, base::ByteView raw_key);
[[nodiscard]] Error corrupt(PartitionFault fault, base::ByteView raw_key);
template <class Fault>
[[nodiscard]] Error corrupt(const base::Error<Fault>& fault, base::ByteView raw_key) {
  return corrupt(fault.code, raw_key);
}
[[nodiscard]] Error stale();
[[nodiscard]] Error config_mismatch();
// kFull where there is no room, kStale for a cursor that was left behind, else kStorage.
[[nodiscard]] Error from_storage(const kv::Error& error);

// A sentence for people. Keys are the caller's own and appear in hexadecimal.
[[nodiscard]] std::string to_string(const Error& error);

}  // namespace cadastre::bitmap
