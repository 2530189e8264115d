// Texts of errors: every code has its own sentence, and what is known beyond it is said.

#include "kv/error.h"

#include <cerrno>
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace cadastre::kv {
namespace {

TEST(KvError, EveryCodeHasItsOwnSentence) {
  std::set<std::string> sentences;
  constexpr auto kLast = static_cast<std::uint8_t>(ErrorCode::kIo);
  for (std::uint8_t code = 0; code <= kLast; ++code)
    sentences.insert(to_string(Error{static_cast<ErrorCode>(code)}));
  EXPECT_EQ(sentences.size(), kLast + 1U);
  EXPECT_FALSE(sentences.contains("an unknown error"));
}

TEST(KvError, NamesTheHolderAndTheReason) {
  EXPECT_EQ(to_string(Error{ErrorCode::kLocked, 0, 4711}),
            "the directory is in use by process 4711");
  EXPECT_EQ(to_string(Error{ErrorCode::kLocked}), "the directory is in use");
  EXPECT_EQ(to_string(Error{ErrorCode::kIo, EACCES}),
            "the operating system refused: Permission denied");
  EXPECT_EQ(to_string(Error{ErrorCode::kCorrupt, -30796}),
            "what is stored is damaged or of another format (code -30796)");
}

}  // namespace
}  // namespace cadastre::kv
