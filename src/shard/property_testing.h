// Properties: many cases from a fixed seed, and the byte strings that the shard's properties draw.
// Only *_prop_test.cc files include this: rapidcheck is slow to compile.
//
// rapidcheck draws two numbers for each case, a seed and a scale, and everything else comes from a
// stream of that seed: a draw of rapidcheck's own costs as much as a hundred midpoints. Shrinking
// lowers the scale, which bounds every size, and tries other seeds.
//
// RC_ASSERT takes its expression apart to print it, so && and || in it do not stop early: put such a
// condition into parentheses of its own, RC_ASSERT((a && *a == 1)).

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "shard/key_space_testing.h"

namespace cadastre::shard {

// A tenth where AddressSanitizer slows each case.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int kPropertyCases = 1'000;
#else
inline constexpr int kPropertyCases = 10'000;
#endif
inline constexpr std::uint64_t kPropertySeed = 20'240'229;
inline constexpr std::size_t kScaleMax = 40;

// What the current case draws from.
struct PropertyCase {
  SampleStream stream{0};
  std::size_t scale = kScaleMax;

  [[nodiscard]] static PropertyCase& current() {
    static PropertyCase one;
    return one;
  }
};

// Runs `property` on kPropertyCases cases; a failure prints the shrunken case and the seed.
template <class Property>
void check_many(const std::string& what, const Property& property) {
  rc::detail::TestParams params;
  params.seed = kPropertySeed;
  params.maxSuccess = kPropertyCases;
  params.maxDiscardRatio = 100;
  rc::detail::TestMetadata metadata;
  metadata.id = what;
  metadata.description = what;
  const auto one_case = [&property] {
    PropertyCase::current().stream = SampleStream(*rc::gen::arbitrary<std::uint64_t>());
    PropertyCase::current().scale = *rc::gen::inRange<std::size_t>(1, kScaleMax + 1);
    property();
  };
  const auto result = rc::detail::checkTestable(one_case, metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  ADD_FAILURE() << what << ", seed " << kPropertySeed << ":\n" << text.str();
}

// 0 ... sides - 1.
[[nodiscard]] inline std::size_t dice(std::size_t sides) {
  return PropertyCase::current().stream.below(sides);
}

// 0 ... size_max, and not above the scale.
[[nodiscard]] inline std::size_t any_size(std::size_t size_max) {
  return dice(std::min(size_max, PropertyCase::current().scale) + 1);
}

// Often a byte at which carries, escapes and signs go wrong.
[[nodiscard]] inline std::byte any_byte() {
  constexpr std::array<std::uint8_t, 6> kEdges = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
  if (dice(4) == 0) return static_cast<std::byte>(dice(256));
  return static_cast<std::byte>(kEdges[dice(kEdges.size())]);
}

[[nodiscard]] inline base::Bytes any_bytes(std::size_t size_max) {
  base::Bytes bytes(any_size(size_max));
  std::ranges::generate(bytes, any_byte);
  return bytes;
}

// Often a number at the edge of its width.
[[nodiscard]] inline std::uint64_t any_u64() {
  switch (dice(4)) {
    case 0: return dice(4);
    case 1: return ~std::uint64_t{0} - dice(4);
    case 2: return (std::uint64_t{1} << dice(64)) - dice(3);
    default: return dice(~std::size_t{0});
  }
}

// A short key mostly, one around `key_bytes_max` sometimes: it may be one byte too long.
[[nodiscard]] inline base::Bytes any_key(std::size_t key_bytes_max) {
  constexpr std::size_t kShort = 6;
  base::Bytes tail = any_bytes(std::min(kShort, key_bytes_max + 1));
  if (key_bytes_max <= kShort || dice(16) != 0) return tail;
  base::Bytes key(key_bytes_max - kShort + dice(kShort), any_byte());
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
