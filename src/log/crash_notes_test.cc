#include "log/crash_notes.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "log/limits.h"

namespace cadastre::log {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::Instant kBegin{std::chrono::hours(500'000)};

CrashNote note(base::Instant at, std::uint64_t group = 7, std::string message = "to_commit 99") {
  return {at, GroupId{group}, NodeId{2}, std::move(message)};
}

TEST(GroupsToQuarantine, ThreeTimesInTenMinutesOnTheSameGroup) {  // L-36
  struct Case {
    const char* what;
    std::vector<CrashNote> notes;
    std::vector<GroupId> expected;
  };
  const std::vector<Case> cases = {
      {"nothing happened", {}, {}},
      {"twice is chance", {note(kBegin), note(kBegin + seconds(1))}, {}},
      {"three times at once", {note(kBegin), note(kBegin), note(kBegin)}, {GroupId{7}}},
      {"the very end of ten minutes",
       {note(kBegin), note(kBegin + minutes(5)), note(kBegin + minutes(10))},
       {GroupId{7}}},
      {"a little later",
       {note(kBegin), note(kBegin + minutes(5)), note(kBegin + minutes(10) + seconds(1))},
       {}},
      {"once an hour, however often",
       {note(kBegin), note(kBegin + minutes(60)), note(kBegin + minutes(120)),
        note(kBegin + minutes(180))},
       {}},
      {"the last three of four",
       {note(kBegin), note(kBegin + minutes(60)), note(kBegin + minutes(61)),
        note(kBegin + minutes(62))},
       {GroupId{7}}},
      {"long ago, and another one since: it stays",
       {note(kBegin), note(kBegin), note(kBegin), note(kBegin + minutes(60'000))},
       {GroupId{7}}},
      {"on three groups", {note(kBegin, 7), note(kBegin, 8), note(kBegin, 9)}, {}},
      {"two groups in turn",
       {note(kBegin, 9), note(kBegin, 8), note(kBegin, 9), note(kBegin, 8), note(kBegin, 9),
        note(kBegin, 8)},
       {GroupId{8}, GroupId{9}}},
      {"the clock was set back in between",
       {note(kBegin), note(kBegin - minutes(60)), note(kBegin + seconds(1))},
       {}},
      {"the clock went back a little",
       {note(kBegin), note(kBegin - minutes(1)), note(kBegin + seconds(1))},
       {GroupId{7}}},
  };
  for (const Case& each : cases)
    EXPECT_EQ(groups_to_quarantine(each.notes), each.expected) << each.what;
}

TEST(CrashNotes, AreText) {
  const std::vector<CrashNote> notes{note(base::Instant(seconds(1))),
                                     note(base::Instant(seconds(2)), 8, "two words")};
  const std::string text = encode_crash_notes(notes);
  EXPECT_EQ(text,
            "cadastre crash notes 1\n"
            "1000 7 2 78adc767 to_commit 99\n"
            "2000 8 2 e95fb5f4 two words\n");
  EXPECT_EQ(decode_crash_notes(text), notes);
}

TEST(CrashNotes, KeepTheNewestAndCutWhatIsLong) {
  std::vector<CrashNote> notes;
  for (std::size_t i = 0; i < kCrashNotesMax + 5; ++i)
    notes.push_back(note(kBegin + seconds(i), i, std::string(4 * kCrashMessageBytesMax, 'x')));
  notes.back().message = "one\n  two\tthree\x7f";
  const std::string text = encode_crash_notes(notes);
  EXPECT_LE(text.size(), kCrashNotesBytesMax);
  const auto read = decode_crash_notes(text);
  ASSERT_TRUE(read) << read.error().detail;
  ASSERT_EQ(read->size(), kCrashNotesMax);
  EXPECT_EQ(read->front().group, GroupId{5});
  EXPECT_EQ(read->front().message, std::string(kCrashMessageBytesMax, 'x'));
  EXPECT_EQ(read->back().message, "one   two three ");
  EXPECT_EQ(fit_note(note(kBegin, 7, "")).message, "?");
}

TEST(CrashNotes, AnyByteThatIsAnotherOrMissingIsDamage) {
  const std::string good = encode_crash_notes(std::vector{note(kBegin), note(kBegin, 8)});
  const std::size_t first = std::string_view("cadastre crash notes 1\n").size();
  const std::size_t second = good.find('\n', first) + 1;
  for (std::size_t at = 0; at < good.size(); ++at) {
    const bool whole_notes = at == first || at == second;
    EXPECT_EQ(decode_crash_notes(good.substr(0, at)).has_value(), whole_notes) << at;
    std::string bad = good;
    bad[at] ^= 1;
    EXPECT_FALSE(decode_crash_notes(bad).has_value()) << at;
  }
  EXPECT_FALSE(decode_crash_notes(good + "\n"));
  EXPECT_FALSE(decode_crash_notes(std::string(kCrashNotesBytesMax + 1, 'x')));
}

TEST(CrashNotes, AReasonSaysWhatToDo) {
  const std::string reason = quarantine_reason(GroupId{7}, NodeId{2});
  for (const char* part : {"group 7", "node 2", "3 times", "10 minutes", "learner", "new raft_id"})
    EXPECT_NE(reason.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace cadastre::log
