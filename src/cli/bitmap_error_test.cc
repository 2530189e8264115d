#include "cli/bitmap_error.h"

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "cli/command_error.h"
#include "kv/error.h"

namespace cadastre::cli {
namespace {

using bitmap::Misuse;
using KvCode = kv::ErrorCode;

const base::ByteView kRecord = base::as_bytes("a secret key");

CommandError of_storage(KvCode code) {
  return from_bitmap(bitmap::from_storage({.code = code}));
}

TEST(BitmapError, HasACodeAndSaysWhetherToRetry) {
  struct Case {
    CommandError error;
    const char* code;
    Retry retry;
  };
  const std::vector<Case> cases = {
      {from_bitmap(bitmap::misuse(Misuse::kKeyTooLong)), "key_too_long", Retry::kNever},
      {from_bitmap(bitmap::misuse(Misuse::kTooManyOperands)), "too_many_keys", Retry::kNever},
      {from_bitmap(bitmap::misuse(Misuse::kResultTooLarge)), "result_too_large", Retry::kNever},
      {from_bitmap(bitmap::misuse(Misuse::kBadPortableBytes)), "not_portable", Retry::kNever},
      {from_bitmap(bitmap::misuse(Misuse::kConfig)), "invalid_argument", Retry::kNever},
      {from_bitmap(bitmap::config_mismatch()), "config_mismatch", Retry::kNever},
      {from_bitmap(bitmap::stale()), "stale", Retry::kNow},
      {from_bitmap(bitmap::corrupt(bitmap::KeyFault::kTruncated, kRecord)), "corrupt",
       Retry::kNever},
      {from_bitmap(bitmap::corrupt(bitmap::ValueFault::kBadChecksum, kRecord)), "corrupt",
       Retry::kNever},
      {from_bitmap(bitmap::corrupt(bitmap::PartitionFault::kOversize, kRecord)), "corrupt",
       Retry::kNever},
      {from_bitmap(bitmap::corrupt(bitmap::ValueFault::kBadForm, kRecord)), "unsupported_form",
       Retry::kNever},
      {from_bitmap(bitmap::corrupt(bitmap::RecordFault::kUnsupported, kRecord)), "unsupported_form",
       Retry::kNever},
      {of_storage(KvCode::kLocked), "locked", Retry::kLater},
      {of_storage(KvCode::kNotFound), "no_database", Retry::kNever},
      {of_storage(KvCode::kCorrupt), "corrupt", Retry::kNever},
      {of_storage(KvCode::kInvalidName), "bad_table_name", Retry::kNever},
      {of_storage(KvCode::kTooManySpaces), "too_many_tables", Retry::kNever},
      {of_storage(KvCode::kReadOnly), "read_only", Retry::kNever},
      {of_storage(KvCode::kMapFull), "full", Retry::kNow},
      {of_storage(KvCode::kDiskFull), "disk_full", Retry::kLater},
      {of_storage(KvCode::kTransactionTooLarge), "transaction_too_large", Retry::kNever},
      {of_storage(KvCode::kReadersFull), "busy", Retry::kLater},
      {of_storage(KvCode::kConflict), "conflict", Retry::kNow},
      {of_storage(KvCode::kUnavailable), "unavailable", Retry::kLater},
      {of_storage(KvCode::kOutcomeUnknown), "outcome_unknown", Retry::kLater},
      {of_storage(KvCode::kIo), "io", Retry::kLater},
      {of_storage(KvCode::kEnded), "storage", Retry::kNever},
      {of_storage(KvCode::kStaleCursor), "stale", Retry::kNever},
      {of_storage(KvCode::kValueTooLarge), "full", Retry::kNever},
      {not_portable(bitmap::ValueFault::kTruncated), "not_portable", Retry::kNever},
  };
  for (const Case& row : cases) {
    EXPECT_EQ(row.error.code, row.code);
    EXPECT_EQ(row.error.retry, row.retry) << row.code;
    EXPECT_FALSE(row.error.detail.empty()) << row.code;
    EXPECT_EQ(row.error.detail.find("secret"), std::string::npos) << row.code;
  }
}

//
TEST(BitmapError, NamesTheProcessThatHoldsTheDirectory) {
  const CommandError error =
      from_bitmap(bitmap::from_storage({.code = KvCode::kLocked, .holder_pid = 4711}));
  EXPECT_NE(error.detail.find("process 4711"), std::string::npos);
  EXPECT_EQ(error.fields, (std::vector<ErrorField>{{"pid", std::uint64_t{4711}}}));
}

TEST(BitmapError, TellsWhatTheSystemSaid) {
  const auto denied =
      from_bitmap(bitmap::from_storage({.code = KvCode::kIo, .system_code = EACCES}));
  EXPECT_NE(denied.detail.find("Permission denied"), std::string::npos);
  const auto taken =
      from_bitmap(bitmap::from_storage({.code = KvCode::kIo, .system_code = EEXIST}));
  EXPECT_EQ(taken.code, "already_exists");
}

}  // namespace
}  // namespace cadastre::cli
