// Importing the rolled layout (3.8): numbered segments, of which only the newest was ever written.
//
//   segment   u32_be key_len || key || u16_be shard || u16_be number      01 || portable roaring
//   head      u32_be key_len || key || u16_be shard                       u16_be greatest number; may be missing
//
// An id may be in several segments of its shard, and a shard chosen by another hash: every set is read
// whole and its ids find their places anew.
//
//   ImportReport report;
//   do {
//     auto txn = CAD_TRY(store.begin_write());
//     auto table = CAD_TRY(TableWriter::open(txn->writer(space)));
//     report = CAD_TRY(import_rolled(source, table, {.from = report.next}));
//     CAD_TRY(txn->commit());
//   } while (report.next);
//
// Importing unites: what is imported twice is there once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/table_writer.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

// A missing number may be a lost segment.
enum class AcceptGaps : std::uint8_t {
  kNo,
  kYes,
};

// The number that is due next.
struct ImportCursor {
  base::Bytes base_key;
  Shard shard;
  std::uint16_t segment = 0;

  friend bool operator==(const ImportCursor&, const ImportCursor&) = default;
};

struct ImportOptions {
  AcceptGaps gaps = AcceptGaps::kNo;
  std::size_t budget_bytes = std::size_t{64} << 20;  // what one call reads, about
  std::optional<ImportCursor> from = {};
};

struct ImportReport {
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;                // values read
  std::uint64_t added = 0;                // ids that the table did not have
  std::uint64_t gaps = 0;                 // numbers that were missing, and heads that differed
  std::optional<ImportCursor> next = {};  // none: all is there
};

// What is wrong with the source.
enum class RolledFault : std::uint8_t {
  kForeignRecord,  // Of no rolled table: nothing is imported from a mixture.
  kGap,            // A number is missing below this segment; AcceptGaps goes on.
  kHeadDiffers,    // The head is not the greatest number there is; AcceptGaps goes on.
  kBadHead,        // A head has two bytes.
  kBadForm,        // A value that is not form 1.
};
[[nodiscard]] std::string_view name(RolledFault fault) noexcept;

struct ImportError {
  std::variant<RolledFault, Error> cause;
  base::Bytes raw_key;  // of the source, if it is the source's fault

  friend bool operator==(const ImportError&, const ImportError&) = default;
};
[[nodiscard]] std::string to_string(const ImportError& error);

// After an error the target's transaction is good for abort only. The source does not belong to it.
[[nodiscard]] base::Result<ImportReport, ImportError> import_rolled(kv::Reader& source,
                                                                    TableWriter& target,
                                                                    const ImportOptions& options);

}  // namespace cadastre::bitmap
