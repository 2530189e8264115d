#include "bench/peers/grpc_channels.h"

#include <chrono>

#include <grpcpp/grpcpp.h>

#include "base/check.h"

namespace cadastre::bench {
namespace {

constexpr std::chrono::seconds kConnectMax{30};

}  // namespace

std::vector<std::shared_ptr<grpc::Channel>> connect_channels(const std::string& address,
                                                             std::size_t connections) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (std::size_t i = 0; i < connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("bench.connection", static_cast<int>(i));  // Else they share one.
    channels.push_back(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    CAD_CHECK(channels.back()->WaitForConnected(std::chrono::system_clock::now() + kConnectMax),
              "the server is there");
  }
  return channels;
}

}  // namespace cadastre::bench
