// A closed loop of unary gRPC calls with raw bytes, the same for every server it is pointed at.

#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace cadastre::bench {

struct CallPlan {
  std::string address;  // host:port
  std::string method;   // "/package.Service/Method"
  std::size_t outstanding = 64;
  std::size_t connections = 4;
  double seconds = 3;
  // The request of the n-th call, as it goes on the wire.
  std::function<std::string(std::uint64_t)> request;
};

// Calls per second, after a warm-up of a fifth of the time. Ends the process on a failed call.
[[nodiscard]] double run_calls(const CallPlan& plan);

}  // namespace cadastre::bench
