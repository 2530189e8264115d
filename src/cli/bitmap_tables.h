// Whole tables: what they hold, and whether it is sound.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/config.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// The table that was named; else every table of the database.
[[nodiscard]] std::vector<std::string> tables_of(const bitmap::BitmapDatabase& database,
                                                 const std::optional<std::string>& named);

// ---- stats -------------------------------------------------------------------------------------

struct TableStats {
  std::string table;
  bitmap::Config config;
  std::uint64_t keys = 0;
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;  // of segments, as stored
  std::uint64_t ids = 0;

  // How full segments are: 1 if all of them are as large as they may be.
  [[nodiscard]] double fill() const noexcept;
};

// Counted anew, key by key.
[[nodiscard]] Result<TableStats, CommandError> count_table(bitmap::BitmapDatabase& database,
                                                           const std::string& table);

// One {"table":T,"keys":N,"segments":N,"bytes":N,"ids":N,"fill":F,"shards":N,"segment_bytes":N} on each
// line, or a table
[[nodiscard]] Result<std::string, CommandError> stats_answer(const std::vector<TableStats>& tables,
                                                             Form form);

// ---- verify ------------------------------------------------------------------------------------

struct TableFinding {
  std::string table;
  base::Bytes record;  // the stored key; empty if no single record is at fault
  std::string what;    // in snake case
  bool is_error = true;
};

struct VerifyReport {
  std::size_t tables = 0;
  std::vector<TableFinding> findings;  // at most kFindingsMax: then it stopped
  std::size_t errors = 0;

  [[nodiscard]] bool is_complete() const noexcept;
};

// Looks at every stored byte. Damage is a finding, not an error.
[[nodiscard]] Result<VerifyReport, CommandError> verify_tables(
    bitmap::BitmapDatabase& database, const std::vector<std::string>& tables);

// One {"table":T,"record":HEX,"key":K,"what":W,"error":true} for each finding, then
// {"tables":N,"errors":N,"remarks":N,"complete":true}; for people a table and a sentence
[[nodiscard]] std::string verify_answer(const VerifyReport& report, Form form);

// What to say in the end if there are errors.
[[nodiscard]] Result<void, CommandError> verdict(const VerifyReport& report);

}  // namespace cadastre::cli
