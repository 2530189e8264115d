#include "kv/error.h"

#include <string>
#include <system_error>

namespace cadastre::kv {
namespace {

const char* sentence(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidKey: return "a key has at least one byte";
    case ErrorCode::kKeyTooLong: return "the key is longer than the store takes";
    case ErrorCode::kValueTooLarge: return "the value is larger than the store takes";
    case ErrorCode::kInvalidName:
      return "the name of a key space has 1 to 255 bytes, none of them zero";
    case ErrorCode::kReadOnly: return "the store is open for reading only";
    case ErrorCode::kStaleCursor: return "the transaction changed since the cursor was placed";
    case ErrorCode::kEnded: return "the transaction has ended or failed before";
    case ErrorCode::kBusy: return "another transaction is open and has to end first";
    case ErrorCode::kMapFull: return "the store has reached its size: it has to grow";
    case ErrorCode::kDiskFull: return "the device is full";
    case ErrorCode::kTransactionTooLarge: return "the transaction has changed too much";
    case ErrorCode::kReadersFull: return "too many read transactions are open";
    case ErrorCode::kTooManySpaces: return "the store has as many key spaces as it was opened for";
    case ErrorCode::kConflict: return "another transaction came first";
    case ErrorCode::kUnavailable: return "the store is not available now";
    case ErrorCode::kOutcomeUnknown: return "the commit may or may not have happened";
    case ErrorCode::kLocked: return "the directory is in use";
    case ErrorCode::kNotFound: return "there is no store here";
    case ErrorCode::kCorrupt: return "what is stored is damaged or of another format";
    case ErrorCode::kIo: return "the operating system refused";
  }
  return "an unknown error";
}

}  // namespace

std::string to_string(const Error& error) {
  std::string text = sentence(error.code);
  if (error.code == ErrorCode::kLocked && error.holder_pid != 0)
    text += " by process " + std::to_string(error.holder_pid);
  if (error.system_code > 0)
    text += ": " + std::generic_category().message(error.system_code);
  else if (error.system_code < 0)
    text += " (code " + std::to_string(error.system_code) + ")";
  return text;
}

}  // namespace cadastre::kv
