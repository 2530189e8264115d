#include "cli/command_line.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

using Words = std::vector<std::string>;

Words split(Words words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words)
    pointers.push_back(word.data());
  return with_empty_values(pointers);
}

// How the options were read, or the error's code.
std::string read(Words words) {
  std::string seen;
  const auto result = parse_and_run(
      std::move(words),
      [&](const Options& options, const Command& /*command*/) -> Result<void, CommandError> {
        seen += options.form.format == Format::kJson ? "json " : "human ";
        seen += options.form.keys == KeyForm::kHex ? "hex " : "text ";
        seen += options.mode == Mode::kBatch ? "batch" : "once";
        return {};
      });
  return result ? seen : result.error().code;
}

TEST(WithEmptyValues, GivesAnOptionItsEmptyValue) {
  EXPECT_EQ(split({"--start=", "--end", "b"}), (Words{"--start", "", "--end", "b"}));
  EXPECT_EQ(split({"--start=a", "", "-"}), (Words{"--start=a", "", "-"}));
  EXPECT_EQ(split({"--", "--start="}), (Words{"--", "--start="})) << "behind -- all are values";
}

TEST(FormatAskedFor, LooksBeforeTheEndOfOptions) {
  EXPECT_EQ(format_asked_for(Words{"key", "--json"}), Format::kJson);
  EXPECT_EQ(format_asked_for(Words{"key", "--batch"}), Format::kJson);
  EXPECT_EQ(format_asked_for(Words{"key", "--", "--json"}), Format::kHuman);
}

TEST(CommandLine, TakesFlagsAnywhere) {
  EXPECT_EQ(read({"key", "successor", "a"}), "human text once");
  EXPECT_EQ(read({"--json", "--hex", "key", "successor", "a"}), "json hex once");
  EXPECT_EQ(read({"key", "--json", "successor", "--hex", "a"}), "json hex once");
  EXPECT_EQ(read({"key", "successor", "a", "--hex", "--json"}), "json hex once");
  EXPECT_EQ(read({"--batch", "key"}), "human text batch");
  EXPECT_EQ(read({"hint", "--batch"}), "human text batch");
}

TEST(CommandLine, TakesAnyKey) {
  for (const char* const key :
       {"", "-", "key", "hint", "successor", "a=b", "[a,b]", "{}", "'a'", "%%", "/x", "-5"})
    EXPECT_EQ(read({"key", "successor", key}), "human text once") << key;
  for (const char* const key : {"--json", "-x", "--", "++", "--help"})
    EXPECT_EQ(read({"key", "successor", "--", key}), "human text once") << key;
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(read({}), "usage");
  EXPECT_EQ(read({"nothing"}), "usage");
  EXPECT_EQ(read({"key", "nothing"}), "usage");
  EXPECT_EQ(read({"key", "successor"}), "usage");
  EXPECT_EQ(read({"key", "successor", "a", "b"}), "usage");
  EXPECT_EQ(read({"key", "successor", "-x"}), "usage");
  EXPECT_EQ(read({"key", "successor", "a", "midpoint", "b", "c"}), "usage");
  EXPECT_EQ(read({"shard", "plan", "--count"}), "usage");
  EXPECT_EQ(read({"shard", "plan", "--count", "1", "--count", "2"}), "usage");
  EXPECT_EQ(read({"shard", "plan", "--manifest", "1", "--rows", "0..1"}), "usage");
}

}  // namespace
}  // namespace cadastre::cli
