#include "cli/coord_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/options.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/shard_summary.h"
#include "coord/states.h"

namespace cadastre::cli {
namespace {

JsonLine parsed(const std::string& json) {
  auto line = JsonLine::parse(json);
  EXPECT_TRUE(line) << json;
  return *std::move(line);
}

template <class Parsed>
std::string code_of(const Parsed& parsed) {
  return parsed ? "" : parsed.error().code;
}

std::string hex(const coord::TenantId& tenant) {
  return base::to_hex(tenant.as_bytes());
}

// b3sum --derive-key cadastre/tenant/v1
TEST(TenantNamed, IsTheDigestOfItsName) {
  EXPECT_EQ(hex(tenant_named("acme")),
            "20747bbc817617a683de69feafa0bc3b35698849a805e84f129e0f32da47cfe5");
}

TEST(TenantWithId, TakesSixtyFourDigitsInEitherCase) {
  const std::string digits = "AB" + std::string(62, '0');
  EXPECT_EQ(hex(*tenant_with_id(digits, "it")), "ab" + std::string(62, '0'));
  EXPECT_EQ(code_of(tenant_with_id("ab", "it")), "bad_request");
  EXPECT_EQ(code_of(tenant_with_id(digits + "00", "it")), "bad_request");
  EXPECT_EQ(code_of(tenant_with_id(digits + "0", "it")), "bad_hex");
}

TEST(ParseCaller, NeedsOneTenantAndATimeThatIsOne) {
  const auto caller = [](const std::string& json) {
    const JsonLine line = parsed(json);
    return parse_caller(line.fields());
  };
  EXPECT_EQ(caller(R"({"tenant":"acme","now":1})")->tenant, tenant_named("acme"));
  EXPECT_EQ(caller(R"({"tenant":"acme","now":"18446744073709551615"})")->now.raw(), UINT64_MAX);
  EXPECT_EQ(
      hex(caller(R"({"tenant":null,"now":1,"tenant_id":")" + std::string(64, 'f') + "\"}")->tenant),
      std::string(64, 'f'));
  for (const char* const json :
       {R"({"now":1})", R"({"tenant":"acme"})", R"({"tenant":"acme","now":0})",
        R"({"tenant":"acme","now":"0"})", R"({"tenant":"","now":1})", R"({"tenant":{},"now":1})",
        R"({"tenant":"acme","tenant_id":"acme","now":1})"}) {
    EXPECT_EQ(code_of(caller(json)), "bad_request") << json;
  }
}

TEST(ParseLease, TakesOnlyWhatCanHaveBeenGranted) {
  const auto lease = [](const std::string& fence, const std::string& deadline) {
    const JsonLine line = parsed(R"({"run":1,"shard":"9223372036854775808","worker":3,"fence":)" +
                                 fence + R"(,"deadline":)" + deadline + "}");
    return parse_lease(line.fields(), tenant_named("acme"));
  };
  const auto granted = lease("2", "110");
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->tenant(), tenant_named("acme"));
  EXPECT_EQ(granted->shard().raw(), std::uint64_t{1} << 63);
  EXPECT_EQ(granted->owner().raw(), 3U);
  EXPECT_EQ(code_of(lease("0", "110")), "bad_request");
  EXPECT_EQ(code_of(lease("2", "0")), "bad_request");
  EXPECT_EQ(code_of(lease("-2", "110")), "bad_request");
}

TEST(MakeCursor, RefusesWhatTheProtocolCannotRepresent) {
  const base::Bytes key = base::to_owned(base::as_bytes("k"));
  EXPECT_FALSE(make_cursor(std::nullopt, {})->update().last_key());
  EXPECT_TRUE(make_cursor(key, {})->update().last_key());
  EXPECT_FALSE(make_cursor(key, {})->update().token());
  EXPECT_TRUE(make_cursor(key, key)->update().token());
  EXPECT_EQ(code_of(make_cursor(base::Bytes(), {})), "empty_last_key");
  EXPECT_EQ(code_of(make_cursor(base::Bytes(), key)), "empty_last_key");
  EXPECT_EQ(code_of(make_cursor(std::nullopt, key)), "bad_request");
}

TEST(ParseRunConfig, HasItsDefaults) {
  const JsonLine bare = parsed(R"({"lease_ms":5})");
  const auto config = parse_run_config(bare.fields());
  ASSERT_TRUE(config);
  EXPECT_EQ(config->lease_duration, 5U);
  EXPECT_EQ(config->cursor_semantics, coord::CursorSemantics::kCompleted);
  EXPECT_FALSE(config->max_shard_retries);
  const JsonLine full = parsed(R"({"lease_ms":5,"semantics":"dispatched","max_retries":"7"})");
  EXPECT_EQ(parse_run_config(full.fields())->max_shard_retries, 7U);
  EXPECT_EQ(parse_run_config(full.fields())->cursor_semantics, coord::CursorSemantics::kDispatched);
}

TEST(ParseShardListing, HasItsDefaults) {
  const JsonLine bare = parsed("{}");
  const auto listing = parse_shard_listing(bare.fields());
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->limit, coord::kListLimitDefault);
  EXPECT_FALSE(listing->after);
  EXPECT_FALSE(listing->filter.status);
  EXPECT_FALSE(listing->filter.root_only);
  const JsonLine full =
      parsed(R"({"filter":"available","root_only":true,"limit":3,"after":"9223372036854775809"})");
  const auto page = parse_shard_listing(full.fields());
  ASSERT_TRUE(page);
  EXPECT_EQ(page->filter.status, coord::ShardStatus::kActive);
  EXPECT_EQ(page->filter.is_leased, false);
  EXPECT_TRUE(page->filter.root_only);
  EXPECT_EQ(page->limit, 3U);
  EXPECT_EQ(page->after->raw(), (std::uint64_t{1} << 63) + 1);
}

TEST(ParseShards, TellsWhichOneIsWrong) {
  const JsonLine line = parsed(R"({"shards":[{"id":1,"start":"a","end":"b"},{"id":2}]})");
  const auto shards = parse_shards(line.fields(), KeyForm::kText);
  ASSERT_FALSE(shards);
  EXPECT_EQ(shards.error(), bad_request("shards[1]: the field \"start\" is missing"));
}

}  // namespace
}  // namespace cadastre::cli
