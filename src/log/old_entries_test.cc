#include "log/old_entries.h"

#include <gtest/gtest.h>

namespace cadastre::log {
namespace {

constexpr base::Elapsed kNow{1'000'000'000};
constexpr std::size_t kBytes = kFetchPieceBytes;
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

// ---- Pieces --------------------------------------------------------------------------------------

constexpr std::size_t kSmall = kCatchUpPieceBytes / 2;

Reader::Request want(std::uint64_t low, std::uint64_t high, std::uint64_t token) {
  return {GroupId{1}, Incarnation{1}, Index{low}, Index{high}, token};
}

// What the reader brings for it.
Reader::Answer brought(const Reader::Request& request, std::size_t entry_bytes = kSmall) {
  std::vector<Entry> entries;
  for (std::uint64_t at = request.low.value(); at <= request.high.value(); ++at)
    entries.push_back({.at = {Term{1}, Index{at}}, .body = Body::copy_of(Bytes(entry_bytes))});
  return {request, std::move(entries)};
}

struct Piece {
  std::uint64_t token;
  std::vector<std::uint64_t> indexes;
  bool operator==(const Piece&) const = default;
};

// The one that goes now.
Piece piece(OldEntries& old, base::Elapsed now) {
  const std::vector<Reader::Answer> taken = old.take(now);
  EXPECT_EQ(taken.size(), 1U);
  Piece piece{taken.at(0).request.token, {}};
  for (const Entry& entry : *taken.at(0).entries)
    piece.indexes.push_back(entry.at.index.value());
  return piece;
}

TEST(OldEntries, GoInPiecesBesideCommands) {
  constexpr base::Elapsed kPieceApart{1'000'000'000 * kCatchUpPieceBytes / kCatchUpBytesPerSecond};
  OldEntries old;
  old.busy(kNow);
  old.add(brought(want(1, 5, 1)), kNow);
  EXPECT_EQ(piece(old, kNow), (Piece{1, {1, 2}}));
  EXPECT_TRUE(old.serve(want(3, 9, 2), kNow));
  EXPECT_EQ(old.next_due(), kNow + kPieceApart);
  EXPECT_EQ(piece(old, kNow + kPieceApart), (Piece{2, {3, 4}}));
  EXPECT_TRUE(old.serve(want(5, 9, 3), kNow + kPieceApart));
  EXPECT_EQ(piece(old, kNow + 2 * kPieceApart), (Piece{3, {5}}));
  EXPECT_FALSE(old.serve(want(6, 9, 4), kNow + 2 * kPieceApart)) << "the reader is to be asked";
}

TEST(OldEntries, AnEntryIsNotCut) {
  OldEntries old;
  old.busy(kNow);
  old.add(brought(want(1, 2, 1), 2 * kCatchUpPieceBytes), kNow);
  EXPECT_EQ(piece(old, kNow), (Piece{1, {1}}));
}

TEST(OldEntries, GoInLargerPiecesWhereThereIsNothingElseToDo) {
  static_assert(kFetchPieceBytes == 8 * kSmall);
  OldEntries old;
  old.add(brought(want(1, 12, 1)), kNow);
  EXPECT_EQ(piece(old, kNow), (Piece{1, {1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_TRUE(old.serve(want(9, 20, 2), kNow));
  EXPECT_EQ(piece(old, kNow), (Piece{2, {9, 10, 11, 12}}));
}

TEST(OldEntries, ARestIsForWhoeverAsksForIt) {
  OldEntries old;
  old.busy(kNow);
  old.add(brought(want(1, 4, 1)), kNow);
  Reader::Request other_group = want(3, 4, 2);
  other_group.group = GroupId{2};
  EXPECT_FALSE(old.serve(other_group, kNow));
  Reader::Request other_log = want(3, 4, 2);
  other_log.incarnation = Incarnation{2};
  EXPECT_FALSE(old.serve(other_log, kNow));
  EXPECT_FALSE(old.serve(want(2, 4, 2), kNow));
  EXPECT_FALSE(old.serve(want(4, 4, 2), kNow));
  EXPECT_FALSE(old.serve(want(3, 3, 2), kNow)) << "more than it asks for";
  EXPECT_TRUE(old.serve(want(3, 4, 2), kNow));
}

TEST(OldEntries, RestsThatNobodyAsksForGo) {
  constexpr std::uint64_t kRests = kFetchRestsBytesMax / kFetchBytesMax;
  OldEntries old;
  const auto add = [&](std::uint64_t low) {
    Reader::Answer answer = brought(want(low, low + 1, low));
    answer.entries->back().body = Body::copy_of(Bytes(kFetchBytesMax));
    old.busy(kNow);
    old.add(std::move(answer), kNow);
  };
  for (std::uint64_t i = 0; i <= kRests; ++i)
    add(10 * i);
  EXPECT_FALSE(old.serve(want(1, 9, 99), kNow));
  EXPECT_TRUE(old.serve(want(11, 19, 99), kNow))
      << "what is here counts no more once it was asked for";
  add(10 * (kRests + 1));
  EXPECT_TRUE(old.serve(want(21, 29, 99), kNow));
}

}  // namespace
}  // namespace cadastre::log
