// Frames between two nodes of this process: over our transport, and over a bare loopback socket (spec O-14 c).

#pragma once

#include "bench/report.h"

namespace cadastre::bench {

// Round trips, throughput and processor time of both, in alternation.
void add_transport_rows(Report& report);

}  // namespace cadastre::bench
