// A look into a log's directory, for the command line: log/storage/log_dump.h, seen from above.

#pragma once

#include "log/storage/log_dump.h"

namespace cadastre::node {

using log::dump_log;
using log::DumpedEntry;
using log::DumpedGroup;
using log::DumpOptions;
using log::DumpSink;

}  // namespace cadastre::node
