// `./dev bench log-raft-transport`: what the transport between nodes costs beside a bare socket.

#include "bench/log_raft_transport.h"

#include "bench/report.h"

int main(int argc, char** argv) {
  return cadastre::bench::run_benchmark("log-raft-transport", argc, argv,
                                        cadastre::bench::add_transport_rows);
}
