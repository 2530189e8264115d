#include "cli/command_error.h"

#include <cerrno>
#include <cstdint>

#include <gtest/gtest.h>

#include "cli/options.h"
#include "shard/hint.h"
#include "shard/manifest.h"
#include "shard/shard_id.h"
#include "shard/spec_error.h"

namespace cadastre::cli {
namespace {

TEST(CommandError, WrongUsageExitsWith2AndEverythingElseWith1) {
  EXPECT_EQ(exit_status(usage_error("")), 2);
  EXPECT_EQ(exit_status(bad_request("")), 1);
  EXPECT_EQ(exit_status(bad_hex("K")), 1);
  EXPECT_EQ(exit_status(cannot_read("f", ENOENT)), 1);
}

TEST(CommandError, AnAlgebraErrorKeepsItsInnermostNameAndText) {
  const shard::MetadataDecodeError error{
      shard::MetadataDecodeError::Reason::kHint,
      shard::HintDecodeError{shard::HintDecodeError::Code::kTruncatedPrefix, 5, 1}};
  EXPECT_EQ(
      from_algebra(error),
      (CommandError{"truncated_prefix",
                    "the envelope's hint is malformed: prefix hint needs 5 bytes and has 1"}));
}

TEST(CommandError, AnInvalidSpecInAManifestKeepsTheManifestsName) {
  shard::ManifestError error{.code = shard::ManifestError::Code::kInvalidSpec,
                             .shard = shard::ShardId::from_raw(7)};
  error.spec_error = shard::SpecError::inverted_range(2, 1);
  EXPECT_EQ(from_algebra(error).code, "invalid_spec");
  EXPECT_EQ(from_algebra(error).detail, "shard 7: start (2 bytes) is not below end (1 bytes)");
}

TEST(CommandError, IsOneJsonObjectOrOneSentence) {
  const CommandError error{"some_code", "a \"quoted\" detail", Retry::kLater};
  EXPECT_EQ(error_line(error, Format::kJson),
            R"({"error":{"code":"some_code","detail":"a \"quoted\" detail","retry":"later"}})");
  EXPECT_EQ(error_line(error, Format::kHuman), "cadastre: some_code: a \"quoted\" detail");
}

TEST(CommandError, HasItsFieldsBehindTheRestInJson) {
  const CommandError error{
      "some_code",
      "a detail",
      Retry::kNever,
      {{"deadline", std::uint64_t{110}}, {"fence", std::uint64_t{1} << 60}, {"status", "parked"}}};
  EXPECT_EQ(error_line(error, Format::kJson),
            R"({"error":{"code":"some_code","detail":"a detail","retry":"never","deadline":110,)"
            R"("fence":"1152921504606846976","status":"parked"}})");
  EXPECT_EQ(error_line(error, Format::kHuman), "cadastre: some_code: a detail");
}

TEST(CommandError, ShowsNoRawControlOrBrokenBytes) {
  const CommandError error = usage_error("unexpected: \x1b[31m\xff\n");
  EXPECT_EQ(error_line(error, Format::kHuman), R"(cadastre: usage: unexpected: \x1b[31m\xff\x0a)");
  EXPECT_EQ(
      error_line(error, Format::kJson),
      R"({"error":{"code":"usage","detail":"unexpected: \\x1b[31m\\xff\\x0a","retry":"never"}})");
}

TEST(CommandError, TellsItsPlace) {
  EXPECT_EQ(at("line 3", bad_request("no id")), (CommandError{"bad_request", "line 3: no id"}));
}

}  // namespace
}  // namespace cadastre::cli
