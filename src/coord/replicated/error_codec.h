// Errors of the protocol as bytes, for answers (answer.h). Each type has a number, and fields.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "coord/blob_reader.h"
#include "coord/errors.h"
#include "coord/one_of.h"
#include "coord/record_codec.h"
#include "coord/replicated/fields.h"

namespace cadastre::coord::replicated {

// Numbers of error types; 0 is no error.
template <class Error>
inline constexpr std::uint8_t kErrorNumber = 0;
template <>
inline constexpr std::uint8_t kErrorNumber<ShardNotFound> = 1;
template <>
inline constexpr std::uint8_t kErrorNumber<TenantMismatch> = 2;
template <>
inline constexpr std::uint8_t kErrorNumber<StaleFence> = 3;
template <>
inline constexpr std::uint8_t kErrorNumber<LeaseExpired> = 4;
template <>
inline constexpr std::uint8_t kErrorNumber<ShardTerminal> = 5;
template <>
inline constexpr std::uint8_t kErrorNumber<OpIdConflict> = 6;
template <>
inline constexpr std::uint8_t kErrorNumber<CursorRegression> = 7;
template <>
inline constexpr std::uint8_t kErrorNumber<CursorOutOfBounds> = 8;
template <>
inline constexpr std::uint8_t kErrorNumber<CursorKeyTooLarge> = 9;
template <>
inline constexpr std::uint8_t kErrorNumber<CursorTokenTooLarge> = 10;
template <>
inline constexpr std::uint8_t kErrorNumber<CheckpointMissingKey> = 11;
template <>
inline constexpr std::uint8_t kErrorNumber<SplitInvalid> = 12;
template <>
inline constexpr std::uint8_t kErrorNumber<AlreadyLeased> = 13;
template <>
inline constexpr std::uint8_t kErrorNumber<RunTerminal> = 14;
template <>
inline constexpr std::uint8_t kErrorNumber<NotParked> = 15;
template <>
inline constexpr std::uint8_t kErrorNumber<ResourceExhausted> = 16;
template <>
inline constexpr std::uint8_t kErrorNumber<InfraError> = 17;
template <>
inline constexpr std::uint8_t kErrorNumber<InvalidConfig> = 18;
template <>
inline constexpr std::uint8_t kErrorNumber<RunNotFound> = 19;
template <>
inline constexpr std::uint8_t kErrorNumber<RunAlreadyExists> = 20;
template <>
inline constexpr std::uint8_t kErrorNumber<WrongStatus> = 21;
template <>
inline constexpr std::uint8_t kErrorNumber<ManifestInvalid> = 22;
template <>
inline constexpr std::uint8_t kErrorNumber<RunOpIdConflict> = 23;
template <>
inline constexpr std::uint8_t kErrorNumber<ShardLimitExceeded> = 24;
template <>
inline constexpr std::uint8_t kErrorNumber<RegistrationExhausted> = 25;
template <>
inline constexpr std::uint8_t kErrorNumber<TooManyLeases> = 26;
template <>
inline constexpr std::uint8_t kErrorNumber<NoneAvailable> = 27;
template <>
inline constexpr std::uint8_t kErrorNumber<Throttled> = 28;

void write_fields(BlobWriter& out, const ShardNotFound& error);
void write_fields(BlobWriter& out, const TenantMismatch& error);
void write_fields(BlobWriter& out, const StaleFence& error);
void write_fields(BlobWriter& out, const LeaseExpired& error);
void write_fields(BlobWriter& out, const ShardTerminal& error);
void write_fields(BlobWriter& out, const OpIdConflict& error);
void write_fields(BlobWriter& out, const CursorRegression& error);
void write_fields(BlobWriter& out, const CursorOutOfBounds& error);
void write_fields(BlobWriter& out, const CursorKeyTooLarge& error);
void write_fields(BlobWriter& out, const CursorTokenTooLarge& error);
void write_fields(BlobWriter& out, const CheckpointMissingKey& error);
void write_fields(BlobWriter& out, const SplitInvalid& error);
void write_fields(BlobWriter& out, const AlreadyLeased& error);
void write_fields(BlobWriter& out, const RunTerminal& error);
void write_fields(BlobWriter& out, const NotParked& error);
void write_fields(BlobWriter& out, const ResourceExhausted& error);
void write_fields(BlobWriter& out, const InfraError& error);
void write_fields(BlobWriter& out, const InvalidConfig& error);
void write_fields(BlobWriter& out, const RunNotFound& error);
void write_fields(BlobWriter& out, const RunAlreadyExists& error);
void write_fields(BlobWriter& out, const WrongStatus& error);
void write_fields(BlobWriter& out, const ManifestInvalid& error);
void write_fields(BlobWriter& out, const RunOpIdConflict& error);
void write_fields(BlobWriter& out, const ShardLimitExceeded& error);
void write_fields(BlobWriter& out, const RegistrationExhausted& error);
void write_fields(BlobWriter& out, const TooManyLeases& error);
void write_fields(BlobWriter& out, const NoneAvailable& error);
void write_fields(BlobWriter& out, const Throttled& error);

// The fields of an error of this type.
template <class Error>
[[nodiscard]] Result<Error, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<ShardNotFound, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<TenantMismatch, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<StaleFence, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<LeaseExpired, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<ShardTerminal, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<OpIdConflict, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<CursorRegression, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<CursorOutOfBounds, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<CursorKeyTooLarge, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<CursorTokenTooLarge, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<CheckpointMissingKey, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<SplitInvalid, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<AlreadyLeased, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<RunTerminal, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<NotParked, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<ResourceExhausted, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<InfraError, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<InvalidConfig, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<RunNotFound, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<RunAlreadyExists, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<WrongStatus, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<ManifestInvalid, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<RunOpIdConflict, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<ShardLimitExceeded, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<RegistrationExhausted, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<TooManyLeases, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<NoneAvailable, DecodeError> read_fields(BlobReader& in);
template <>
[[nodiscard]] Result<Throttled, DecodeError> read_fields(BlobReader& in);

template <class... Alternatives>
void write_error(BlobWriter& out, const OneOf<Alternatives...>& error) {
  static_assert(((kErrorNumber<Alternatives> != 0) && ...), "every error has a number");
  error.visit([&out](const auto& held) {
    out.u8(kErrorNumber<std::remove_cvref_t<decltype(held)>>);
    write_fields(out, held);
  });
}
inline void write_error(BlobWriter& out, const InfraError& error) {
  out.u8(kErrorNumber<InfraError>);
  write_fields(out, error);
}

[[nodiscard]] inline DecodeError unknown_error(std::uint8_t number) noexcept {
  return {.code = DecodeError::Code::kInvalidEnum, .first = number, .second = 0, .what = "error"};
}

// The error with this number, of the given set.
template <class Set>
struct ErrorReader;

template <class... Alternatives>
struct ErrorReader<OneOf<Alternatives...>> {
  using Set = OneOf<Alternatives...>;

  [[nodiscard]] static Result<Set, DecodeError> read(std::uint8_t number, BlobReader& in) {
    std::optional<Result<Set, DecodeError>> read;
    (read_if<Alternatives>(number, in, read), ...);
    if (!read) return base::fail(unknown_error(number));
    return *std::move(read);
  }

 private:
  template <class Error>
  static void read_if(std::uint8_t number,
                      BlobReader& in,
                      std::optional<Result<Set, DecodeError>>& read) {
    if (number != kErrorNumber<Error>) return;
    auto fields = read_fields<Error>(in);
    if (fields) {
      read.emplace(Set(*std::move(fields)));
    } else {
      read.emplace(base::fail(fields.error()));
    }
  }
};

template <>
struct ErrorReader<InfraError> {
  [[nodiscard]] static Result<InfraError, DecodeError> read(std::uint8_t number, BlobReader& in) {
    if (number != kErrorNumber<InfraError>) return base::fail(unknown_error(number));
    return read_fields<InfraError>(in);
  }
};

}  // namespace cadastre::coord::replicated
