#include "cli/shard_check.h"

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "cli/command_error.h"
#include "cli/manifest_file.h"
#include "cli/options.h"
#include "shard/manifest.h"

namespace cadastre::cli {

Result<std::uint64_t, CommandError> check_manifest(int descriptor, KeyForm keys) {
  const auto shards = CAD_TRY(read_manifest(descriptor, keys, MissingIds::kRefused));
  std::vector<std::uint32_t> order(shards.size());
  const auto valid = shard::validate_manifest(to_inputs(shards), order);
  if (!valid) return base::fail(from_algebra(valid.error()));
  return shards.size();
}

}  // namespace cadastre::cli
