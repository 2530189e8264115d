// Copying a table into another key space, of the same backend or of another (3.7, 8).
//
//   CopyReport report;
//   do {
//     auto txn = CAD_TRY(target.begin_write());
//     report = CAD_TRY(copy_table(source, txn->writer(space), {}, report.next));
//     CAD_TRY(txn->commit());
//   } while (report.next);
//
// One call is one transaction's worth. Where the settings agree, records are copied byte by byte, each
// after a look at its checksum; otherwise the sets are read as streams and stored anew.
//
// The target's descriptor is written last: what is copied half is no table, and opening it answers
// kConfigMismatch. The source is one snapshot, or does not change between calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "kv/kv.h"

namespace cadastre::bitmap {

struct CopyOptions {
  std::optional<Config> settings = {};  // of the target; those of the source if there are none
  std::size_t budget_bytes = std::size_t{64} << 20;  // what one call reads, about
};

// Where the next call goes on.
struct CopyCursor {
  base::Bytes base_key;
  Shard shard;
  Id fence;
  // What the target ended with, so that a copy goes on only behind itself. Empty if with nothing.
  base::Bytes target_end;

  friend bool operator==(const CopyCursor&, const CopyCursor&) = default;
};

struct CopyReport {
  std::uint64_t keys = 0;               // that this call came to the end of
  std::uint64_t bytes = 0;              // values read
  std::optional<CopyCursor> next = {};  // none: all is there
};

// kTableExists if the target has any record and this is the first call; kBadCopyCursor if it is a later
// one and the target does not end where the copy stopped. Nothing is written then.
[[nodiscard]] base::Result<CopyReport, Error> copy_table(
    kv::Reader& source,
    kv::Writer& target,
    const CopyOptions& options = {},
    const std::optional<CopyCursor>& from = {});

// The same, always through streams.
[[nodiscard]] base::Result<CopyReport, Error> rebuild_into(
    kv::Reader& source,
    kv::Writer& target,
    const Config& settings,
    std::size_t budget_bytes,
    const std::optional<CopyCursor>& from = {});

}  // namespace cadastre::bitmap
