// `./dev bench shard`: the algebra against its budgets and against what a user would call instead.

#include "bench/shard_bench.h"

#include "bench/report.h"

namespace {

void fill(cadastre::bench::Report& report) {
  cadastre::bench::bench_arithmetic(report);
  cadastre::bench::bench_codec(report);
  cadastre::bench::bench_planning(report);
}

}  // namespace

int main(int argc, char** argv) {
  return cadastre::bench::run_benchmark("shard", argc, argv, fill);
}
