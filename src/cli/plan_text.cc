#include "cli/plan_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/answer.h"
#include "cli/json_text.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "cli/shard_plan.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kId = "id";
constexpr std::string_view kStart = "start";
constexpr std::string_view kEnd = "end";
constexpr std::string_view kMetadata = "metadata";

void append_json_key(std::string& out, base::ByteView key, KeyForm keys) {
  if (keys == KeyForm::kText) return append_json_string(out, base::as_text(key));
  out += '"';
  base::append_hex(out, key);
  out += '"';
}

void append_cell(std::string& out, std::string_view text, std::size_t columns) {
  out += text;
  out.append(columns - std::min(columns, column_count(text)) + 2, ' ');
}

}  // namespace

void append_plan_json(std::string& out, const PlannedShard& planned, KeyForm keys) {
  out += R"({"id":)";
  append_json_u64(out, planned.id);
  out += R"(,"start":)";
  append_json_key(out, planned.start, keys);
  out += R"(,"end":)";
  append_json_key(out, planned.end, keys);
  out += R"(,"hint":)";
  append_hint_json(out, planned.hint);
  out += R"(,"metadata":")";
  base::append_hex(out, planned.metadata);
  out += R"("})";
}

PlanTable::PlanTable(std::uint64_t shards, KeyForm keys) noexcept
    : keys_(keys),
      id_columns_(std::max(kId.size(), fmt::formatted_size("{}", shards - 1))),
      start_columns_(kStart.size()),
      end_columns_(kEnd.size()),
      metadata_columns_(kMetadata.size()) {}

void PlanTable::widen_for(const PlannedShard& planned) {
  start_columns_ = std::max(start_columns_, column_count(bound_text(planned.start, keys_)));
  end_columns_ = std::max(end_columns_, column_count(bound_text(planned.end, keys_)));
  metadata_columns_ = std::max(metadata_columns_, 2 * planned.metadata.size());
}

void PlanTable::append_title(std::string& out) const {
  fmt::format_to(std::back_inserter(out), "{:>{}}  ", kId, id_columns_);
  append_cell(out, kStart, start_columns_);
  append_cell(out, kEnd, end_columns_);
  append_cell(out, kMetadata, metadata_columns_);
  out += "hint";
}

void PlanTable::append_row(std::string& out, const PlannedShard& planned) const {
  fmt::format_to(std::back_inserter(out), "{:>{}}  ", planned.id, id_columns_);
  append_cell(out, bound_text(planned.start, keys_), start_columns_);
  append_cell(out, bound_text(planned.end, keys_), end_columns_);
  append_cell(out, base::to_hex(planned.metadata), metadata_columns_);
  out += hint_text(planned.hint);
}

}  // namespace cadastre::cli
