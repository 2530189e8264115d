// The client against a server with TLS: who is trusted, who is let in, and what the others are told.
//
// An authority made by openssl signs a server at 127.0.0.1 and localhost, one elsewhere, and a worker; a stranger signs
// itself.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "client/alarm_timer.h"
#include "client/remote_coordination.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/replicated/settings.h"
#include "coord/tenant_name.h"
#include "server/grpc/grpc_server.h"
#include "tests/certificates.h"
#include "tests/wire/wire_home.h"

namespace cadastre::wire {
namespace {

using Kind = coord::InfraError::Kind;
using coord::testing::at;
using coord::testing::op;
using coord::testing::worker;

const coord::TenantId kTenant = coord::tenant_named("acme");
const coord::RunId kRun = coord::RunId::from_raw(1);
const std::string kToken = "token-of-a-worker-1";

struct Tls : testing::Test {
  Tls() {
    certificates.sign_itself("stranger", "IP:127.0.0.1");
    certificates.sign("server", "IP:127.0.0.1,DNS:localhost");
    certificates.sign("elsewhere", "DNS:elsewhere.example");
    certificates.sign("worker", "DNS:worker.example");
  }
  // A server with the certificate of this name.
  [[nodiscard]] Door door(std::string_view name) const {
    return {.tls = server::TlsMaterial{certificates.certificate(name), certificates.key(name), {}},
            .tokens = {}};
  }
  [[nodiscard]] client::TlsOptions trusting(std::string_view authority) const {
    return {.authority = certificates.certificate(authority)};
  }
  [[nodiscard]] client::TlsOptions presenting(std::string_view name) const {
    client::TlsOptions made = trusting("authority");
    made.certificate = certificates.certificate(name);
    made.key = certificates.key(name);
    return made;
  }
  // What a client with these options is told of the run; nothing if it sees it.
  [[nodiscard]] static std::optional<coord::InfraError> refusal(WireHome& home,
                                                                client::RemoteOptions options) {
    options.address = home.address();
    options.retry.attempts_max = 1;
    const auto remote = home.connect(options);
    const auto run = remote->blocking()->get_run(kTenant, kRun);
    if (run) return std::nullopt;
    const auto* const infra = run.error().get_if<coord::InfraError>();
    CAD_CHECK(infra != nullptr, "the run is there");
    return *infra;
  }
  // A home in which the run is.
  [[nodiscard]] static std::unique_ptr<WireHome> home_behind(const Door& door) {
    auto home = std::make_unique<WireHome>(coord::replicated::Settings{}, door);
    const auto inside = home->coordination().blocking();
    EXPECT_TRUE(inside->create_run(at(1), kTenant, kRun, {.lease_duration = 60'000}));
    return home;
  }

  const TestAuthority certificates;
};

void expect_refused(const std::optional<coord::InfraError>& refusal, std::string_view advice) {
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind, Kind::kRefused) << refusal->message;
  EXPECT_TRUE(refusal->message.contains(advice)) << refusal->message;
}

TEST_F(Tls, AClientSpeaksToAServerOfItsAuthority) {
  const auto home = home_behind(door("server"));
  const auto remote = home->connect({.address = home->address(), .tls = trusting("authority")});
  const auto facade = remote->blocking();
  const auto run = facade->get_run(kTenant, kRun);
  ASSERT_TRUE(run) << to_text(run.error());
  const auto stream = remote->claims({kTenant, kRun, worker(1), 1});
  ASSERT_TRUE(facade->cancel_run(at(2), kTenant, kRun, op(1)));
  const auto over = stream->next();
  ASSERT_TRUE(over) << to_text(over.error());
  EXPECT_FALSE(over->has_value());
}

TEST_F(Tls, AServerOfAnotherAuthorityIsRefused) {
  const auto home = home_behind(door("server"));
  expect_refused(refusal(*home, {.address = {}, .tls = trusting("stranger")}),
                 "name the authority");
  expect_refused(
      refusal(*home_behind(door("stranger")), {.address = {}, .tls = trusting("authority")}),
      "name the authority");
}

TEST_F(Tls, AServerOfAnotherNameIsRefused) {
  const auto home = home_behind(door("elsewhere"));
  expect_refused(refusal(*home, {.address = {}, .tls = trusting("authority")}),
                 "not for this address");
}

TEST_F(Tls, FilesThatAreNoneAreRefused) {
  const auto home = home_behind(door("server"));
  client::TlsOptions foreign_key = presenting("worker");
  foreign_key.key = certificates.key("stranger");
  for (const client::TlsOptions& tls : {client::TlsOptions{.authority = "text"}, foreign_key})
    expect_refused(refusal(*home, {.address = {}, .tls = tls}), "PEM");
}

TEST_F(Tls, BothEndsMustSpeakIt) {
  expect_refused(refusal(*home_behind({}), {.address = {}, .tls = trusting("authority")}),
                 "does not speak TLS");
  const auto plain = refusal(*home_behind(door("server")), {.address = {}});
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->message.contains("it wants TLS")) << plain->message;
}

TEST_F(Tls, OnlyClientsOfTheServersAuthorityAreLetIn) {
  Door mutual = door("server");
  mutual.tls->client_ca = certificates.certificate("authority");
  const auto home = home_behind(mutual);
  const auto known = refusal(*home, {.address = {}, .tls = presenting("worker")});
  EXPECT_FALSE(known) << known->message;
  for (const auto& tls : {trusting("authority"), presenting("stranger")}) {
    const auto unknown = refusal(*home, {.address = {}, .tls = tls});
    ASSERT_TRUE(unknown);
    EXPECT_TRUE(unknown->message.contains("client certificate")) << unknown->message;
  }
}

TEST_F(Tls, TokensCountUnderTlsToo) {
  Door with_tokens = door("server");
  with_tokens.tokens = fmt::format("{} acme\n", kToken);
  const auto home = home_behind(with_tokens);
  const auto tls = trusting("authority");
  const auto known = refusal(*home, {.address = {}, .tls = tls, .token = kToken});
  EXPECT_FALSE(known) << known->message;
  expect_refused(refusal(*home, {.address = {}, .tls = tls}), "unauthenticated");
  expect_refused(refusal(*home, {.address = {}, .tls = tls, .token = "token-of-nobody-00"}),
                 "unauthenticated");
}

TEST_F(Tls, ACertificateComesWithItsKey) {
  const auto home = home_behind(door("server"));
  client::TlsOptions half = presenting("worker");
  half.key.clear();
  const base::SystemClock clock;
  base::SeededRandom random(1);
  client::AlarmTimer timer;
  const auto opened = client::RemoteCoordination::open({.address = home->address(), .tls = half},
                                                       {clock, random, timer});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, client::RemoteError::kBadTls);
}

}  // namespace
}  // namespace cadastre::wire
