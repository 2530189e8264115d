// A log's storage on a disk of bytes, for the simulator: log/storage/memory_storage.h, seen from above.

#pragma once

#include "log/storage/memory_storage.h"

namespace cadastre::node {

using log::MemoryDisk;
using log::MemoryStorage;

}  // namespace cadastre::node
