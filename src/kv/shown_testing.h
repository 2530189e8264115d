// Answers as text, so that a test reads as a table: "key=value", "nothing", or the error's sentence.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::kv {

[[nodiscard]] inline std::string text_of(ByteView bytes) {
  return std::string(base::as_text(bytes));
}

[[nodiscard]] inline std::string shown(const Result<std::optional<EntryView>, Error>& answer) {
  if (!answer) return to_string(answer.error());
  if (!*answer) return "nothing";
  return text_of((*answer)->key) + "=" + text_of((*answer)->value);
}

[[nodiscard]] inline std::string shown(const Result<std::optional<ByteView>, Error>& answer) {
  if (!answer) return to_string(answer.error());
  return *answer ? text_of(**answer) : "nothing";
}

[[nodiscard]] inline std::string shown(const Result<void, Error>& answer) {
  return answer ? "done" : to_string(answer.error());
}

[[nodiscard]] inline std::string shown(ErrorCode code) {
  return to_string(Error{code});
}

// Every entry in order.
[[nodiscard]] inline std::vector<std::string> contents(Reader& reader) {
  std::vector<std::string> entries;
  const auto cursor = reader.cursor().value();
  auto entry = cursor->next();
  for (; entry && *entry; entry = cursor->next())
    entries.push_back(shown(entry));
  EXPECT_TRUE(entry) << shown(entry);
  return entries;
}

}  // namespace cadastre::kv
