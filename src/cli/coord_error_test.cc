#include "cli/coord_error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/command_error.h"
#include "cli/options.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/split_coverage.h"

namespace cadastre::cli {
namespace {

constexpr coord::RunId kRun = coord::RunId::from_raw(1);
constexpr coord::ShardKey kKey{kRun, coord::ShardId::from_raw(10)};

coord::LogicalTime time(std::uint64_t raw) {
  return coord::LogicalTime::from_raw(raw);
}

struct Case {
  CommandError error;
  const char* json;  // of the error, without its detail
};

// Everything but the sentence, which the protocol's own tests read.
std::string without_detail(CommandError error) {
  EXPECT_FALSE(error.detail.empty());
  error.detail.clear();
  return error_line(error, Format::kJson);
}

// Errors that no command can provoke in memory, and how each family names its fields.
TEST(CoordError, KeepsItsNameAndSaysWhetherToRetry) {
  const std::vector<Case> cases = {
      {from_coord(coord::TenantMismatch{}),
       R"({"error":{"code":"tenant_mismatch","detail":"","retry":"never"}})"},
      {from_coord(coord::ConfigMismatch{kRun}),
       R"({"error":{"code":"config_mismatch","detail":"","retry":"never"}})"},
      {from_coord(coord::RunNotSettled{2, 1}),
       R"({"error":{"code":"run_not_settled","detail":"","retry":"later"}})"},
      {from_coord(coord::Throttled{time(110)}),
       R"({"error":{"code":"throttled","detail":"","retry":"later","retry_after":110}})"},
      {from_coord(coord::transient("renew.txn", "timeout")),
       R"({"error":{"code":"transient","detail":"","retry":"later"}})"},
      {from_coord(coord::corruption("renew.load", "no record")),
       R"({"error":{"code":"corruption","detail":"","retry":"never"}})"},
      {from_coord(coord::RegistrationExhausted{"shard_slab"}),
       R"({"error":{"code":"resource_exhausted","detail":"","retry":"later"}})"},
      {from_coord(coord::NoneAvailable{std::nullopt}),
       R"({"error":{"code":"none_available","detail":"","retry":"never"}})"},
      {from_coord(coord::CursorRegression{17, std::nullopt}),
       R"({"error":{"code":"cursor_regression","detail":"","retry":"never","old_len":17}})"},
      {from_coord(coord::SplitInvalid{{.code = shard::SplitError::Code::kShardLimitExceeded,
                                       .scope = shard::SplitError::Scope::kGlobal,
                                       .values = {7, 2, 8}}}),
       R"({"error":{"code":"shard_limit_exceeded","detail":"","retry":"never","current":7,)"
       R"("additional":2,"max":8,"scope":"global"}})"},
      {from_coord(coord::SplitInvalid{
           {.code = shard::SplitError::Code::kBackendChildLimitExceeded, .values = {40, 39}}}),
       R"({"error":{"code":"backend_child_limit_exceeded","detail":"","retry":"never",)"
       R"("requested":40,"backend_max":39}})"},
      {from_coord(coord::SplitInvalid{{.code = shard::SplitError::Code::kDerivedIdCollision,
                                       .values = {std::uint64_t{1} << 63}}}),
       R"({"error":{"code":"derived_id_collision","detail":"","retry":"never",)"
       R"("shard":"9223372036854775808"}})"},
      {from_coord(coord::SplitInvalid{
           {.code = shard::SplitError::Code::kBoundaryMismatch, .values = {1, 0, 3, 4}}}),
       R"({"error":{"code":"boundary_mismatch","detail":"","retry":"never","child_index":1,)"
       R"("next_child_index":0,"child_end_len":3,"next_child_start_len":4}})"},
  };
  for (const Case& row : cases)
    EXPECT_EQ(without_detail(row.error), row.json);
}

// SEC-1, SEC-5, SEC-6: neither owner nor hashes nor another tenant, in words or fields.
TEST(CoordError, TellsNeitherOwnersNorHashes) {
  const auto leased = error_line(
      from_coord(coord::AlreadyLeased(coord::WorkerId::from_raw(4242), time(110))), Format::kJson);
  EXPECT_EQ(leased.find("4242"), std::string::npos);
  EXPECT_NE(leased.find(R"("deadline":110)"), std::string::npos);
  const auto conflict =
      error_line(from_coord(coord::OpIdConflict(coord::OpId::from_raw(7), 0xdeadbeef, 0xcafebabe)),
                 Format::kJson);
  for (const char* const secret : {"deadbeef", "cafebabe", "3735928559", "3405691582"})
    EXPECT_EQ(conflict.find(secret), std::string::npos) << secret;
  EXPECT_NE(conflict.find(R"("op_id":7)"), std::string::npos);
}

TEST(CoordError, OfASetIsTheErrorThatItHolds) {
  const coord::RenewError error = coord::ShardTerminal{kKey, coord::ShardStatus::kParked};
  EXPECT_EQ(from_coord(error), from_coord(coord::ShardTerminal{kKey, coord::ShardStatus::kParked}));
  EXPECT_EQ(from_coord(error).code, "shard_terminal");
}

}  // namespace
}  // namespace cadastre::cli
