// Copying tables from one store to another: the way to a larger disk, to other settings, or from one
// backend to the next (8).
//
// All tables are read from one snapshot. Before the first write it is known that none of them is in the
// way of another; the names of all that are come back together. Each table goes over in as many
// transactions as the budget asks for, and is no table before its last one.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bitmap/copy_table.h"
#include "bitmap/error.h"
#include "kv/store.h"

namespace cadastre::bitmap {

struct TablesCopy {
  std::vector<std::string>
      conflicts;  // In the target already. If there is any, nothing was copied.
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;  // values read
};

// kNoSuchTable if the source lacks one of them. The target grows as it must. Two different stores.
[[nodiscard]] base::Result<TablesCopy, Error> copy_tables(kv::Store& source,
                                                          kv::Store& target,
                                                          std::span<const std::string> tables,
                                                          const CopyOptions& options = {});

}  // namespace cadastre::bitmap
