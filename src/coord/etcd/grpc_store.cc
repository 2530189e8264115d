#include "coord/etcd/grpc_store.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_callback.h>
#include <grpcpp/support/status.h>

#include "etcd/rpc.grpc.pb.h"
#include "etcd/rpc.pb.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/mutex.h"
#include "base/result.h"
#include "coord/etcd/circuit_breaker.h"
#include "coord/etcd/etcd_config.h"
#include "coord/etcd/grpc_endpoints.h"
#include "coord/etcd/grpc_limits.h"
#include "coord/etcd/grpc_messages.h"
#include "coord/etcd/grpc_status.h"
#include "coord/etcd/store.h"

namespace cadastre::coord::etcd {
namespace {

using base::fail;
using std::chrono::milliseconds;

using Ended = std::function<void(grpc::Status)>;
using TokenDone = StoreDone<std::string>;

// How soon a lost connection is tried again; a failed attempt rests twice as long, up to the second.
constexpr milliseconds kReconnectDelay{100};
constexpr milliseconds kReconnectDelayMax{1000};
// Finds members that neither answer nor close, such as one whose machine is gone.
constexpr milliseconds kPingEvery{10'000};
constexpr milliseconds kPingTimeout{5000};

struct Member {
  explicit Member(std::shared_ptr<grpc::Channel> to)
      : kv(etcdserverpb::KV::NewStub(to)),
        lease(etcdserverpb::Lease::NewStub(to)),
        auth(etcdserverpb::Auth::NewStub(to)) {}

  std::unique_ptr<etcdserverpb::KV::Stub> kv;
  std::unique_ptr<etcdserverpb::Lease::Stub> lease;
  std::unique_ptr<etcdserverpb::Auth::Stub> auth;
};

int in_milliseconds(milliseconds time) {
  return static_cast<int>(time.count());
}

grpc::ChannelArguments channel_arguments(const EtcdConfig& config) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kAnswerBytesMax);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // The environment does not choose etcd's place.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, in_milliseconds(config.connect_timeout));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, in_milliseconds(kReconnectDelay));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, in_milliseconds(kReconnectDelayMax));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, in_milliseconds(kPingEvery));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, in_milliseconds(kPingTimeout));
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const EtcdConfig& config) {
  if (!config.tls) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = config.tls->ca,
                               .pem_private_key = config.tls->key,
                               .pem_cert_chain = config.tls->certificate});
}

std::vector<Member> make_members(const EtcdConfig& config) {
  const grpc::ChannelArguments arguments = channel_arguments(config);
  const auto credentials = channel_credentials(config);
  std::vector<Member> members;
  for (const std::string& endpoint : config.endpoints) {
    const auto parts = parse_endpoint(endpoint);
    CAD_CHECK(parts.has_value(), "the configuration was validated");
    members.emplace_back(
        grpc::CreateCustomChannel("dns:///" + parts->host_port, credentials, arguments));
  }
  return members;
}

}  // namespace

// What the calls share: the members and which of them answer, the token, and who is inside.
class GrpcClient {
 public:
  GrpcClient(const EtcdConfig& config, const base::Clock& clock)
      : call_timeout_(config.call_timeout),
        user_(config.user),
        clock_(clock),
        members_(make_members(config)),
        ring_(members_.size(), CircuitBreaker::Settings{}) {}
  GrpcClient(const GrpcClient&) = delete;
  GrpcClient& operator=(const GrpcClient&) = delete;
  ~GrpcClient() { gate_.close(); }

  [[nodiscard]] std::optional<base::Gate::Pass> enter() {
    if (gate_.inside() >= kCallsInFlightMax) return std::nullopt;
    return gate_.enter();
  }

  [[nodiscard]] base::Elapsed now() const { return clock_.elapsed(); }
  [[nodiscard]] base::Elapsed call_timeout() const { return call_timeout_; }
  [[nodiscard]] Member& member(std::size_t endpoint) { return members_[endpoint]; }

  [[nodiscard]] std::optional<EndpointRing::Choice> choose(const EndpointSet& tried)
      CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return ring_.choose(now(), tried);
  }
  void report(const EndpointRing::Choice& choice, Health health) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    switch (health) {
      case Health::kAnswers: return ring_.answered(choice);
      case Health::kFails: return ring_.failed(choice, now());
    }
  }

  [[nodiscard]] bool has_user() const { return user_.has_value(); }
  // Empty without a user. Authenticates if there is no token; callers that come meanwhile wait for it.
  void with_token(TokenDone done) CAD_EXCLUDES(mutex_);
  // If it is still the one in use.
  void forget_token(std::string_view token) CAD_EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    if (token_ == token) token_.clear();
  }

 private:
  void take_token(Result<std::string, StoreError> token) CAD_EXCLUDES(mutex_);

  const base::Elapsed call_timeout_;
  const std::optional<EtcdUser> user_;
  const base::Clock& clock_;
  std::vector<Member> members_;

  base::Mutex mutex_;
  EndpointRing ring_ CAD_GUARDED_BY(mutex_);
  std::string token_ CAD_GUARDED_BY(mutex_);
  bool authenticates_ CAD_GUARDED_BY(mutex_) = false;
  std::vector<TokenDone> waiting_
      CAD_GUARDED_BY(mutex_);  // at most kCallsInFlightMax: each has a pass

  base::Gate gate_;
};

namespace {

enum class Token : bool {
  kNotNeeded,
  kNeeded,
};

// One call of an `Rpc` with all its attempts. Owns itself: ends when it has answered.
template <class Rpc>
class Call {
 public:
  using Request = typename Rpc::Request;
  using Answer = typename Rpc::Answer;

  static void start(GrpcClient& client, Request request, StoreDone<Answer> done) {
    auto pass = client.enter();
    if (!pass)
      return done(fail(StoreError::kUnavailable, "too many calls to etcd, or it is being closed"));
    auto* const call = new Call(client, *std::move(pass), std::move(request), std::move(done));
    call->begin();
  }

 private:
  struct Attempt {
    Attempt(const EndpointRing::Choice& at, std::string with)
        : choice(at), token(std::move(with)) {}

    EndpointRing::Choice choice;
    std::string token;
    grpc::ClientContext context;
    typename Rpc::Response response;
  };

  Call(GrpcClient& client, base::Gate::Pass pass, Request request, StoreDone<Answer> done)
      : client_(client),
        pass_(std::move(pass)),
        request_(std::move(request)),
        done_(std::move(done)),
        deadline_(client.now() + client.call_timeout()) {}

  void begin() {
    if constexpr (Rpc::kToken == Token::kNotNeeded) {
      send({});
    } else {
      client_.with_token([this](Result<std::string, StoreError> token) {
        if (!token) return finish(std::unexpected(std::move(token).error()));
        send(*std::move(token));
      });
    }
  }

  void send(std::string token) {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - client_.now());
    if (left.count() <= 0)
      return finish(fail(StoreError::kUnavailable, last_detail("no time is left")));
    const auto choice = client_.choose(tried_);
    if (!choice)
      return finish(fail(StoreError::kUnavailable, last_detail("no member of etcd answers")));
    attempt_ = std::make_unique<Attempt>(*choice, std::move(token));
    grpc::ClientContext& context = attempt_->context;
    context.set_deadline(gpr_time_from_millis(left.count(), GPR_TIMESPAN));
    context.AddMetadata("hasleader", "true");
    if (!attempt_->token.empty()) context.AddMetadata("token", attempt_->token);
    Rpc::start(client_.member(choice->endpoint), context, request_, attempt_->response,
               [this](const grpc::Status& status) { ended(status); });
  }

  void ended(const grpc::Status& status) {
    if (status.ok()) {
      client_.report(attempt_->choice, Health::kAnswers);
      return finish(Rpc::take(request_, std::move(attempt_->response)));
    }
    Verdict verdict = judge(status, Rpc::kEffect);
    client_.report(attempt_->choice, verdict.health);
    maybe_done_ = maybe_done_ || verdict.error == StoreError::kOutcomeUnknown;
    switch (verdict.remedy) {
      case Remedy::kNone: break;
      case Remedy::kOtherEndpoint:
        tried_.set(attempt_->choice.endpoint);
        detail_ = std::move(verdict.detail);
        return begin();
      case Remedy::kNewToken:
        if (!client_.has_user() || std::exchange(renewed_, true)) break;
        client_.forget_token(attempt_->token);
        return begin();
    }
    finish(fail(verdict.error, std::move(verdict.detail)));
  }

  // What the last member said, if one was asked.
  [[nodiscard]] std::string last_detail(std::string_view otherwise) const {
    return detail_.empty() ? std::string(otherwise) : detail_;
  }

  // The completion runs first, then the call is gone, then its pass.
  void finish(Result<Answer, StoreError> answer) {
    if (!answer && Rpc::kEffect == Effect::kNone &&
        answer.error().code == StoreError::kOutcomeUnknown)
      answer.error().code = StoreError::kUnavailable;
    if (!answer && maybe_done_ && answer.error().code == StoreError::kUnavailable &&
        Rpc::kEffect != Effect::kNone)
      answer.error().code = StoreError::kOutcomeUnknown;
    const base::Gate::Pass pass = std::move(pass_);
    auto done = std::move(done_);
    delete this;
    done(std::move(answer));
  }

  GrpcClient& client_;
  base::Gate::Pass pass_;
  const Request request_;
  StoreDone<Answer> done_;
  const base::Elapsed deadline_;
  EndpointSet tried_ = {};
  std::unique_ptr<Attempt> attempt_;
  std::string detail_ = {};  // of the last member that was given up
  bool maybe_done_ = false;  // by one of the attempts
  bool renewed_ = false;     // the token, for this call
};

// What every Rpc says of itself.
template <class RequestType,
          class ResponseType,
          class AnswerType,
          Effect kTheEffect,
          Token kTheToken = Token::kNeeded>
struct Kind {
  using Request = RequestType;
  using Response = ResponseType;
  using Answer = AnswerType;
  static constexpr Effect kEffect = kTheEffect;
  static constexpr Token kToken = kTheToken;
};

struct RangeRpc : Kind<etcdserverpb::RangeRequest,
                       etcdserverpb::RangeResponse,
                       std::vector<RangeResult>,
                       Effect::kNone> {
  static void start(Member& member,
                    grpc::ClientContext& context,
                    const Request& request,
                    Response& response,
                    Ended ended) {
    member.kv->async()->Range(&context, &request, &response, std::move(ended));
  }
  static Result<Answer, StoreError> take(const Request& request, Response response) {
    Answer answer;
    answer.push_back(CAD_TRY(from_message(request, std::move(response))));
    return answer;
  }
};

struct TransactionRpc
    : Kind<etcdserverpb::TxnRequest, etcdserverpb::TxnResponse, TransactionResult, Effect::kOnce> {
  static void start(Member& member,
                    grpc::ClientContext& context,
                    const Request& request,
                    Response& response,
                    Ended ended) {
    member.kv->async()->Txn(&context, &request, &response, std::move(ended));
  }
  static Result<Answer, StoreError> take(const Request& request, Response response) {
    return from_message(request, std::move(response));
  }
};

// Several ranges at one revision: a transaction that only reads.
struct RangesRpc : TransactionRpc {
  using Answer = std::vector<RangeResult>;
  static constexpr Effect kEffect = Effect::kNone;

  static Result<Answer, StoreError> take(const Request& request, Response response) {
    return CAD_TRY(from_message(request, std::move(response)))
    .ranges;
  }
};

struct GrantRpc : Kind<etcdserverpb::LeaseGrantRequest,
                       etcdserverpb::LeaseGrantResponse,
                       LeaseId,
                       Effect::kOnce> {
  static void start(Member& member,
                    grpc::ClientContext& context,
                    const Request& request,
                    Response& response,
                    Ended ended) {
    member.lease->async()->LeaseGrant(&context, &request, &response, std::move(ended));
  }
  static Result<Answer, StoreError> take(const Request&, const Response& response) {
    if (response.id() == 0) return fail(StoreError::kOutcomeUnknown, "etcd's lease has no id");
    return LeaseId{response.id()};
  }
};

struct RevokeRpc : Kind<etcdserverpb::LeaseRevokeRequest,
                        etcdserverpb::LeaseRevokeResponse,
                        void,
                        Effect::kRepeated> {
  static void start(Member& member,
                    grpc::ClientContext& context,
                    const Request& request,
                    Response& response,
                    Ended ended) {
    member.lease->async()->LeaseRevoke(&context, &request, &response, std::move(ended));
  }
  static Result<Answer, StoreError> take(const Request&, const Response&) { return {}; }
};

// One question and one answer on a stream of its own. Owns itself.
class KeepAliveStream final : public grpc::ClientBidiReactor<etcdserverpb::LeaseKeepAliveRequest,
                                                             etcdserverpb::LeaseKeepAliveResponse> {
 public:
  KeepAliveStream(const etcdserverpb::LeaseKeepAliveRequest& request,
                  etcdserverpb::LeaseKeepAliveResponse& response,
                  Ended ended)
      : request_(&request), response_(&response), ended_(std::move(ended)) {}

  void run(Member& member, grpc::ClientContext& context) {
    member.lease->async()->LeaseKeepAlive(&context, this);
    StartWriteLast(request_, grpc::WriteOptions());
    StartRead(response_);
    StartCall();
  }

  void OnReadDone(bool ok) override { answered_ = ok; }
  void OnDone(const grpc::Status& status) override {
    const Ended ended = std::move(ended_);
    grpc::Status result = answered_ ? grpc::Status::OK : status;
    if (!answered_ && status.ok())
      result = grpc::Status(grpc::UNAVAILABLE, "the stream ended without an answer");
    delete this;
    ended(std::move(result));
  }

 private:
  const etcdserverpb::LeaseKeepAliveRequest* request_;
  etcdserverpb::LeaseKeepAliveResponse* response_;
  Ended ended_;
  bool answered_ = false;
};

struct KeepAliveRpc : Kind<etcdserverpb::LeaseKeepAliveRequest,
                           etcdserverpb::LeaseKeepAliveResponse,
                           std::chrono::seconds,
                           Effect::kRepeated> {
  static void start(Member& member,
                    grpc::ClientContext& context,
                    const Request& request,
                    Response& response,
                    Ended ended) {
    (new KeepAliveStream(request, response, std::move(ended)))->run(member, context);
  }
  static Result<Answer, StoreError> take(const Request&, const Response& response) {
    if (response.ttl() <= 0) return fail(StoreError::kNoLease, "etcd's lease has ended");
    return std::chrono::seconds{response.ttl()};
  }
};

struct AuthenticateRpc : Kind<etcdserverpb::AuthenticateRequest,
                              etcdserverpb::AuthenticateResponse,
                              std::string,
                              Effect::kNone,
                              Token::kNotNeeded> {
  static void start(Member& member,
                    grpc::ClientContext& context,
                    const Request& request,
                    Response& response,
                    Ended ended) {
    member.auth->async()->Authenticate(&context, &request, &response, std::move(ended));
  }
  static Result<Answer, StoreError> take(const Request&, Response response) {
    if (response.token().empty()) return fail(StoreError::kRefused, "etcd's token is empty");
    return std::move(*response.mutable_token());
  }
};

}  // namespace

void GrpcClient::with_token(TokenDone done) {
  if (!user_) return done(std::string());
  std::string token;
  {
    const base::MutexLock lock(mutex_);
    token = token_;
    if (token.empty()) {
      waiting_.push_back(std::move(done));
      if (std::exchange(authenticates_, true)) return;
    }
  }
  if (!token.empty()) return done(std::move(token));
  etcdserverpb::AuthenticateRequest request;
  request.set_name(user_->name);
  request.set_password(user_->password);
  Call<AuthenticateRpc>::start(
      *this, std::move(request),
      [this](Result<std::string, StoreError> answer) { take_token(std::move(answer)); });
}

void GrpcClient::take_token(Result<std::string, StoreError> token) {
  std::vector<TokenDone> waiting;
  {
    const base::MutexLock lock(mutex_);
    authenticates_ = false;
    if (token) token_ = *token;
    waiting.swap(waiting_);
  }
  for (TokenDone& done : waiting)
    done(token);
}

Result<std::unique_ptr<GrpcStore>, EtcdConfigError> GrpcStore::open(const EtcdConfig& config,
                                                                    const base::Clock& clock) {
  // What gRPC would print is in the errors of the calls.
  gpr_set_log_function([](gpr_log_func_args*) {});
  CAD_TRY(validate(config));
  return std::unique_ptr<GrpcStore>(new GrpcStore(std::make_unique<GrpcClient>(config, clock)));
}

GrpcStore::GrpcStore(std::unique_ptr<GrpcClient> client) : client_(std::move(client)) {}
GrpcStore::~GrpcStore() = default;

void GrpcStore::read(std::vector<Range> ranges, StoreDone<std::vector<RangeResult>> done) {
  CAD_CHECK(!ranges.empty(), "a read names a range");
  if (ranges.size() == 1)
    return Call<RangeRpc>::start(*client_, to_message(std::move(ranges.front())), std::move(done));
  Transaction reads;
  for (Range& range : ranges)
    reads.success.emplace_back(std::move(range));
  Call<RangesRpc>::start(*client_, to_message(std::move(reads)), std::move(done));
}

void GrpcStore::commit(Transaction transaction, StoreDone<TransactionResult> done) {
  Call<TransactionRpc>::start(*client_, to_message(std::move(transaction)), std::move(done));
}

void GrpcStore::grant_lease(std::chrono::seconds ttl, StoreDone<LeaseId> done) {
  etcdserverpb::LeaseGrantRequest request;
  request.set_ttl(ttl.count());
  Call<GrantRpc>::start(*client_, std::move(request), std::move(done));
}

void GrpcStore::keep_alive(LeaseId lease, StoreDone<std::chrono::seconds> done) {
  etcdserverpb::LeaseKeepAliveRequest request;
  request.set_id(lease.value());
  Call<KeepAliveRpc>::start(*client_, std::move(request), std::move(done));
}

void GrpcStore::revoke_lease(LeaseId lease, StoreDone<void> done) {
  etcdserverpb::LeaseRevokeRequest request;
  request.set_id(lease.value());
  Call<RevokeRpc>::start(*client_, std::move(request), std::move(done));
}

}  // namespace cadastre::coord::etcd
