#include "base/logger.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include "base/check.h"
#include "base/clock.h"
#include "base/logger_testing.h"
#include "base/strong.h"
#include "base/threads_testing.h"

namespace cadastre::base {
namespace {

using std::string_view_literals::operator""sv;
using ShardId = Strong<struct ShardIdTag>;

// 2026-01-31 12:34:56.789012 UTC.
constexpr Instant kNoon = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) +
                          std::chrono::hours(12) + std::chrono::minutes(34) +
                          std::chrono::microseconds(56'789'012);

// The line that `log` makes of one call.
template <class Call>
std::string line_of(LogForm form, Call call) {
  CapturedLog sink;
  const ManualClock clock(kNoon);
  call(Logger(sink, clock, form));
  const auto lines = sink.lines();
  EXPECT_EQ(lines.size(), 1U);
  return lines.empty() ? "" : lines.front();
}

// The part of a line that starts with `word`.
std::string from(std::string_view word, const std::string& line) {
  const std::size_t at = line.find(word);
  return at == std::string::npos ? "" : line.substr(at);
}

TEST(Logger, WritesTimeLevelPhraseAndFields) {
  const auto call = [](const Logger& log) {
    log.info("lease taken", {{"shard", ShardId{7}}, {"token", 2}});
  };
  EXPECT_EQ(line_of(LogForm::kText, call),
            "2026-01-31T12:34:56.789012Z info  lease taken shard=7 token=2");
  EXPECT_EQ(line_of(LogForm::kJson, call),
            R"({"time":"2026-01-31T12:34:56.789012Z","level":"info","event":"lease taken",)"
            R"("shard":7,"token":2})");
}

TEST(Logger, TakesNoFieldsAndEveryLevel) {
  CapturedLog sink;
  const ManualClock clock;
  const Logger log(sink, clock, LogForm::kText);
  log.error("disk full");
  log.warn("retried");
  log.info("started");
  EXPECT_EQ(sink.lines(), (std::vector<std::string>{"1970-01-01T00:00:00.000000Z error disk full",
                                                    "1970-01-01T00:00:00.000000Z warn  retried",
                                                    "1970-01-01T00:00:00.000000Z info  started"}));
  EXPECT_EQ(sink.levels(),
            (std::vector<LogLevel>{LogLevel::kError, LogLevel::kWarn, LogLevel::kInfo}));
}

TEST(Logger, WritesEveryKindOfValue) {
  const std::string owned = "owned";
  const auto call = [&](const Logger& log) {
    log.info("values", {{"i8", std::int8_t{-8}},
                        {"u8", std::uint8_t{65}},
                        {"least", std::numeric_limits<std::int64_t>::min()},
                        {"most", std::numeric_limits<std::uint64_t>::max()},
                        {"real", 0.5},
                        {"nan", std::numeric_limits<double>::quiet_NaN()},
                        {"inf", -std::numeric_limits<double>::infinity()},
                        {"yes", true},
                        {"literal", "text"},
                        {"view", "view"sv},
                        {"owned", owned}});
  };
  EXPECT_EQ(from("values", line_of(LogForm::kText, call)),
            "values i8=-8 u8=65 least=-9223372036854775808 most=18446744073709551615 real=0.5 "
            "nan=nan inf=-inf yes=true literal=text view=view owned=owned");
  EXPECT_EQ(from("\"values", line_of(LogForm::kJson, call)),
            R"("values","i8":-8,"u8":65,"least":-9223372036854775808,"most":18446744073709551615,)"
            R"("real":0.5,"nan":"nan","inf":"-inf","yes":true,"literal":"text","view":"view",)"
            R"("owned":"owned"})");
}

TEST(Logger, QuotesTextThatWouldBreakALine) {
  struct Case {
    std::string_view value;
    std::string_view text;
  };
  const std::vector<Case> cases = {
      {"plain-1.2:3/4", "plain-1.2:3/4"},
      {"", R"("")"},
      {"two words", R"("two words")"},
      {"a=b", R"("a=b")"},
      {R"(say "hi")", R"("say \"hi\"")"},
      {R"(back\slash)", R"("back\\slash")"},
      {"forged\n2026 error", R"("forged\u000a2026 error")"},
      {"\x1b[31m\x7f"sv, R"("\u001b[31m\u007f")"},
      {"naïve", R"("naïve")"},
      {"\xff\xc3"sv, R"("\ufffd\ufffd")"},
      {"ok\xed\xa0\x80ok"sv, R"("ok\ufffd\ufffd\ufffdok")"},
  };
  for (const auto& row : cases) {
    const auto call = [&](const Logger& log) {
      log.warn("odd", {{"value", row.value}});
    };
    EXPECT_EQ(from("odd", line_of(LogForm::kText, call)), "odd value=" + std::string(row.text));
  }
}

TEST(Logger, JsonLinesAreJsonForEveryByte) {
  for (unsigned code = 0; code < 256; ++code) {
    const std::string value{'a', static_cast<char>(code), 'z'};
    const auto call = [&](const Logger& log) {
      log.info("odd", {{"value", value}});
    };
    const auto line = line_of(LogForm::kJson, call);
    EXPECT_EQ(line.find('\n'), std::string::npos) << code;
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << code;
    EXPECT_EQ(parsed["value"], code < 0x80 ? value : "a\xef\xbf\xbdz") << code;
  }
}

TEST(Logger, ThreadsDoNotMixTheirLines) {
  CapturedLog sink;
  const ManualClock clock;
  const Logger log(sink, clock, LogForm::kText);
  run_in_threads(4, [&](int thread) {
    for (int turn = 0; turn < 100; ++turn)
      log.info("turn", {{"thread", thread}});
  });
  const auto lines = sink.lines();
  EXPECT_EQ(lines.size(), 400U);
  for (const auto& line : lines)
    EXPECT_EQ(line.size(), lines.front().size()) << line;
}

TEST(Logger, StderrGetsOneLineForEachCall) {
  const auto sink = stderr_log_sink();
  const ManualClock clock;
  const Logger log(*sink, clock, LogForm::kText);
  testing::internal::CaptureStderr();
  log.error("percent %v {} stays", {{"n", 1}});
  log.info("second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "1970-01-01T00:00:00.000000Z error percent %v {} stays n=1\n"
            "1970-01-01T00:00:00.000000Z info  second\n");
}

void log_names_twice() {
  CapturedLog sink;
  const ManualClock clock;
  Logger(sink, clock, LogForm::kJson).info("event", {{"shard", 1}, {"shard", 2}});
  std::_Exit(0);
}

void log_a_reserved_name() {
  CapturedLog sink;
  const ManualClock clock;
  Logger(sink, clock, LogForm::kJson).info("event", {{"level", 1}});
  std::_Exit(0);
}

TEST(LoggerDeathTest, SlowChecksRefuseNamesThatClash) {
  if constexpr (kSlowChecks) {
    EXPECT_DEATH(log_names_twice(), "field names are unique");
    EXPECT_DEATH(log_a_reserved_name(), "field names are unique");
  } else {
    EXPECT_EXIT(log_names_twice(), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(log_a_reserved_name(), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace cadastre::base
