#include "log/old_entries.h"

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

constexpr base::Elapsed kNow{1'000'000'000};
constexpr std::size_t kBytes = kFetchBytesMax;
constexpr base::Elapsed kApart{1'000'000'000 * kBytes / kCatchUpBytesPerSecond};

Reader::Answer answer(std::uint64_t token) {
  std::vector<Entry> entries;
  entries.push_back({.at = {Term{1}, Index{1}}, .body = Body::copy_of(Bytes(kBytes))});
  return {{GroupId{1}, Incarnation{1}, Index{1}, Index{1}, token}, std::move(entries)};
}

std::vector<std::uint64_t> tokens(const std::vector<Reader::Answer>& answers) {
  std::vector<std::uint64_t> tokens;
  for (const Reader::Answer& each : answers)
    tokens.push_back(each.request.token);
  return tokens;
}

using Tokens = std::vector<std::uint64_t>;

TEST(OldEntries, PassAtOnceWhileThereIsNothingElseToDo) {
  OldEntries old;
  old.add(answer(1), kNow);
  old.add(answer(2), kNow);
  EXPECT_EQ(tokens(old.take(kNow)), (Tokens{1, 2}));
  EXPECT_EQ(old.next_due(), std::nullopt);
}

TEST(OldEntries, GoAtTheirPaceBesideCommands) {
  OldEntries old;
  old.busy(kNow);
  for (const std::uint64_t token : Tokens{1, 2, 3})
    old.add(answer(token), kNow);
  EXPECT_EQ(tokens(old.take(kNow)), Tokens{1});
  EXPECT_EQ(old.next_due(), kNow + kApart);
  EXPECT_EQ(tokens(old.take(kNow + kApart - base::Elapsed{1})), Tokens{});
  EXPECT_EQ(tokens(old.take(kNow + 2 * kApart)), (Tokens{2, 3}));
}

TEST(OldEntries, AreFreeAgainSoonAfterTheLastCommand) {
  OldEntries old;
  old.busy(kNow);
  old.add(answer(1), kNow);
  const base::Elapsed later = kNow + kCatchUpBusyFor;
  old.add(answer(2), later);
  old.add(answer(3), later);
  EXPECT_EQ(tokens(old.take(later)), (Tokens{1, 2, 3}));
}

TEST(OldEntries,
     WhatIsGoneWaitsForNothing) {  // An engine must learn of it, and ask for a snapshot.
  OldEntries old;
  old.busy(kNow);
  old.add(answer(1), kNow);
  old.add({answer(2).request, base::fail(LogReadError::kGone)}, kNow);
  EXPECT_EQ(tokens(old.take(kNow)), (Tokens{1, 2}));
}

}  // namespace
}  // namespace cadastre::log
