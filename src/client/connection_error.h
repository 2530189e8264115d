// Why there is no connection: gRPC's words, as what to do about it.
//
// gRPC tells of a handshake that failed only in the text of UNAVAILABLE. A certificate that does not fit is no
// matter of time: such a call is kRefused, nothing was sent, and it is not repeated. Words that are not known
// here say nothing.
//
// A pure function.

#pragma once

#include <optional>
#include <string_view>

#include "coord/errors.h"

namespace cadastre::client {

// What the message of an UNAVAILABLE that no server sent means; nothing if it is not about connecting.
[[nodiscard]] std::optional<coord::InfraError> connection_error(std::string_view message);

// Whether that message says that no connection came about, so that the call never left this process.
[[nodiscard]] bool was_never_sent(std::string_view message) noexcept;

}  // namespace cadastre::client
