// Holds shards as `shard plan` prints them against the rules of a manifest.

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
