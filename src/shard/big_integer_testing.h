// Schoolbook arithmetic on keys, one base-256 digit at a time: the oracle of the word-wise arithmetic,
// so it is simple and slow.

#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace cadastre::shard {

// A non-negative integer of any size.
class BigInteger {
 public:
  BigInteger() = default;
  explicit BigInteger(std::uint64_t value) {
    for (; value != 0; value /= 256)
      digits_.push_back(static_cast<std::uint8_t>(value % 256));
  }

  // The key as an integer of `width` bytes, padded with zero bytes on the right.
  [[nodiscard]] static BigInteger from_key(base::ByteView key, std::size_t width) {
    CAD_CHECK(key.size() <= width, "a key is padded, never cut");
    BigInteger value;
    value.digits_.assign(width, 0);
    for (std::size_t i = 0; i < key.size(); ++i)
      value.digits_[width - 1 - i] = std::to_integer<std::uint8_t>(key[i]);
    value.trim();
    return value;
  }

  [[nodiscard]] static BigInteger power_of_256(std::size_t exponent) {
    BigInteger value;
    value.digits_.assign(exponent, 0);
    value.digits_.push_back(1);
    return value;
  }

  // How many bytes the number has without leading zeros.
  [[nodiscard]] std::size_t significant_bytes() const noexcept { return digits_.size(); }

  [[nodiscard]] base::Bytes to_key(std::size_t width) const {
    CAD_CHECK(digits_.size() <= width, "the number fits the key");
    base::Bytes key(width, std::byte{0});
    for (std::size_t i = 0; i < digits_.size(); ++i)
      key[width - 1 - i] = static_cast<std::byte>(digits_[i]);
    return key;
  }

  friend BigInteger operator+(const BigInteger& a, const BigInteger& b) {
    BigInteger sum;
    unsigned carry = 0;
    for (std::size_t i = 0; i < std::max(a.digits_.size(), b.digits_.size()) || carry != 0; ++i) {
      carry += a.digit(i) + b.digit(i);
      sum.digits_.push_back(static_cast<std::uint8_t>(carry % 256));
      carry /= 256;
    }
    return sum;
  }

  // `a` is at least `b`.
  friend BigInteger operator-(const BigInteger& a, const BigInteger& b) {
    CAD_CHECK(a >= b, "differences are not negative");
    BigInteger difference;
    unsigned borrow = 0;
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      const unsigned digit = 256 + a.digit(i) - b.digit(i) - borrow;
      difference.digits_.push_back(static_cast<std::uint8_t>(digit % 256));
      borrow = digit < 256 ? 1 : 0;
    }
    difference.trim();
    return difference;
  }

  friend BigInteger operator*(const BigInteger& a, std::uint64_t factor) {
    BigInteger product;
    BigDigit carry = 0;
    for (std::size_t i = 0; i < a.digits_.size() || carry != 0; ++i) {
      carry += BigDigit{a.digit(i)} * factor;
      product.digits_.push_back(static_cast<std::uint8_t>(carry % 256));
      carry /= 256;
    }
    product.trim();
    return product;
  }

  // Rounds down.
  friend BigInteger operator/(const BigInteger& a, std::uint64_t divisor) {
    BigInteger quotient;
    quotient.digits_.assign(a.digits_.size(), 0);
    BigDigit remainder = 0;
    for (std::size_t i = a.digits_.size(); i > 0; --i) {
      remainder = remainder * 256 + a.digits_[i - 1];
      quotient.digits_[i - 1] = static_cast<std::uint8_t>(remainder / divisor);
      remainder %= divisor;
    }
    quotient.trim();
    return quotient;
  }

  friend bool operator==(const BigInteger&, const BigInteger&) = default;
  friend std::strong_ordering operator<=>(const BigInteger& a, const BigInteger& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() <=> b.digits_.size();
    return std::lexicographical_compare_three_way(a.digits_.rbegin(), a.digits_.rend(),
                                                  b.digits_.rbegin(), b.digits_.rend());
  }

 private:
  __extension__ using BigDigit = unsigned __int128;  // ISO C++ has no 128-bit integer.

  [[nodiscard]] unsigned digit(std::size_t i) const noexcept {
    return i < digits_.size() ? digits_[i] : 0;
  }
  void trim() {
    while (!digits_.empty() && digits_.back() == 0)
      digits_.pop_back();
  }

  std::vector<std::uint8_t> digits_;  // least significant first, no zero at the end
};

}  // namespace cadastre::shard
