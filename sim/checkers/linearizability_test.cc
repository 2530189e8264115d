#include "sim/checkers/linearizability.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sim/checkers/history.h"
#include "sim/checkers/history_text.h"
#include "sim/checkers/model.h"
#include "sim/checkers/shard_model.h"

namespace cadastre::sim::checkers {
namespace {

struct Stanza {
  std::string title;
  std::string history;
  std::string verdict;
};

std::vector<Stanza> stanzas_of(const std::string& file) {
  std::ifstream in(std::string(CADASTRE_SOURCE_DIR) + "/sim/checkers/testdata/" + file);
  std::vector<Stanza> stanzas(1);
  bool below_line = false;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      if (below_line) stanzas.emplace_back();
      if (!below_line) stanzas.back() = {};  // A comment of the file.
      below_line = false;
    } else if (line == "----") {
      below_line = true;
    } else if (below_line) {
      stanzas.back().verdict = line;
    } else if (line.starts_with("# ")) {
      stanzas.back().title = line.substr(2);
    } else {
      stanzas.back().history += line + "\n";
    }
  }
  if (stanzas.back().verdict.empty()) stanzas.pop_back();
  return stanzas;
}

std::size_t expect_verdicts(const std::string& file, const Model& model) {
  std::size_t refuted = 0;
  for (const Stanza& stanza : stanzas_of(file)) {
    const auto history = history_of(stanza.history);
    if (!history) {
      ADD_FAILURE() << stanza.title << ": " << history.error().detail;
      continue;
    }
    const Judgement judgement = check_linearizable(history->operations(), model);
    std::string verdict(name(judgement.verdict));
    if (stanza.verdict.find(" k") != std::string::npos)
      verdict += " k" + std::to_string(judgement.key.value_or(KeyId{}).value());
    EXPECT_EQ(verdict, stanza.verdict) << stanza.title << "\n"
                                       << stanza.history << judgement.detail;
    EXPECT_EQ(judgement.key.has_value(), judgement.verdict != Verdict::kLinearizable);
    if (judgement.verdict == Verdict::kNotLinearizable) ++refuted;
  }
  return refuted;
}

TEST(Linearizability, JudgesRegistersAsTheTranscriptsSay) {
  EXPECT_EQ(stanzas_of("register.txt").size(), 26U);
  EXPECT_EQ(expect_verdicts("register.txt", RegisterModel()), 12U);
}

TEST(Linearizability, JudgesLogsAsTheTranscriptsSay) {
  EXPECT_EQ(stanzas_of("log.txt").size(), 15U);
  EXPECT_EQ(expect_verdicts("log.txt", LogModel()), 10U);
}

TEST(Linearizability, JudgesShardsAsTheTranscriptsSay) {
  EXPECT_EQ(stanzas_of("shard.txt").size(), 17U);
  EXPECT_EQ(expect_verdicts("shard.txt", ShardModel()), 12U);
}

Judgement judged(std::string_view text, std::uint64_t work_max = kWorkMax) {
  const auto history = history_of(text);
  EXPECT_TRUE(history.has_value()) << (history ? "" : history.error().detail);
  return check_linearizable(history->operations(), RegisterModel(), work_max);
}

TEST(Linearizability, SaysWhereItGotStuck) {
  const Judgement judgement = judged(
      "1..2  c1  k4  write 7   -> ok\n"
      "3..4  c2  k4  read      -> 6\n"
      "5..6  c2  k4  read      -> 7\n");
  EXPECT_EQ(judgement.verdict, Verdict::kNotLinearizable);
  EXPECT_EQ(judgement.key, KeyId{4});
  EXPECT_NE(judgement.detail.find("1 of 3 operations"), std::string::npos) << judgement.detail;
  EXPECT_NE(judgement.detail.find("read             -> 6"), std::string::npos) << judgement.detail;
  EXPECT_EQ(judgement.detail.find("-> 7"), std::string::npos) << judgement.detail;
}

// Giving up is a verdict of its own, which nobody can take for a proof.
TEST(Linearizability, GivesUpWhenTheWorkRunsOut) {
  std::string text;
  for (int i = 1; i <= 12; ++i)
    text += "1..9 c" + std::to_string(i) + " k1 write " + std::to_string(i) + " -> ok\n";
  text += "10..11 c1 k1 read -> 99\n";
  EXPECT_EQ(judged(text, 1'000).verdict, Verdict::kGaveUp);
  EXPECT_LT(judged(text, 1'000).work, 2'000U);
  EXPECT_EQ(judged(text).verdict, Verdict::kNotLinearizable);
}

TEST(Linearizability, ARefutedKeyCountsMoreThanOneGivenUp) {
  std::string text;
  for (int i = 1; i <= 12; ++i)
    text += "1..9 c" + std::to_string(i) + " k2 write " + std::to_string(i) + " -> ok\n";
  text += "10..11 c1 k2 read -> 99\n";
  text += "1..2 c1 k1 read -> 5\n";
  const Judgement judgement = judged(text, 1'000);
  EXPECT_EQ(judgement.verdict, Verdict::kNotLinearizable);
  EXPECT_EQ(judgement.key, KeyId{1});
}

// Each is concurrent with all that follows: without what the search knows of them, 2^200 subsets.
TEST(Linearizability, BearsManyWritesOfUnknownOutcome) {
  std::string text;
  for (int i = 1; i <= 200; ++i) {
    const std::string at = std::to_string(10 * i);
    text += at + ".. c1 k1 write " + std::to_string(i) + " -> unknown\n";
    text += at + ".." + std::to_string(10 * i + 5) + " c2 k1 write 1000 -> ok\n";
    text += std::to_string(10 * i + 6) + ".." + std::to_string(10 * i + 7) + " c2 k1 read -> " +
            std::to_string(i % 3 == 0 ? i / 2 + 1 : 1000) + "\n";
  }
  EXPECT_EQ(judged(text).verdict, Verdict::kLinearizable);
  // Value 2 was written once, and read when i was 3: it cannot come back.
  text += "5000..5001 c2 k1 write 1000 -> ok\n5002..5003 c2 k1 read -> 2\n";
  const Judgement judgement = judged(text);
  EXPECT_EQ(judgement.verdict, Verdict::kNotLinearizable) << judgement.detail;
}

// A read that fits is taken at once and for good: an order that fails with it fails without it.
TEST(Linearizability, DoesNotPutOffReadsThatFit) {
  std::string text;
  for (int i = 1; i <= 8; ++i)
    text += "1..9 c" + std::to_string(i) + " k1 write 1 -> ok\n";
  for (int i = 9; i <= 24; ++i)
    text += "1..9 c" + std::to_string(i) + " k1 read -> 1\n";
  EXPECT_EQ(judged(text).verdict, Verdict::kLinearizable);
  const Judgement judgement = judged(text + "10..11 c1 k1 read -> 3\n");
  EXPECT_EQ(judgement.verdict, Verdict::kNotLinearizable);
  EXPECT_LT(judgement.work, 3'000U);
}

// The same write by many, none of whom was answered: which of them it was makes no difference.
TEST(Linearizability, DoesNotTellEqualWritesOfUnknownOutcomeApart) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "1.. c" + std::to_string(i) + " k1 write 1 -> unknown\n";
  for (int i = 1; i <= 20; ++i) {
    text += std::to_string(10 * i) + ".." + std::to_string(10 * i + 1) + " c1 k1 write 2 -> ok\n";
    text += std::to_string(10 * i + 2) + ".." + std::to_string(10 * i + 3) + " c1 k1 read -> 1\n";
  }
  EXPECT_EQ(judged(text).verdict, Verdict::kLinearizable);
  const Judgement judgement = judged(text + "999..1000 c1 k1 read -> 3\n");
  EXPECT_EQ(judgement.verdict, Verdict::kNotLinearizable);
  EXPECT_LT(judgement.work, 10'000U);
}

TEST(HistoryText, PrintsWhatItReads) {
  const std::string_view text =
      "10..20 c1 k1 write 7 -> ok\n"
      "# a comment\n"
      "\n"
      "15..30  c2 k1 read -> nil\n"
      "25..31  c3 k1 cas nil 8 -> swapped\n"
      "25..31  c3 k1 cas 7 nil -> kept\n"
      "32..35  c1 k1 write nil -> failed\n"
      "32..    c2 k1 write 5 -> unknown\n"
      "40..41  c1 k2 append 3 -> ok\n"
      "42..43  c1 k2 append-at 4 -> 2\n"
      "44..45  c2 k2 read-log -> [3 4]\n"
      "44..45  c2 k2 read-log -> []\n"
      "44..45  c2 k2 length -> 2\n";
  const auto history = history_of(text);
  ASSERT_TRUE(history.has_value()) << history.error().detail;
  ASSERT_EQ(history->operations().size(), 11U);
  const auto again = history_of(to_text(*history));
  ASSERT_TRUE(again.has_value()) << again.error().detail;
  for (std::size_t i = 0; i < 11; ++i)
    EXPECT_EQ(history->operations()[i], again->operations()[i])
        << to_text(history->operations()[i]);
}

TEST(HistoryText, RefusesWhatItDoesNotUnderstand) {
  for (const std::string_view line :
       {"10..20 c1 k1 write 7", "10 c1 k1 read -> 7", "20..10 c1 k1 read -> 7",
        "10.. c1 k1 read -> 7", "10..20 1 k1 read -> 7", "10..20 c1 x read -> 7",
        "10..20 c1 k1 peek -> 7", "10..20 c1 k1 read 3 -> 7", "10..20 c1 k1 read -> seven",
        "10..20 c1 k1 cas 1 -> kept", "10..20 c1 k1 cas x 1 -> kept", "10..20 c1 k1 cas 1 2 -> ok",
        "10..20 c1 k1 write 1 -> 1", "10..20 c1 k1 append nil -> ok",
        "10..20 c1 k1 read-log -> 1 2", "10..20 c1 k1 read-log -> [1 x]",
        "99999999999999999999..20 c1 k1 read -> 7", "10..20 c1 k1 read ->", "-> 7"}) {
    const auto history = history_of(line);
    ASSERT_FALSE(history.has_value()) << line;
    EXPECT_EQ(history.error().detail, line);
  }
}

}  // namespace
}  // namespace cadastre::sim::checkers
