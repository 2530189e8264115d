#include "cli/bitmap_request.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_sets.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/key_text.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

Result<std::optional<std::uint64_t>, CommandError> parse_setting(
    const std::optional<std::string>& typed, std::string_view what, Bounds bounds) {
  if (!typed) return std::nullopt;
  const std::uint64_t value = CAD_TRY(parse_argument_u64(*typed, what));
  if (value >= bounds.least && value <= bounds.most) return value;
  return base::fail(
      usage_error(fmt::format("{} is a number from {} to {}", what, bounds.least, bounds.most)));
}

}  // namespace

Result<std::vector<bitmap::Id>, CommandError> parse_ids(const JsonFields& request) {
  const auto values = CAD_TRY(request.u64s("ids"));
  std::vector<bitmap::Id> ids;
  ids.reserve(values.size());
  for (const std::uint64_t value : values)
    ids.emplace_back(value);
  return ids;
}

Result<IdPage, CommandError> parse_id_page(const JsonFields& request) {
  IdPage page;
  if (request.has("from")) page.from = bitmap::Id {
      CAD_TRY(request.u64("from"))
    };
  if (request.has("limit")) page.limit = CAD_TRY(request.u64("limit"));
  return page;
}

Result<KeyPage, CommandError> parse_key_page(const JsonFields& request, KeyForm keys) {
  KeyPage page;
  if (request.has("prefix")) page.prefix = CAD_TRY(request.key("prefix", keys));
  if (request.has("after")) page.after = CAD_TRY(request.key("after", keys));
  if (request.has("limit")) page.limit = CAD_TRY(request.u64("limit"));
  if (page.limit == 0) return base::fail(bad_request("the field \"limit\" is at least 1"));
  return page;
}

Result<SetRequest, CommandError> parse_set_request(const JsonFields& request,
                                                   SetKind kind,
                                                   KeyForm keys) {
  SetRequest set;
  set.kind = kind;
  set.keys = CAD_TRY(request.keys("keys", keys));
  if (set.keys.empty()) return base::fail(bad_request("the field \"keys\" has no key"));
  set.page = CAD_TRY(parse_id_page(request));
  if (request.has("count_only") && CAD_TRY(request.flag("count_only"))) set.wanted = Wanted::kCount;
  return set;
}

Result<std::vector<bitmap::Id>, CommandError> parse_typed_ids(
    const std::vector<std::string>& typed) {
  std::vector<bitmap::Id> ids;
  ids.reserve(typed.size());
  for (const std::string& digits : typed)
    ids.emplace_back(CAD_TRY(parse_argument_u64(digits, "ID")));
  return ids;
}

Result<BitmapTable, CommandError> parse_table(const TypedTable& typed) {
  if (!is_printable(base::as_bytes(typed.name), KeyForm::kText)) {
    return base::fail(usage_error("--table is not valid UTF-8"));
  }
  BitmapTable table;
  table.name = typed.name;
  const auto shards =
      CAD_TRY(parse_setting(typed.shards, "--shards",
                            {bitmap::kShardCountMin, std::numeric_limits<std::uint16_t>::max()}));
  if (shards) table.shards = static_cast<std::uint16_t>(*shards);
  const auto bytes =
      CAD_TRY(parse_setting(typed.segment_bytes, "--segment-bytes",
                            {bitmap::kSegmentBytesLeast, bitmap::kSegmentBytesMost}));
  if (bytes) table.segment_bytes = static_cast<std::uint32_t>(*bytes);
  return table;
}

}  // namespace cadastre::cli
