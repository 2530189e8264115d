// Bidirectional gRPC streams with raw bytes, in closed loops: each caller keeps a stream of its own, sends one message on it and
// waits for the one that answers it. The same load as that of grpc_loop.h, without a call's beginning and end each time.

#pragma once

#include "bench/peers/grpc_loop.h"

namespace cadastre::bench {

// Answers per second, after a warm-up of a fifth of the time. A stream that ends by itself ends the process.
[[nodiscard]] double run_streams(const CallPlan& plan);

}  // namespace cadastre::bench
