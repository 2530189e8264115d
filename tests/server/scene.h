// Requests of one tenant, for tests of the handlers.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "cadastre/v1/coordination.pb.h"

#include "base/random.h"
#include "base/result.h"
#include "client/wire_error.h"
#include "client/wire_values.h"
#include "coord/identity.h"
#include "coord/memory/memory_backend.h"
#include "coord/tenant_name.h"
#include "server/access.h"
#include "server/coordination_handlers.h"
#include "server/handlers_testing.h"

namespace cadastre::server {

inline std::string tenant_bytes(std::string_view name) {
  return client::to_wire(coord::tenant_named(name));
}

inline AccessTable access_of(std::string_view text) {
  if (text.empty()) return AccessTable::open_to_all();
  base::SeededRandom random(3);
  auto table = AccessTable::parse(text, random);
  CAD_CHECK(table.has_value(), "the test's tokens are well-formed");
  return *std::move(table);
}

// The stable code of a refusal.
inline std::string code_of(const client::WireStatus& status) {
  if (status.code == client::StatusCode::kOk) return "ok";
  return std::string(coord::code_name(client::from_status(status, coord::TenantId())));
}

class Scene : public HandlerScene {
 public:
  explicit Scene(std::string_view tokens = "", const coord::memory::MemoryOptions& options = {})
      : Scene(std::make_unique<coord::memory::MemoryBackend>(options), tokens) {}

  // A run with `shards` of them, one byte each, and leases of `lease` milliseconds.
  void make_run(std::uint64_t run, int shards, std::uint64_t lease = 1000) {
    v1::CreateRunRequest create;
    create.set_tenant(tenant_bytes("acme"));
    create.set_run(run);
    create.mutable_config()->set_cursor_semantics(v1::CURSOR_SEMANTICS_COMPLETED);
    create.mutable_config()->set_lease_duration(lease);
    v1::Run created;
    ASSERT_EQ(code_of(call(&CoordinationHandlers::create_run, create, created)), "ok");
    v1::RegisterShardsRequest request;
    request.set_tenant(tenant_bytes("acme"));
    request.set_run(run);
    request.set_op_id(1);
    for (int i = 0; i < shards; ++i) {
      v1::InitialShard& shard = *request.add_shards();
      shard.set_shard(static_cast<std::uint64_t>(i) + 1);
      shard.mutable_spec()->set_start(std::string(1, static_cast<char>('a' + i)));
      shard.mutable_spec()->set_end(std::string(1, static_cast<char>('b' + i)));
    }
    v1::RegisterShardsResponse registered;
    ASSERT_EQ(code_of(call(&CoordinationHandlers::register_shards, request, registered)), "ok");
  }

  [[nodiscard]] v1::Grant claim(std::uint64_t run, std::uint64_t worker) {
    v1::ClaimRequest request;
    request.set_tenant(tenant_bytes("acme"));
    request.set_run(run);
    request.set_worker(worker);
    v1::Grant grant;
    EXPECT_EQ(code_of(call(&CoordinationHandlers::claim, request, grant)), "ok");
    return grant;
  }

  std::string release(const v1::Lease& lease, std::uint64_t op) {
    v1::CheckpointRequest request;
    request.set_tenant(tenant_bytes("acme"));
    *request.mutable_lease() = lease;
    request.set_op_id(op);
    v1::OutcomeResponse answer;
    return code_of(call(&CoordinationHandlers::release, request, answer));
  }

  std::unique_ptr<coord::memory::MemoryBackend> records;

 private:
  Scene(std::unique_ptr<coord::memory::MemoryBackend> backend, std::string_view tokens)
      : HandlerScene(*backend, access_of(tokens)), records(std::move(backend)) {}
};

}  // namespace cadastre::server
