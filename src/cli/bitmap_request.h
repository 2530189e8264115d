// Requests to a bitmap table, as typed values: what a batch's lines and typed arguments are read into.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bitmap/ids.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_sets.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// ---- Fields of a request -----------------------------------------------------------------------

// "ids": numbers or their digits, in any order.
[[nodiscard]] Result<std::vector<bitmap::Id>, CommandError> parse_ids(const JsonFields& request);

// "from" and "limit", each of which may be absent.
[[nodiscard]] Result<IdPage, CommandError> parse_id_page(const JsonFields& request);

// "prefix", "after" and "limit", each of which may be absent.
[[nodiscard]] Result<KeyPage, CommandError> parse_key_page(const JsonFields& request, KeyForm keys);

// "keys", "count_only", "from" and "limit"; all but the keys may be absent.
[[nodiscard]] Result<SetRequest, CommandError> parse_set_request(const JsonFields& request,
                                                                 SetKind kind,
                                                                 KeyForm keys);

// ---- Typed arguments ---------------------------------------------------------------------------

[[nodiscard]] Result<std::vector<bitmap::Id>, CommandError> parse_typed_ids(
    const std::vector<std::string>& typed);

// --table, --shards and --segment-bytes as they were typed.
struct TypedTable {
  std::string_view name;
  const std::optional<std::string>& shards;
  const std::optional<std::string>& segment_bytes;
};
[[nodiscard]] Result<BitmapTable, CommandError> parse_table(const TypedTable& typed);

}  // namespace cadastre::cli
