// Reads shards as `shard plan` prints them and holds them against the rules of a manifest.
//
// Of each line the fields `id`, `start`, `end` and, where present, `metadata`, `last_key` and
// `token` count; others, `hint` among them, are ignored. Lines beyond a manifest's limit are
// counted and not kept.

#pragma once

#include <cstdint>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// How many shards the manifest has, or the first error. Borrows the descriptor.
[[nodiscard]] Result<std::uint64_t, CommandError> check_manifest(int descriptor, KeyForm keys);

}  // namespace cadastre::cli
