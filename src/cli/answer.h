// Answers: what a command prints on success, as one JSON object or as text for people.
//
// Each function returns one answer without its last line end. JSON field names are the contract of
// docs/cli.md; the human forms promise nothing to programs.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"
#include "shard/hint.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {

using base::Result;

// {"key":K}, or {"key":null} for none. `not_utf8` if the form cannot print it.
[[nodiscard]] Result<std::string, CommandError> key_answer(std::optional<base::ByteView> key,
                                                           Form form);

// {"manifest":M,"row":R}
[[nodiscard]] std::string row_answer(shard::ManifestRowKey row, Format format);

// {"metadata":HEX}
[[nodiscard]] std::string metadata_answer(base::ByteView metadata, Format format);

// {"hint":{...},"extra":HEX}
[[nodiscard]] std::string decoded_answer(const shard::ShardMetadata& metadata, Format format);

// {"hint":{...}}
[[nodiscard]] std::string hint_answer(const shard::ShardHint& hint, Format format);

// {"valid":true,"shards":N}
[[nodiscard]] std::string valid_answer(std::uint64_t shards, Format format);

// {"kind":"range"} and so on; for lines that have a hint among their fields.
void append_hint_json(std::string& out, const shard::ShardHint& hint);

// "range", "prefix 61", "manifest 7, rows 0..100".
[[nodiscard]] std::string hint_text(const shard::ShardHint& hint);

}  // namespace cadastre::cli
