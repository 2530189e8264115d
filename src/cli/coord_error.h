// The protocol's errors as the command line tells them: their own names, a sentence that says what
// to do, and the fields that redaction allows. Owners, hashes, keys and other tenants stay unsaid.

#pragma once

#include <string>
#include <vector>

#include "cli/command_error.h"
#include "coord/errors.h"
#include "coord/one_of.h"

namespace cadastre::cli {

using ErrorFields = std::vector<ErrorField>;

[[nodiscard]] ErrorFields fields_of(const coord::ShardNotFound& error);
[[nodiscard]] ErrorFields fields_of(const coord::StaleFence& error);
[[nodiscard]] ErrorFields fields_of(const coord::LeaseExpired& error);
[[nodiscard]] ErrorFields fields_of(const coord::ShardTerminal& error);
[[nodiscard]] ErrorFields fields_of(const coord::OpIdConflict& error);
[[nodiscard]] ErrorFields fields_of(const coord::RunOpIdConflict& error);
[[nodiscard]] ErrorFields fields_of(const coord::CursorRegression& error);
[[nodiscard]] ErrorFields fields_of(const coord::CursorOutOfBounds& error);
[[nodiscard]] ErrorFields fields_of(const coord::CursorKeyTooLarge& error);
[[nodiscard]] ErrorFields fields_of(const coord::CursorTokenTooLarge& error);
[[nodiscard]] ErrorFields fields_of(const coord::SplitInvalid& error);
[[nodiscard]] ErrorFields fields_of(const coord::AlreadyLeased& error);
[[nodiscard]] ErrorFields fields_of(const coord::RunTerminal& error);
[[nodiscard]] ErrorFields fields_of(const coord::NotParked& error);
[[nodiscard]] ErrorFields fields_of(const coord::ResourceExhausted& error);
[[nodiscard]] ErrorFields fields_of(const coord::RunNotFound& error);
[[nodiscard]] ErrorFields fields_of(const coord::RunAlreadyExists& error);
[[nodiscard]] ErrorFields fields_of(const coord::WrongStatus& error);
[[nodiscard]] ErrorFields fields_of(const coord::ManifestInvalid& error);
[[nodiscard]] ErrorFields fields_of(const coord::ShardLimitExceeded& error);
[[nodiscard]] ErrorFields fields_of(const coord::TooManyLeases& error);
[[nodiscard]] ErrorFields fields_of(const coord::NoneAvailable& error);
[[nodiscard]] ErrorFields fields_of(const coord::Throttled& error);
// The others have none.
template <class E>
[[nodiscard]] ErrorFields fields_of(const E& /*error*/) {
  return {};
}

[[nodiscard]] Retry retry_of(coord::RetryAdvice advice) noexcept;

template <class E>
[[nodiscard]] CommandError from_coord(const E& error) {
  return {std::string(code_name(error)), to_text(error), retry_of(retry_advice(error)),
          fields_of(error)};
}
template <class... Alternatives>
[[nodiscard]] CommandError from_coord(const coord::OneOf<Alternatives...>& error) {
  return error.visit([](const auto& held) { return from_coord(held); });
}

}  // namespace cadastre::cli
