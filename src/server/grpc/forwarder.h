// Forwarder: takes a call that arrived on a node that does not lead to the one that does. For grpc/ only.
//
// A call goes on with the caller's authorization, deadline and cancellation, once: it is marked, and a node that gets a
// marked call and does not lead either refuses it as unavailable. What was lost on the way may have been carried out; op
// ids make it safe to repeat. Connections are kept, one for each address. Safe from any thread.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/admin.grpc.pb.h"
#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/mutex.h"
#include "client/remote_coordination.h"
#include "client/wire_error.h"
#include "server/leader_finder.h"

namespace cadastre::server {

using ForwardStub = v1::Coordination::StubInterface::async_interface;

template <class Request, class Answer>
using ForwardMethod = void (ForwardStub::*)(grpc::ClientContext*,
                                            const Request*,
                                            Answer*,
                                            std::function<void(grpc::Status)>);

class Forwarder {
 public:
  // The finder outlives it.
  Forwarder(const LeaderFinder& finder, std::optional<client::TlsOptions> tls)
      : finder_(finder), tls_(std::move(tls)) {}
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // Where the call is answered; a call that was forwarded already never goes on.
  [[nodiscard]] LeaderRoute route_of(const grpc::CallbackServerContext& call) const;
  // What a caller hears when nobody leads, or when the leader is not heard.
  [[nodiscard]] static client::WireStatus no_leader();
  [[nodiscard]] static grpc::Status passed_on(const grpc::Status& status);

  // The context of a call that goes on.
  [[nodiscard]] static std::unique_ptr<grpc::ClientContext> context_of(
      const grpc::CallbackServerContext& call);
  // The connection to an address. Nothing: there are too many.
  struct Stubs {
    std::unique_ptr<v1::Coordination::Stub> coordination;
    std::unique_ptr<v1::Admin::Stub> admin;
  };
  [[nodiscard]] Stubs* stubs_of(const std::string& address) CAD_EXCLUDES(mutex_);

  // The stream's grants, as the leader gives them.
  [[nodiscard]] grpc::ServerWriteReactor<v1::Grant>* forward_claims(
      const grpc::CallbackServerContext& call,
      const v1::ClaimStreamRequest& request,
      const std::string& address);

 private:
  const LeaderFinder& finder_;
  const std::optional<client::TlsOptions> tls_;
  base::Mutex mutex_;
  std::map<std::string, Stubs> stubs_ CAD_GUARDED_BY(mutex_);
};

}  // namespace cadastre::server
