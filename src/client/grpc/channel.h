// A client's gRPC channel, and one unary call on it with its retries. For grpc/ only: it knows gRPC.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "client/grpc/calls_under_way.h"
#include "client/remote_coordination.h"
#include "client/retry.h"
#include "client/timer.h"
#include "client/wire_answer.h"
#include "client/wire_error.h"
#include "coord/async_backend.h"
#include "coord/identity.h"

namespace cadastre::client {

using AsyncStub = v1::Coordination::StubInterface::async_interface;

template <class Request, class Answer>
using Method = void (AsyncStub::*)(grpc::ClientContext*,
                                   const Request*,
                                   Answer*,
                                   std::function<void(grpc::Status)>);

// As coord::Completion, spelt so that T and E follow from it.
template <class T, class E>
using Told = std::move_only_function<void(std::expected<T, E>)>;

// How a request is asked.
struct Asking {
  coord::TenantId tenant;
  Repeat repeat = Repeat::kSafe;
};

class RemoteCoordination::Channel {
 public:
  Channel(const RemoteOptions& options, const RemoteParts& parts);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { calls_.close(); }

  // Sends, as often as it takes; `decode` reads the answer.
  template <class Request, class Answer, class T, class E, class Decode>
  void call(Method<Request, Answer> method,
            std::unique_ptr<Request> request,
            const Asking& asking,
            Told<T, E> done,
            Decode decode);
  // The same for an answer that decode() reads.
  template <class Request, class Answer, class T, class E>
  void call(Method<Request, Answer> method,
            std::unique_ptr<Request> request,
            const Asking& asking,
            Told<T, E> done) {
    call<Request, Answer>(method, std::move(request), asking, std::move(done),
                          [](const Answer& answer) -> Answered<T> { return decode(answer); });
  }

  // What is sent as the time of a request.
  [[nodiscard]] Now sent(coord::LogicalTime now) const noexcept {
    return options_.time == TimeOf::kCaller ? Now(now) : Now();
  }

  // ---- For calls -----------------------------------------------------------------------------------

  // The server that calls go to now, and one of them by its number.
  [[nodiscard]] std::size_t server() const noexcept {
    return server_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] v1::Coordination::Stub& stub(std::size_t server) noexcept {
    return *stubs_[server];
  }
  // It does not answer: from now on the next one does, unless another call has said so already.
  void leave_server(std::size_t server) noexcept {
    server_.compare_exchange_strong(server, (server + 1) % stubs_.size(),
                                    std::memory_order_relaxed);
  }
  // Who calls; and when an attempt ends, unless it has no end.
  void introduce(grpc::ClientContext& context) const;
  void limit(grpc::ClientContext& context) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> next_attempt(Repeat repeat,
                                                                      const Attempts& attempts,
                                                                      const Failure& failure)
      CAD_EXCLUDES(mutex_);
  [[nodiscard]] Timer& timer() noexcept { return timer_; }
  [[nodiscard]] base::Elapsed elapsed() const noexcept { return clock_.elapsed(); }
  [[nodiscard]] CallsUnderWay& calls() noexcept { return calls_; }

 private:
  const RemoteOptions options_;
  const base::Clock& clock_;
  Timer& timer_;
  const std::vector<std::unique_ptr<v1::Coordination::Stub>> stubs_;  // One for each address.
  std::atomic<std::size_t> server_{0};
  base::Mutex mutex_;
  base::Random& random_ CAD_GUARDED_BY(mutex_);
  CallsUnderWay calls_;  // Last: its calls use what stands above.
};

[[nodiscard]] std::shared_ptr<grpc::Channel> connect(const std::string& address,
                                                     const std::optional<TlsOptions>& tls);
[[nodiscard]] WireStatus from_grpc(const grpc::Status& status);
// Another server of the cluster may do better.
[[nodiscard]] bool is_unheard(const grpc::Status& status) noexcept;

// Owns itself from start() until its completion has run.
template <class Request, class Answer, class Shell>
class UnaryCall final : public Call {
 public:
  // The answer, good for the call, or what went wrong.
  using Finish = std::move_only_function<void(const std::expected<const Answer*, AnyError>&)>;

  UnaryCall(Shell& shell,
            Method<Request, Answer> method,
            std::unique_ptr<Request> request,
            const Asking& asking,
            Finish finish)
      : shell_(shell),
        method_(method),
        request_(std::move(request)),
        asking_(asking),
        finish_(std::move(finish)),
        began_(shell.elapsed()) {}

  static void start(std::unique_ptr<UnaryCall> call) {
    using Entry = CallsUnderWay::Entry;
    switch (call->shell_.calls().enter(*call)) {
      case Entry::kEntered: call.release()->attempt(); return;
      case Entry::kFull: return call->refuse("too many calls are under way; this one was not sent");
      case Entry::kClosed: return call->refuse("the client is closed; nothing was sent");
    }
  }

  void cancel() override CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (context_) context_->TryCancel();
  }

 private:
  void attempt() CAD_EXCLUDES(mutex_) {
    auto context = std::make_unique<grpc::ClientContext>();
    shell_.introduce(*context);
    shell_.limit(*context);
    grpc::ClientContext* const borrowed = context.get();
    {
      const base::MutexLock lock(mutex_);
      context_ = std::move(context);
    }
    if (shell_.calls().is_closed()) borrowed->TryCancel();  // Closed before it could be cancelled.
    answer_.Clear();
    // Nothing behind this: the call may be gone.
    server_ = shell_.server();
    (shell_.stub(server_).async()->*method_)(
        borrowed, request_.get(), &answer_,
        [this](const grpc::Status& status) { on_answer(status); });
  }

  void on_answer(const grpc::Status& status) {
    if (status.ok()) return end(&answer_);
    if (is_unheard(status)) shell_.leave_server(server_);
    ++attempts_.made;
    attempts_.spent = shell_.elapsed() - began_;
    const Failure failure = failure_of(from_grpc(status), asking_.tenant);
    const auto delay = shell_.calls().is_closed()
                           ? std::nullopt
                           : shell_.next_attempt(asking_.repeat, attempts_, failure);
    if (!delay) return end(std::unexpected(failure.error));
    shell_.timer().after(*delay, [this] { attempt(); });
  }

  void refuse(const char* why) {
    finish_(std::unexpected(AnyError(coord::transient("call", why))));
  }

  void end(const std::expected<const Answer*, AnyError>& result) CAD_EXCLUDES(mutex_) {
    const std::unique_ptr<UnaryCall> self(this);
    finish_(result);
    {
      // The context holds the channel, whose last owner must not be this thread of gRPC's: it would wait
      // for itself. Once the call has left, the client may go.
      const base::MutexLock lock(mutex_);
      context_.reset();
    }
    shell_.calls().leave(*this);
  }

  Shell& shell_;
  const Method<Request, Answer> method_;
  const std::unique_ptr<Request> request_;
  const Asking asking_;
  Finish finish_;
  const base::Elapsed began_;
  Answer answer_;
  Attempts attempts_;
  std::size_t server_ = 0;  // of the last attempt
  base::Mutex mutex_;
  std::unique_ptr<grpc::ClientContext> context_ CAD_GUARDED_BY(mutex_);  // of the last attempt
};

template <class Request, class Answer, class T, class E, class Decode>
void RemoteCoordination::Channel::call(Method<Request, Answer> method,
                                       std::unique_ptr<Request> request,
                                       const Asking& asking,
                                       Told<T, E> done,
                                       Decode decode) {
  using Unary = UnaryCall<Request, Answer, Channel>;
  auto finish = [done = std::move(done), decode = std::move(decode)](
                    const std::expected<const Answer*, AnyError>& result) mutable {
    if (!result) return done(std::unexpected(narrowed<E>(result.error())));
    Answered<T> answer = decode(**result);
    if (!answer) return done(std::unexpected(E(std::move(answer).error())));
    done(*std::move(answer));
  };
  Unary::start(
      std::make_unique<Unary>(*this, method, std::move(request), asking, std::move(finish)));
}

// A request's message, made from its arguments.
template <class Request, class Arguments>
[[nodiscard]] std::unique_ptr<Request> message(const Arguments& arguments) {
  auto request = std::make_unique<Request>();
  encode(arguments, *request);
  return request;
}

}  // namespace cadastre::client
