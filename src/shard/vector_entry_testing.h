// Entries of vector files: one case each, as an object with an id.
//
// An entry counts which of its fields were looked at, so that a check that forgets one fails. Some
// fields are for people: the note, and what the entry chose where its rule leaves a choice.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "shard/hexrun_testing.h"

namespace cadastre::shard {

using Json = nlohmann::json;

// 64-bit integers are decimal strings in the files.
[[nodiscard]] inline std::uint64_t to_number(const Json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>()) : value.get<std::uint64_t>();
}

class VectorEntry {
 public:
  explicit VectorEntry(const Json& json) : json_(json) {}

  [[nodiscard]] bool has(const std::string& field) const { return json_.contains(field); }
  [[nodiscard]] const Json& at(const std::string& field) {
    read_.insert(field);
    return json_.at(field);
  }
  [[nodiscard]] base::Bytes bytes(const std::string& field) {
    return hex(at(field).get<std::string>());
  }
  [[nodiscard]] std::optional<base::Bytes> optional_bytes(const std::string& field) {
    if (at(field).is_null()) return std::nullopt;
    return bytes(field);
  }
  [[nodiscard]] std::string text(const std::string& field) { return at(field).get<std::string>(); }
  // A number or a decimal string.
  [[nodiscard]] std::uint64_t number(const std::string& field) { return to_number(at(field)); }

  // Fields that nobody has looked at, except those for people.
  [[nodiscard]] std::vector<std::string> unread() const {
    static const std::set<std::string> kForPeople = {"id", "note", "chosen"};
    std::vector<std::string> left;
    for (const auto& [field, value] : json_.items()) {
      if (!kForPeople.contains(field) && !read_.contains(field)) left.push_back(field);
    }
    return left;
  }

 private:
  const Json& json_;
  std::set<std::string> read_;
};

// Runs `check` on every entry of a list under the entry's id, and fails on fields left unread.
inline void for_each_entry(const Json& entries, const std::function<void(VectorEntry&)>& check) {
  for (const Json& json : entries) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, json.at("id").get<std::string>());
    VectorEntry entry(json);
    check(entry);
    EXPECT_EQ(entry.unread(), std::vector<std::string>{});
  }
}

}  // namespace cadastre::shard
