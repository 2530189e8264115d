#include "bench/served_work.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "cadastre/v1/coordination.grpc.pb.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/logger.h"
#include "bench/coord_load.h"
#include "bench/peers/grpc_loop.h"
#include "bench/work_keys.h"
#include "coord/identity.h"
#include "node/server_node.h"

namespace cadastre::bench {
namespace {

constexpr std::uint64_t kRun = 1;
constexpr std::string_view kCreateRun = "/cadastre.v1.Coordination/CreateRun";
constexpr std::string_view kRegister = "/cadastre.v1.Coordination/RegisterShards";
constexpr std::string_view kClaim = "/cadastre.v1.Coordination/Claim";
constexpr std::string_view kCheckpoint = "/cadastre.v1.Coordination/Checkpoint";
constexpr std::string_view kRelease = "/cadastre.v1.Coordination/Release";

std::string tenant_bytes() {
  const coord::TenantId tenant = work_tenant();
  return std::string(base::as_text(tenant.as_bytes()));
}

template <class Message>
Message parsed(const std::string& bytes) {
  Message message;
  CAD_CHECK(message.ParseFromString(bytes), "the server answers with its own messages");
  return message;
}

UnaryCall claim_call(std::uint64_t worker) {
  v1::ClaimRequest request;
  request.set_tenant(tenant_bytes());
  request.set_run(kRun);
  request.set_worker(worker);
  return {kClaim, request.SerializeAsString()};
}

v1::CheckpointRequest lease_request(const v1::Lease& lease, std::uint64_t op) {
  v1::CheckpointRequest request;
  request.set_tenant(tenant_bytes());
  *request.mutable_lease() = lease;
  request.set_op_id(op);
  return request;
}

void check_executed(const std::string& response) {
  CAD_CHECK(parsed<v1::OutcomeResponse>(response).outcome() == v1::OUTCOME_EXECUTED,
            "every op id is a new one");
}

class CheckpointTalk final : public Conversation {
 public:
  explicit CheckpointTalk(const v1::Lease& lease) : request_(lease_request(lease, 0)) {}

  [[nodiscard]] UnaryCall next() override {
    const v1::Lease& lease = request_.lease();
    request_.mutable_cursor()->set_last_key(cursor_key(lease.shard(), ++step_));
    request_.set_op_id(lease.worker() << 40U | step_);
    return {kCheckpoint, request_.SerializeAsString()};
  }
  [[nodiscard]] bool answered(const std::string& response) override {
    check_executed(response);
    return true;
  }

 private:
  v1::CheckpointRequest request_;
  std::uint64_t step_ = 0;
};

class ClaimTalk final : public Conversation {
 public:
  explicit ClaimTalk(std::uint64_t worker) : worker_(worker) {}

  [[nodiscard]] UnaryCall next() override {
    if (!held_) return claim_call(worker_);
    return {kRelease, lease_request(*held_, worker_ << 40U | ++ops_).SerializeAsString()};
  }
  [[nodiscard]] bool answered(const std::string& response) override {
    if (!held_) {
      held_ = parsed<v1::Grant>(response).lease();
      return false;
    }
    check_executed(response);
    held_.reset();
    return true;
  }

 private:
  std::uint64_t worker_;
  std::uint64_t ops_ = 0;
  std::optional<v1::Lease> held_;
};

UnaryCall create_call(std::uint64_t lease_ms) {
  v1::CreateRunRequest request;
  request.set_tenant(tenant_bytes());
  request.set_run(kRun);
  request.mutable_config()->set_lease_duration(lease_ms);
  request.mutable_config()->set_cursor_semantics(v1::CURSOR_SEMANTICS_COMPLETED);
  return {kCreateRun, request.SerializeAsString()};
}

UnaryCall register_call(std::size_t shards) {
  v1::RegisterShardsRequest request;
  request.set_tenant(tenant_bytes());
  request.set_run(kRun);
  request.set_op_id(1);
  for (std::size_t i = 1; i <= shards; ++i) {
    v1::InitialShard& one = *request.add_shards();
    one.set_shard(i);
    one.mutable_spec()->set_start(shard_start(i));
    one.mutable_spec()->set_end(shard_start(i + 1));
  }
  return {kRegister, request.SerializeAsString()};
}

}  // namespace

ServedWork::ServedWork(const std::string& name, const WorkPlan& plan)
    : directory_(name),
      sink_(base::stderr_log_sink()),
      logger_(*sink_, clock_, base::LogForm::kText) {
  auto started = node::ServerNode::start({.data = (directory_.path() / "data").string(),
                                          .listen = "127.0.0.1:0",
                                          .http = "127.0.0.1:0"},
                                         {clock_, logger_});
  CAD_CHECK(started.has_value(), "a server starts in an empty directory");
  server_ = *std::move(started);
  calls_ = std::make_unique<GrpcCalls>(address());
  (void)calls_->call(create_call(plan.lease_ms));
  (void)calls_->call(register_call(plan.shards));
}

v1::Grant ServedWork::claim(std::uint64_t worker) {
  return parsed<v1::Grant>(calls_->call(claim_call(worker)));
}

void ServedWork::release(const v1::Lease& lease, std::uint64_t op) {
  check_executed(calls_->call({kRelease, lease_request(lease, op).SerializeAsString()}));
}

std::vector<std::unique_ptr<Conversation>> ServedWork::checkpoint_callers(std::size_t count) {
  std::vector<std::unique_ptr<Conversation>> callers;
  for (std::size_t i = 1; i <= count; ++i)
    callers.push_back(std::make_unique<CheckpointTalk>(claim(i).lease()));
  return callers;
}

std::vector<std::unique_ptr<Conversation>> ServedWork::claim_callers(std::size_t count) {
  std::vector<std::unique_ptr<Conversation>> callers;
  for (std::size_t i = 1; i <= count; ++i)
    callers.push_back(std::make_unique<ClaimTalk>(i));
  return callers;
}

struct WaitingWorker::Stream {
  explicit Stream(const std::string& address)
      : stub(v1::Coordination::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {}

  std::unique_ptr<v1::Coordination::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::Grant>> grants;
};

WaitingWorker::WaitingWorker(const std::string& address, std::uint64_t worker)
    : stream_(std::make_unique<Stream>(address)) {
  v1::ClaimStreamRequest request;
  request.set_tenant(tenant_bytes());
  request.set_run(kRun);
  request.set_worker(worker);
  request.set_grants_max(1);
  stream_->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  stream_->grants = stream_->stub->ClaimStream(&stream_->context, request);
}

WaitingWorker::~WaitingWorker() {
  stream_->context.TryCancel();
  v1::Grant unread;
  while (stream_->grants->Read(&unread)) {}
  (void)stream_->grants->Finish();
}

v1::Grant WaitingWorker::wait() {
  v1::Grant grant;
  CAD_CHECK(stream_->grants->Read(&grant), "a shard that becomes free is granted");
  return grant;
}

}  // namespace cadastre::bench
