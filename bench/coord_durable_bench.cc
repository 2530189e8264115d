// `./dev bench coord-durable`: coordination that survives, against what it stands on and against what one would
// write instead.

#include "bench/coord_durable_bench.h"

#include "bench/report.h"

namespace cadastre::bench {
namespace {

void fill_report(Report& report) {
  add_embedded(report);
  add_takeover(report);
  add_rates(report);
}

}  // namespace
}  // namespace cadastre::bench

int main(int argc, char** argv) {
  return cadastre::bench::run_benchmark("coord-durable", argc, argv, cadastre::bench::fill_report);
}
