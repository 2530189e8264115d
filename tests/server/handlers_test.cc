#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cadastre/v1/coordination.pb.h"

#include "client/wire_error.h"
#include "coord/identity.h"
#include "server/admission.h"
#include "server/coordination_handlers.h"
#include "server/handlers_testing.h"
#include "server/operation_metrics.h"
#include "tests/server/scene.h"

namespace cadastre::server {
namespace {

using client::StatusCode;

constexpr std::string_view kTokens =
    "token-of-acme-0001 acme\n"
    "token-of-other-002 other\n";

// A method with a request that names a tenant and nothing else.
struct MethodCase {
  std::string_view name;
  std::function<client::WireStatus(Scene&, const std::string& tenant, const Caller&)> call;
};

std::vector<MethodCase> every_method() {
  std::vector<MethodCase> methods;
#define CAD_METHOD_CASE(Request, Answer, handler)                                                  \
  methods.push_back({#handler, [](Scene& scene, const std::string& tenant, const Caller& caller) { \
                       v1::Request request;                                                        \
                       request.set_tenant(tenant);                                                 \
                       v1::Answer answer;                                                          \
                       return scene.call(&CoordinationHandlers::handler, request, answer, caller); \
                     }});
  CAD_SERVER_METHODS(CAD_METHOD_CASE)
#undef CAD_METHOD_CASE
  methods.push_back(
      {"claim_stream", [](Scene& scene, const std::string& tenant, const Caller& caller) {
         v1::ClaimStreamRequest request;
         request.set_tenant(tenant);
         const auto opened = scene.handlers.open_claim_stream(caller, request);
         return opened ? client::WireStatus{} : opened.error();
       }});
  return methods;
}

TEST(Handlers, AreAllInTheList) {
  EXPECT_EQ(every_method().size(), kMethodNames.size());
}

// The same refusal with and without records, and not one operation of the backend.
TEST(Handlers, RefuseAnotherTenantsTokenOnEveryMethodBeforeAnyLookup) {
  for (const MethodCase& method : every_method()) {
    Scene scene(kTokens);
    const std::size_t before = scene.async.pending();
    const Caller other{.authorization = "Bearer token-of-other-002", .deadline = {}};
    const auto without = method.call(scene, tenant_bytes("acme"), other);
    EXPECT_EQ(without.code, StatusCode::kPermissionDenied) << method.name;
    const auto elsewhere = method.call(scene, tenant_bytes("never seen"), other);
    EXPECT_EQ(elsewhere.code, without.code) << method.name;
    EXPECT_EQ(elsewhere.message, without.message) << method.name;
    EXPECT_EQ(elsewhere.details, without.details) << method.name;
    EXPECT_EQ(scene.async.pending(), before) << method.name;
    EXPECT_EQ(scene.records->dump_runs().size(), 0U) << method.name;

    const auto nobody = method.call(scene, tenant_bytes("acme"), Caller{});
    EXPECT_EQ(nobody.code, StatusCode::kUnauthenticated) << method.name;
    const Caller own{.authorization = "Bearer token-of-acme-0001", .deadline = {}};
    const auto allowed = method.call(scene, tenant_bytes("acme"), own).code;
    EXPECT_NE(allowed, StatusCode::kPermissionDenied) << method.name;
    EXPECT_NE(allowed, StatusCode::kUnauthenticated) << method.name;
  }
}

TEST(Handlers, AnswerAPassedDeadlineAndExecuteNothing) {
  for (const MethodCase& method : every_method()) {
    Scene scene;
    const Caller late{.authorization = {}, .deadline = base::Instant(HandlerScene::kStart)};
    EXPECT_EQ(method.call(scene, tenant_bytes("acme"), late).code, StatusCode::kDeadlineExceeded)
        << method.name;
  }
  Scene scene;
  v1::CreateRunRequest request;
  request.set_tenant(tenant_bytes("acme"));
  request.set_run(1);
  request.mutable_config()->set_cursor_semantics(v1::CURSOR_SEMANTICS_COMPLETED);
  request.mutable_config()->set_lease_duration(10);
  v1::Run answer;
  const Caller late{.authorization = {}, .deadline = base::Instant(HandlerScene::kStart)};
  EXPECT_EQ(code_of(scene.call(&CoordinationHandlers::create_run, request, answer, late)),
            "transient");
  EXPECT_EQ(scene.records->dump_runs().size(), 0U);
  const Caller timely{
      .authorization = {},
      .deadline = base::Instant(HandlerScene::kStart) + std::chrono::nanoseconds(1)};
  EXPECT_EQ(code_of(scene.call(&CoordinationHandlers::create_run, request, answer, timely)), "ok");
}

TEST(Handlers, RefuseATenantOfAnotherLengthOnEveryMethod) {
  for (const MethodCase& method : every_method()) {
    for (const std::size_t size : {0U, 31U, 33U}) {
      Scene scene;
      EXPECT_EQ(method.call(scene, std::string(size, 'x'), Caller{}).code,
                StatusCode::kInvalidArgument)
          << method.name << " " << size;
    }
  }
}

TEST(Handlers, RefuseEveryMethodWhileTheServerStops) {
  for (const MethodCase& method : every_method()) {
    if (method.name == "claim_stream") continue;  // ClaimStreams refuses those.
    Scene scene;
    scene.admission.stop();
    EXPECT_EQ(method.call(scene, tenant_bytes("acme"), Caller{}).code, StatusCode::kUnavailable)
        << method.name;
  }
}

TEST(Handlers, RefuseACallAboveTheBoundAndTakeTheNextOne) {
  Scene scene;
  EXPECT_EQ(scene.admission.enter(), Admission::Entry::kEntered);
  EXPECT_EQ(scene.admission.enter(), Admission::Entry::kEntered);
  v1::GetRunRequest request;
  request.set_tenant(tenant_bytes("acme"));
  v1::Run answer;
  EXPECT_EQ(scene.call(&CoordinationHandlers::get_run, request, answer).code,
            StatusCode::kResourceExhausted);
  scene.admission.leave();
  EXPECT_EQ(code_of(scene.call(&CoordinationHandlers::get_run, request, answer)), "run_not_found");
  EXPECT_EQ(scene.admission.calls(), 1U) << "a refused call leaves nothing behind";
}

// C-10.8, time
TEST(Handlers, StampNeverLessThanWhatWasApplied) {
  Scene scene;
  scene.make_run(1, 2, 1000);
  EXPECT_EQ(scene.claim(1, 1).lease().deadline(), 1'001'000U);
  scene.largest_now = coord::LogicalTime::from_raw(2'000'000);
  EXPECT_EQ(scene.claim(1, 2).lease().deadline(), 2'001'000U);
}

TEST(Handlers, AnswerAReusedOpIdWithItsConflict) {
  Scene scene;
  scene.make_run(1, 1);
  v1::CheckpointRequest request;
  request.set_tenant(tenant_bytes("acme"));
  *request.mutable_lease() = scene.claim(1, 1).lease();
  request.mutable_cursor()->set_last_key("a");
  request.set_op_id(9);
  v1::OutcomeResponse answer;
  EXPECT_EQ(code_of(scene.call(&CoordinationHandlers::checkpoint, request, answer)), "ok");
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_EXECUTED);
  answer.Clear();
  EXPECT_EQ(code_of(scene.call(&CoordinationHandlers::checkpoint, request, answer)), "ok");
  EXPECT_EQ(answer.outcome(), v1::OUTCOME_REPLAYED);
  request.mutable_cursor()->set_last_key("aa");
  const auto refused = scene.call(&CoordinationHandlers::checkpoint, request, answer);
  EXPECT_EQ(code_of(refused), "op_id_conflict");
  const auto shards = scene.records->dump_shards();
  ASSERT_EQ(shards.size(), 1U);
  EXPECT_EQ(scene.release(request.lease(), 10), "ok");
}

TEST(Handlers, CountCallsByMethodAndStatus) {
  Scene scene;
  scene.make_run(1, 1);
  v1::GetRunRequest request;
  request.set_tenant(tenant_bytes("acme"));
  request.set_run(2);
  v1::Run answer;
  (void)scene.call(&CoordinationHandlers::get_run, request, answer);
  const auto& of = scene.metrics.methods()[static_cast<std::size_t>(Method::kGetRun)];
  EXPECT_EQ(of.codes[static_cast<std::size_t>(StatusCode::kNotFound)].load(), 1U);
  EXPECT_EQ(of.took_ns.read().count(), 1U);
  EXPECT_EQ(scene.admission.calls(), 0U);
}

}  // namespace
}  // namespace cadastre::server
