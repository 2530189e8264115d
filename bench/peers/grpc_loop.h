// Unary gRPC calls with raw bytes, one by one and in closed loops, the same for every server they are pointed at.
//
// A conversation is what one caller says, call after call, and what it makes of the answers: an operation that
// is measured may take several calls. A call that fails ends the process.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cadastre::bench {

struct UnaryCall {
  std::string_view method;  // "/package.Service/Method"; outlives the call
  std::string request;      // as it goes on the wire
};

// One call after the other, each waited for.
class GrpcCalls {
 public:
  // The server may still be starting.
  explicit GrpcCalls(const std::string& address);
  GrpcCalls(const GrpcCalls&) = delete;
  GrpcCalls& operator=(const GrpcCalls&) = delete;
  ~GrpcCalls();

  // The answer's bytes.
  [[nodiscard]] std::string call(const UnaryCall& call);
  // Nothing: it was refused, or not answered in time.
  [[nodiscard]] std::optional<std::string> try_call(const UnaryCall& call,
                                                    std::chrono::milliseconds limit);

 private:
  struct Stub;
  std::unique_ptr<Stub> stub_;
};

// Used by one call at a time, on any thread.
class Conversation {
 public:
  Conversation() = default;
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  virtual ~Conversation() = default;

  [[nodiscard]] virtual UnaryCall next() = 0;
  // What came back. True if this ends an operation.
  [[nodiscard]] virtual bool answered(const std::string& response) = 0;
};

// What goes along with each call.
struct CallForm {
  std::chrono::milliseconds deadline{0};  // 0: none
  bool requires_leader = false;           // etcd: a member without a leader refuses
};

struct TalkPlan {
  std::string address;  // host:port
  std::vector<std::unique_ptr<Conversation>> callers;
  std::size_t connections = 4;
  double seconds = 3;
  CallForm form = {};
};
// Operations per second, after a warm-up of a fifth of the time.
[[nodiscard]] double run_conversations(const TalkPlan& plan);

// The same call again and again.
struct CallPlan {
  std::string address;
  std::string method;
  std::size_t outstanding = 64;
  std::size_t connections = 4;
  double seconds = 3;
  // The request of the n-th call.
  std::function<std::string(std::uint64_t)> request;
};
// Calls per second.
[[nodiscard]] double run_calls(const CallPlan& plan);

}  // namespace cadastre::bench
