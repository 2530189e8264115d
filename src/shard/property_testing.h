// Properties: many cases from a fixed seed, and the byte strings that the shard's properties draw.
// Only *_prop_test.cc files include this: rapidcheck is slow to compile.
//
// RC_ASSERT takes its expression apart to print it, so && and || in it do not stop early: put such a
// condition into parentheses of its own, RC_ASSERT((a && *a == 1)).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"

namespace cadastre::shard {

inline constexpr int kPropertyCases = 10'000;
inline constexpr std::uint64_t kPropertySeed = 20'240'229;

// Runs `property` on kPropertyCases cases; a failure prints the shrunken case and the seed.
template <class Property>
void check_many(const std::string& what, Property&& property) {
  rc::detail::TestParams params;
  params.seed = kPropertySeed;
  params.maxSuccess = kPropertyCases;
  rc::detail::TestMetadata metadata;
  metadata.id = what;
  metadata.description = what;
  const auto result = rc::detail::checkTestable(std::forward<Property>(property), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  ADD_FAILURE() << what << ", seed " << kPropertySeed << ":\n" << text.str();
}

// 0 ... sides - 1.
[[nodiscard]] inline std::size_t dice(std::size_t sides) {
  return *rc::gen::inRange<std::size_t>(0, sides);
}

// Often a byte at which carries, escapes and signs go wrong.
[[nodiscard]] inline rc::Gen<std::uint8_t> byte_gen() {
  return rc::gen::weightedOneOf<std::uint8_t>(
      {{3, rc::gen::element<std::uint8_t>(0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff)},
       {1, rc::gen::cast<std::uint8_t>(rc::gen::inRange(0, 256))}});
}

[[nodiscard]] inline base::Bytes any_bytes(std::size_t size_max) {
  const auto drawn = *rc::gen::container<std::vector<std::uint8_t>>(dice(size_max + 1), byte_gen());
  return base::to_owned(base::as_bytes(drawn));
}

// A short key mostly, one around `key_bytes_max` sometimes: it may be one byte too long.
[[nodiscard]] inline base::Bytes any_key(std::size_t key_bytes_max) {
  constexpr std::size_t kShort = 6;
  base::Bytes tail = any_bytes(std::min(kShort, key_bytes_max + 1));
  if (key_bytes_max <= kShort || dice(16) != 0) return tail;
  base::Bytes key(key_bytes_max - kShort + dice(kShort), static_cast<std::byte>(*byte_gen()));
  key.insert(key.end(), tail.begin(), tail.end());
  key.resize(std::min(key.size(), key_bytes_max + 1));
  return key;
}

// A key that often has something to do with `key`: an extension by zeros, the next one at the same
// length, another tail, or the same.
[[nodiscard]] inline base::Bytes key_near(const base::Bytes& key, std::size_t key_bytes_max) {
  base::Bytes other = key;
  switch (dice(5)) {
    case 0: other.resize(key.size() + dice(4), std::byte{0}); break;
    case 1:
      for (std::size_t i = other.size(); i > 0; --i) {
        other[i - 1] = static_cast<std::byte>(std::to_integer<unsigned>(other[i - 1]) + 1);
        if (other[i - 1] != std::byte{0}) break;
      }
      break;
    case 2:
    case 3: {
      other.resize(key.size() - std::min(key.size(), dice(4)));
      const auto tail = any_bytes(4);
      other.insert(other.end(), tail.begin(), tail.end());
      break;
    }
    default: return any_key(key_bytes_max);
  }
  other.resize(std::min(other.size(), key_bytes_max + 1));
  return other;
}

}  // namespace cadastre::shard
