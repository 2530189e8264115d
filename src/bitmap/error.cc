#include "bitmap/error.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/bytes.h"
#include "bitmap/faults.h"
#include "kv/error.h"

namespace cadastre::bitmap {
namespace {

std::string_view advice(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "fix the call; nothing was attempted";
    case ErrorCode::kConfigMismatch: return "open with the stored settings, or rebuild";
    case ErrorCode::kCorrupt: return "abort, run verify, restore a backup";
    case ErrorCode::kUnsupportedForm: return "written by a newer release: upgrade";
    case ErrorCode::kStale: return "the transaction has changed: open the stream again";
    case ErrorCode::kFull: return "abort; enlarge the store or do less in one transaction";
    case ErrorCode::kStorage: return "abort and see the storage error";
  }
  return "unknown";
}

std::string text_of(const Error::Cause& cause) {
  return std::visit(
      [](const auto& what) -> std::string {
        using Cause = std::remove_cvref_t<decltype(what)>;
        if constexpr (std::is_same_v<Cause, std::monostate>) {
          return "";
        } else if constexpr (std::is_same_v<Cause, kv::Error>) {
          return to_string(what);
        } else {
          return std::string(name(what));
        }
      },
      cause);
}

Error at_fault(ErrorCode code, Error::Cause cause, base::ByteView raw_key) {
  return {code, std::move(cause), base::to_owned(raw_key)};
}

}  // namespace

std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kConfigMismatch: return "config_mismatch";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kUnsupportedForm: return "unsupported_form";
    case ErrorCode::kStale: return "stale";
    case ErrorCode::kFull: return "full";
    case ErrorCode::kStorage: return "storage";
  }
  return "unknown";
}

std::string_view name(Misuse misuse) noexcept {
  switch (misuse) {
    case Misuse::kConfig: return "a setting is out of its range";
    case Misuse::kKeyTooLong: return "a key has at most 497 bytes";
    case Misuse::kBadRange: return "the range is empty or too wide";
    case Misuse::kTooManyOperands: return "a set operation has at most 256 operands";
    case Misuse::kMixedDirections: return "operands run in different directions";
    case Misuse::kTableExists: return "there is a table already";
    case Misuse::kResultTooLarge: return "the set is larger than the caller allows";
    case Misuse::kNoSuchTable: return "there is no such table";
    case Misuse::kUnsortedIds: return "the ids do not ascend strictly";
    case Misuse::kTooManyBuckets: return "a range has at most 4096 buckets that are present";
    case Misuse::kBadCopyCursor: return "the target does not end where the copy goes on";
    case Misuse::kBadPortableBytes: return "not a portable 64-bit roaring bitmap";
  }
  return "unknown";
}

Error misuse(Misuse misuse) {
  return {ErrorCode::kInvalidArgument, misuse, {}};
}

Error corrupt(KeyFault fault, base::ByteView raw_key) {
  return at_fault(ErrorCode::kCorrupt, fault, raw_key);
}

Error corrupt(ValueFault fault, base::ByteView raw_key) {
  const bool newer = fault == ValueFault::kBadForm;
  return at_fault(newer ? ErrorCode::kUnsupportedForm : ErrorCode::kCorrupt, fault, raw_key);
}

Error corrupt(RecordFault fault, base::ByteView raw_key) {
  const bool newer = fault == RecordFault::kUnsupported;
  return at_fault(newer ? ErrorCode::kUnsupportedForm : ErrorCode::kCorrupt, fault, raw_key);
}

Error corrupt(PartitionFault fault, base::ByteView raw_key) {
  return at_fault(ErrorCode::kCorrupt, fault, raw_key);
}

Error stale() {
  return {ErrorCode::kStale, {}, {}};
}

Error config_mismatch() {
  return {ErrorCode::kConfigMismatch, {}, {}};
}

Error from_storage(const kv::Error& error) {
  switch (error.code) {
    case kv::ErrorCode::kStaleCursor: return {ErrorCode::kStale, error, {}};
    case kv::ErrorCode::kMapFull:
    case kv::ErrorCode::kDiskFull:
    case kv::ErrorCode::kTransactionTooLarge:
    case kv::ErrorCode::kValueTooLarge: return {ErrorCode::kFull, error, {}};
    default: return {ErrorCode::kStorage, error, {}};
  }
}

std::string to_string(const Error& error) {
  std::string text(name(error.code));
  if (const std::string cause = text_of(error.cause); !cause.empty()) text += ": " + cause;
  if (!error.raw_key.empty()) text += " (record " + base::to_hex(error.raw_key) + ")";
  text += "; ";
  text += advice(error.code);
  return text;
}

}  // namespace cadastre::bitmap
