// Coordination behind its gRPC server: the server and its directory in this process, and what callers of it say on
// the wire. Time is stamped by the server.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cadastre/v1/coordination.pb.h"

#include "base/clock.h"
#include "base/logger.h"
#include "bench/coord_load.h"
#include "bench/peers/grpc_loop.h"
#include "bench/scratch_directory.h"
#include "node/server_node.h"

namespace cadastre::bench {

// A server on a loopback port that the system picks, with a run and its shards.
class ServedWork {
 public:
  ServedWork(const std::string& name, const WorkPlan& plan);

  [[nodiscard]] const std::string& address() const { return server_->grpc_address(); }

  // Callers that checkpoint, each on a shard that it holds.
  [[nodiscard]] std::vector<std::unique_ptr<Conversation>> checkpoint_callers(std::size_t count);
  // Callers that claim and release.
  [[nodiscard]] static std::vector<std::unique_ptr<Conversation>> claim_callers(std::size_t count);

  // Waits.
  [[nodiscard]] v1::Grant claim(std::uint64_t worker);
  void release(const v1::Lease& lease, std::uint64_t op);

 private:
  ScratchDirectory directory_;
  base::SystemClock clock_;
  std::unique_ptr<base::LogSink> sink_;
  base::Logger logger_;
  std::unique_ptr<node::ServerNode> server_;
  std::unique_ptr<GrpcCalls> calls_;
};

// A worker that waits for a shard to become free.
class WaitingWorker {
 public:
  WaitingWorker(const std::string& address, std::uint64_t worker);
  WaitingWorker(const WaitingWorker&) = delete;
  WaitingWorker& operator=(const WaitingWorker&) = delete;
  ~WaitingWorker();

  // Blocks until it has one.
  [[nodiscard]] v1::Grant wait();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace cadastre::bench
