#include "cli/bitmap_tables.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/error.h"
#include "bitmap/key_codec.h"
#include "bitmap/table_reader.h"
#include "bitmap/verify.h"
#include "cli/bitmap_answer.h"
#include "cli/bitmap_error.h"
#include "cli/command_error.h"
#include "cli/json_answer.h"
#include "cli/key_text.h"
#include "cli/limits.h"
#include "cli/options.h"
#include "cli/text_table.h"

namespace cadastre::cli {
namespace {

using Done = Result<void, bitmap::Error>;

std::string_view name_of(bitmap::Remark remark) noexcept {
  switch (remark) {
    case bitmap::Remark::kWithoutChecksum: return "without checksum";
    case bitmap::Remark::kNotCanonical: return "not canonical";
  }
  return "unknown";
}

std::string snake_case(std::string_view words) {
  std::string text(words);
  std::ranges::replace(text, ' ', '_');
  return text;
}

std::string what_of(const bitmap::Finding& finding) {
  return std::visit(
      [](auto what) {
        if constexpr (std::is_same_v<decltype(what), bitmap::Remark>) {
          return snake_case(name_of(what));
        } else {
          return snake_case(name(what));
        }
      },
      finding.what);
}

// A table that cannot even be opened: its descriptor is damaged, or missing beside records.
std::optional<TableFinding> finding_of(const std::string& table, const bitmap::Error& error) {
  switch (error.code) {
    case bitmap::ErrorCode::kConfigMismatch: return TableFinding{table, {}, "descriptor_missing"};
    case bitmap::ErrorCode::kCorrupt:
    case bitmap::ErrorCode::kUnsupportedForm:
      return TableFinding{table, error.raw_key, snake_case(name(error.code)) + "_descriptor"};
    case bitmap::ErrorCode::kInvalidArgument:
    case bitmap::ErrorCode::kStale:
    case bitmap::ErrorCode::kFull:
    case bitmap::ErrorCode::kStorage: break;
  }
  return std::nullopt;
}

struct RecordText {
  std::string kind;
  std::string shard = "-";
  std::string from = "-";  // the least id that a segment may have
  std::optional<base::Bytes> key;
};

RecordText describe(base::ByteView record) {
  if (record.empty()) return {"table", "-", "-", std::nullopt};
  const auto decoded = bitmap::decode_key(record);
  if (!decoded) return {"unknown", "-", "-", std::nullopt};
  if (const auto* const segment = std::get_if<bitmap::SegmentKey>(&*decoded)) {
    return {"segment", to_string(segment->shard), to_string(segment->fence),
            base::to_owned(segment->base_key)};
  }
  if (const auto* const stats = std::get_if<bitmap::StatsKey>(&*decoded)) {
    return {"stats", to_string(stats->shard), "-", base::to_owned(stats->base_key)};
  }
  if (const auto* const rolled = std::get_if<bitmap::RolledSegmentKey>(&*decoded)) {
    return {"rolled", to_string(rolled->shard), "-", base::to_owned(rolled->base_key)};
  }
  return {"descriptor", "-", "-", std::nullopt};
}

// Nobody's key keeps the others from being listed: what cannot be printed is null, and in the record.
std::string finding_json(const TableFinding& finding, KeyForm keys) {
  const RecordText record = describe(finding.record);
  const bool has_key = record.key && is_printable(*record.key, keys);
  JsonAnswer line(keys);
  line.text("table", visible_text(finding.table))
      .hex("record", finding.record)
      .text("kind", record.kind)
      .key_or_null("key", has_key ? std::optional<base::ByteView>(*record.key) : std::nullopt)
      .text("what", finding.what)
      .flag("error", finding.is_error);
  return std::move(line).finish().value_or(std::string());
}

std::string summary_json(const VerifyReport& report) {
  JsonAnswer line(KeyForm::kText);
  line.number("tables", report.tables)
      .number("errors", report.errors)
      .number("remarks", report.findings.size() - report.errors)
      .flag("complete", report.is_complete());
  return std::move(line).finish().value_or(std::string());
}

std::string words_of_finding(const TableFinding& finding) {
  std::string words = finding.what;
  std::ranges::replace(words, '_', ' ');
  return finding.is_error ? words : words + " (no error)";
}

std::string finding_table(const VerifyReport& report, KeyForm keys) {
  TextTable table({"table", "key", "record", "shard", "from", "finding"});
  for (const TableFinding& finding : report.findings) {
    RecordText record = describe(finding.record);
    table.add({visible_text(finding.table), record.key ? bound_text(*record.key, keys) : "-",
               std::move(record.kind), std::move(record.shard), std::move(record.from),
               words_of_finding(finding)});
  }
  return table.text();
}

std::string sentence(const VerifyReport& report) {
  const std::size_t remarks = report.findings.size() - report.errors;
  std::string text =
      fmt::format("{} in {}", report.errors == 0 ? "no errors" : counted(report.errors, "error"),
                  counted(report.tables, "table"));
  if (remarks != 0) text += fmt::format(", and {}", counted(remarks, "remark"));
  if (!report.is_complete()) text += fmt::format("; stopped at {} findings", kFindingsMax);
  return text;
}

}  // namespace

std::vector<std::string> tables_of(const bitmap::BitmapDatabase& database,
                                   const std::optional<std::string>& named) {
  if (named) return {*named};
  return database.tables();
}

double TableStats::fill() const noexcept {
  if (segments == 0) return 0;
  return static_cast<double>(bytes) /
         (static_cast<double>(segments) * static_cast<double>(config.segment_bytes_max));
}

Result<TableStats, CommandError> count_table(bitmap::BitmapDatabase& database,
                                             const std::string& table) {
  TableStats stats;
  stats.table = table;
  const auto counted = database.read(table, [&](const bitmap::TableReader& reader) -> Done {
    stats.config = reader.config();
    auto keys = CAD_TRY(reader.keys());
    while (const auto key = CAD_TRY(keys.next())) {
      const bitmap::KeyStats of_key = CAD_TRY(reader.stats(*key));
      stats.keys += 1;
      stats.segments += of_key.segments;
      stats.bytes += of_key.value_bytes;
      stats.ids += of_key.cardinality;
    }
    return {};
  });
  if (!counted) return base::fail(from_bitmap(counted.error()));
  return stats;
}

Result<std::string, CommandError> stats_answer(const std::vector<TableStats>& tables, Form form) {
  if (form.format == Format::kHuman) {
    TextTable text(
        {"table", "keys", "segments", "bytes", "ids", "fill", "shards", "segment bytes"});
    for (const TableStats& table : tables) {
      text.add({visible_text(table.table), std::to_string(table.keys),
                std::to_string(table.segments), std::to_string(table.bytes),
                std::to_string(table.ids), fmt::format("{:.0f} %", 100 * table.fill()),
                std::to_string(table.config.shard_count),
                std::to_string(table.config.segment_bytes_max)});
    }
    return text.text();
  }
  std::string lines;
  for (const TableStats& table : tables) {
    JsonAnswer line(form.keys);
    line.text("table", visible_text(table.table))
        .number("keys", table.keys)
        .number("segments", table.segments)
        .number("bytes", table.bytes)
        .number("ids", table.ids)
        .fraction("fill", table.fill())
        .number("shards", table.config.shard_count)
        .number("segment_bytes", table.config.segment_bytes_max);
    if (!lines.empty()) lines += '\n';
    lines += CAD_TRY(std::move(line).finish());
  }
  return lines;
}

bool VerifyReport::is_complete() const noexcept {
  return findings.size() < kFindingsMax;
}

Result<VerifyReport, CommandError> verify_tables(bitmap::BitmapDatabase& database,
                                                 const std::vector<std::string>& tables) {
  VerifyReport report;
  const auto note = [&report](TableFinding finding) {
    report.errors += finding.is_error ? 1 : 0;
    report.findings.push_back(std::move(finding));
  };
  for (const std::string& table : tables) {
    if (!report.is_complete()) break;
    report.tables += 1;
    std::vector<bitmap::Finding> findings;
    const auto verified = database.read(table, [&](const bitmap::TableReader& reader) -> Done {
      findings = CAD_TRY(reader.verify_all(kFindingsMax - report.findings.size()));
      return {};
    });
    if (!verified) {
      auto finding = finding_of(table, verified.error());
      if (!finding) return base::fail(from_bitmap(verified.error()));
      note(*std::move(finding));
    }
    for (const bitmap::Finding& finding : findings)
      note({table, finding.raw_key, what_of(finding), finding.is_error()});
  }
  return report;
}

std::string verify_answer(const VerifyReport& report, Form form) {
  std::string text;
  if (form.format == Format::kHuman) {
    if (!report.findings.empty()) text = finding_table(report, form.keys) + '\n';
    return text + sentence(report);
  }
  for (const TableFinding& finding : report.findings)
    text += finding_json(finding, form.keys) + '\n';
  return text + summary_json(report);
}

Result<void, CommandError> verdict(const VerifyReport& report) {
  if (report.errors == 0) return {};
  return base::fail(
      CommandError{std::string(name(bitmap::ErrorCode::kCorrupt)),
                   fmt::format("{} found: restore a backup, or rebuild the keys that are named",
                               counted(report.errors, "error"))});
}

}  // namespace cadastre::cli
