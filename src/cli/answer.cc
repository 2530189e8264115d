#include "cli/answer.h"

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/json_text.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "shard/hint.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {

Result<std::string, CommandError> key_answer(std::optional<base::ByteView> key, Form form) {
  const bool as_json = form.format == Format::kJson;
  if (!key) return as_json ? R"({"key":null})" : "none";
  if (!is_printable(*key, form.keys)) return base::fail(not_utf8("the resulting key"));
  std::string text;
  append_key(text, *key, form.keys);
  if (!as_json) return visible_text(text);
  std::string line = R"({"key":)";
  append_json_string(line, text);
  line += '}';
  return line;
}

std::string row_answer(shard::ManifestRowKey row, Format format) {
  if (format == Format::kHuman) return fmt::format("manifest {}, row {}", row.manifest_id, row.row);
  std::string line = R"({"manifest":)";
  append_json_u64(line, row.manifest_id);
  line += R"(,"row":)";
  append_json_u64(line, row.row);
  line += '}';
  return line;
}

std::string metadata_answer(base::ByteView metadata, Format format) {
  if (format == Format::kHuman) return base::to_hex(metadata);
  return fmt::format(R"({{"metadata":"{}"}})", base::to_hex(metadata));
}

std::string decoded_answer(const shard::ShardMetadata& metadata, Format format) {
  const std::string extra = base::to_hex(metadata.connector_extra);
  if (format == Format::kHuman) {
    return fmt::format("hint   {}\nextra  {}", hint_text(metadata.hint),
                       extra.empty() ? "none" : extra);
  }
  std::string line = R"({"hint":)";
  append_hint_json(line, metadata.hint);
  line += R"(,"extra":")";
  line += extra;
  line += R"("})";
  return line;
}

std::string hint_answer(const shard::ShardHint& hint, Format format) {
  if (format == Format::kHuman) return hint_text(hint);
  std::string line = R"({"hint":)";
  append_hint_json(line, hint);
  line += '}';
  return line;
}

std::string valid_answer(std::uint64_t shards, Format format) {
  if (format == Format::kJson) return fmt::format(R"({{"valid":true,"shards":{}}})", shards);
  return fmt::format("a valid manifest of {} shard{}", shards, shards == 1 ? "" : "s");
}

void append_hint_json(std::string& out, const shard::ShardHint& hint) {
  switch (hint.kind()) {
    case shard::ShardHint::Kind::kRange: out += R"({"kind":"range"})"; return;
    case shard::ShardHint::Kind::kPrefix:
      out += R"({"kind":"prefix","prefix":")";
      base::append_hex(out, hint.prefix_bytes());
      out += R"("})";
      return;
    case shard::ShardHint::Kind::kManifest: {
      const shard::ManifestRows rows = hint.manifest_rows();
      out += R"({"kind":"manifest","manifest":)";
      append_json_u64(out, rows.manifest_id);
      out += R"(,"start_row":)";
      append_json_u64(out, rows.start_row);
      out += R"(,"end_row":)";
      append_json_u64(out, rows.end_row);
      out += '}';
      return;
    }
  }
}

std::string hint_text(const shard::ShardHint& hint) {
  switch (hint.kind()) {
    case shard::ShardHint::Kind::kRange: return "range";
    case shard::ShardHint::Kind::kPrefix:
      return fmt::format("prefix {}", base::to_hex(hint.prefix_bytes()));
    case shard::ShardHint::Kind::kManifest: {
      const shard::ManifestRows rows = hint.manifest_rows();
      return fmt::format("manifest {}, rows {}..{}", rows.manifest_id, rows.start_row,
                         rows.end_row);
    }
  }
  return {};
}

}  // namespace cadastre::cli
