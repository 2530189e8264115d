// BlobReader, BlobWriter: the fields of stored records, forward only. Internal to the codecs.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/record_codec.h"
#include "coord/states.h"

namespace cadastre::coord {

class BlobWriter {
 public:
  BlobWriter() = default;
  // Room for so many bytes without another allocation.
  explicit BlobWriter(std::size_t bytes) { out_.reserve(bytes); }

  void raw(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void u8(std::uint8_t value) { out_.push_back(std::byte{value}); }
  void u32(std::uint32_t value) { integer(value); }
  void u64(std::uint64_t value) { integer(value); }
  void bytes(ByteView bytes) {
    u32(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  void presence(bool present) { u8(present ? 1 : 0); }

  [[nodiscard]] base::Bytes take() { return std::move(out_); }

 private:
  template <class T>
  void integer(T value) {
    std::array<std::byte, sizeof value> bytes{};
    base::store_le(bytes.data(), value);
    raw(bytes);
  }

  base::Bytes out_;
};

class BlobReader {
 public:
  explicit BlobReader(ByteView bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] Result<ByteView, DecodeError> raw(std::size_t size) noexcept {
    if (size > rest_.size()) {
      return base::fail(DecodeError{.code = DecodeError::Code::kTruncated,
                                    .first = size,
                                    .second = rest_.size(),
                                    .what = {}});
    }
    const ByteView read = rest_.first(size);
    rest_ = rest_.subspan(size);
    return read;
  }
  [[nodiscard]] Result<std::uint8_t, DecodeError> u8() noexcept {
    return std::to_integer<std::uint8_t>(CAD_TRY(raw(1))[0]);
  }
  [[nodiscard]] Result<std::uint32_t, DecodeError> u32() noexcept {
    return base::load_le<std::uint32_t>(CAD_TRY(raw(sizeof(std::uint32_t))).data());
  }
  [[nodiscard]] Result<std::uint64_t, DecodeError> u64() noexcept {
    return base::load_le<std::uint64_t>(CAD_TRY(raw(sizeof(std::uint64_t))).data());
  }
  [[nodiscard]] Result<bool, DecodeError> presence() noexcept {
    const std::uint8_t value = CAD_TRY(u8());
    if (value > 1) {
      return base::fail(DecodeError{
          .code = DecodeError::Code::kInvalidBool, .first = value, .second = 0, .what = {}});
    }
    return value == 1;
  }
  // A count of at most `max`.
  [[nodiscard]] Result<std::size_t, DecodeError> count(std::size_t max) noexcept {
    const std::uint32_t value = CAD_TRY(u32());
    if (value > max) {
      return base::fail(DecodeError{
          .code = DecodeError::Code::kFieldTooLarge, .first = value, .second = max, .what = {}});
    }
    return value;
  }
  [[nodiscard]] Result<ByteView, DecodeError> bytes() noexcept {
    return raw(CAD_TRY(count(kCodecFieldBytesMax)));
  }
  [[nodiscard]] Result<std::vector<ShardId>, DecodeError> ids(std::size_t max) {
    const std::size_t size = CAD_TRY(count(max));
    const ByteView packed = CAD_TRY(raw(size * sizeof(std::uint64_t)));
    std::vector<ShardId> ids;
    ids.reserve(size);
    for (std::size_t i = 0; i < size; ++i)
      ids.push_back(ShardId::from_raw(
          base::load_le<std::uint64_t>(packed.data() + i * sizeof(std::uint64_t))));
    return ids;
  }
  template <class E>
  [[nodiscard]] Result<E, DecodeError> enumerator(std::string_view type) noexcept {
    const std::uint8_t value = CAD_TRY(u8());
    const auto parsed = parse_stored<E>(value);
    if (!parsed) {
      return base::fail(DecodeError{
          .code = DecodeError::Code::kInvalidEnum, .first = value, .second = 0, .what = type});
    }
    return *parsed;
  }
  [[nodiscard]] Result<TenantId, DecodeError> tenant() noexcept {
    const ByteView read = CAD_TRY(raw(sizeof(TenantId::Bytes)));
    TenantId::Bytes bytes{};
    std::copy(read.begin(), read.end(), bytes.begin());
    return TenantId::from_bytes(bytes);
  }
  [[nodiscard]] Result<std::optional<std::uint64_t>, DecodeError> optional_u64() noexcept {
    if (!CAD_TRY(presence())) return std::nullopt;
    return CAD_TRY(u64());
  }
  // What has not been read yet.
  [[nodiscard]] ByteView rest() const noexcept { return rest_; }
  [[nodiscard]] Result<void, DecodeError> end() const noexcept {
    if (!rest_.empty()) {
      return base::fail(DecodeError{.code = DecodeError::Code::kTrailingBytes,
                                    .first = rest_.size(),
                                    .second = 0,
                                    .what = {}});
    }
    return {};
  }

 private:
  ByteView rest_;
};

}  // namespace cadastre::coord
