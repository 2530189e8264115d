// BigInteger: schoolbook arithmetic on keys, one base-256 digit at a time. An oracle for the word-wise
// arithmetic of shard/wide_key.h, so it is simple and slow.

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace cadastre::fuzz {

class BigInteger {
 public:
  BigInteger() = default;
  explicit BigInteger(std::uint64_t value) {
    for (; value != 0; value >>= 8)
      digits_.push_back(static_cast<std::uint8_t>(value));
  }

  // The key as an integer of `width` bytes, zero bytes added on the right.
  [[nodiscard]] static BigInteger from_key(base::ByteView key, std::size_t width) {
    CAD_CHECK(key.size() <= width, "a key is read at least at its own width");
    BigInteger out;
    out.digits_.assign(width, 0);
    for (std::size_t i = 0; i < key.size(); ++i)
      out.digits_[width - 1 - i] = std::to_integer<std::uint8_t>(key[i]);
    out.trim();
    return out;
  }

  [[nodiscard]] static BigInteger power_of_256(std::size_t exponent) {
    BigInteger out;
    out.digits_.assign(exponent + 1, 0);
    out.digits_.back() = 1;
    return out;
  }

  // Big-endian in exactly `width` bytes, which hold it.
  [[nodiscard]] base::Bytes to_key(std::size_t width) const {
    CAD_CHECK(digits_.size() <= width, "a number is written where it fits");
    base::Bytes out(width);
    for (std::size_t i = 0; i < digits_.size(); ++i)
      out[width - 1 - i] = std::byte{digits_[i]};
    return out;
  }

  // 0 for zero.
  [[nodiscard]] std::size_t significant_bytes() const noexcept { return digits_.size(); }

  [[nodiscard]] friend BigInteger operator+(const BigInteger& a, const BigInteger& b) {
    BigInteger out;
    unsigned carry = 0;
    for (std::size_t i = 0; i < std::max(a.digits_.size(), b.digits_.size()) || carry != 0; ++i) {
      const unsigned sum = a.digit(i) + b.digit(i) + carry;
      out.digits_.push_back(static_cast<std::uint8_t>(sum));
      carry = sum >> 8;
    }
    return out;
  }

  // a >= b.
  [[nodiscard]] friend BigInteger operator-(const BigInteger& a, const BigInteger& b) {
    CAD_CHECK(a >= b, "there are no negative numbers here");
    BigInteger out;
    unsigned borrow = 0;
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      const unsigned difference = 256U + a.digit(i) - b.digit(i) - borrow;
      out.digits_.push_back(static_cast<std::uint8_t>(difference));
      borrow = difference < 256 ? 1 : 0;
    }
    out.trim();
    return out;
  }

  [[nodiscard]] friend BigInteger operator*(const BigInteger& a, std::uint64_t factor) {
    BigInteger out;
    Wide carry = 0;
    for (std::size_t i = 0; i < a.digits_.size() || carry != 0; ++i) {
      const Wide product = Wide{a.digit(i)} * factor + carry;
      out.digits_.push_back(static_cast<std::uint8_t>(product));
      carry = product >> 8;
    }
    out.trim();
    return out;
  }

  // Rounds down.
  [[nodiscard]] friend BigInteger operator/(const BigInteger& a, std::uint64_t divisor) {
    BigInteger out;
    out.digits_.assign(a.digits_.size(), 0);
    Wide remainder = 0;
    for (std::size_t i = a.digits_.size(); i > 0; --i) {
      const Wide dividend = remainder << 8 | a.digits_[i - 1];
      out.digits_[i - 1] = static_cast<std::uint8_t>(dividend / divisor);
      remainder = dividend % divisor;
    }
    out.trim();
    return out;
  }

  friend bool operator==(const BigInteger&, const BigInteger&) = default;
  friend std::strong_ordering operator<=>(const BigInteger& a, const BigInteger& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() <=> b.digits_.size();
    return std::lexicographical_compare_three_way(a.digits_.rbegin(), a.digits_.rend(),
                                                  b.digits_.rbegin(), b.digits_.rend());
  }

 private:
  __extension__ using Wide = unsigned __int128;

  [[nodiscard]] std::uint8_t digit(std::size_t index) const noexcept {
    return index < digits_.size() ? digits_[index] : std::uint8_t{0};
  }
  void trim() {
    while (!digits_.empty() && digits_.back() == 0)
      digits_.pop_back();
  }

  std::vector<std::uint8_t> digits_;  // least significant first; the last one is not 0
};

}  // namespace cadastre::fuzz
