#include "client/connection_error.h"

#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "client/limits.h"
#include "coord/errors.h"

namespace cadastre::client {
namespace {

using coord::InfraError;

// What gRPC's text begins with when no connection could be made.
constexpr std::string_view kNoConnection = "failed to connect to all addresses";
constexpr std::string_view kNoCredentials = "empty address list";

struct Cause {
  std::string_view words;
  std::string_view advice;
  InfraError::Kind kind;
};

constexpr std::array kCauses = {
    Cause{"certificate verify failed",
          "the server's certificate is not of the authority that was named, or has expired: name "
          "the authority that signed it",
          InfraError::Kind::kRefused},
    Cause{"is not in peer certificate",
          "the server's certificate is not for this address: connect to a name that it holds",
          InfraError::Kind::kRefused},
    Cause{"wrong version number",
          "the server does not speak TLS: connect without, or give it a certificate",
          InfraError::Kind::kRefused},
    // A server that has just gone closes connections too.
    Cause{"Socket closed",
          "the server closed the connection; if it goes on: it wants TLS, or a client certificate "
          "of its own authority",
          InfraError::Kind::kTransient},
};

InfraError told(InfraError::Kind kind, std::string_view advice, std::string_view message) {
  return {kind, "call", fmt::format("{} ({})", advice, message.substr(0, kErrorTextMax))};
}

}  // namespace

std::optional<InfraError> connection_error(std::string_view message) {
  if (message.starts_with(kNoCredentials)) {
    return told(
        InfraError::Kind::kRefused,
        "no connection can be made with these TLS files: they must be PEM, and the key that "
        "of the certificate",
        message);
  }
  if (!message.starts_with(kNoConnection)) return std::nullopt;
  for (const Cause& cause : kCauses)
    if (message.contains(cause.words)) return told(cause.kind, cause.advice, message);
  return std::nullopt;
}

bool was_never_sent(std::string_view message) noexcept {
  return message.starts_with(kNoConnection);
}

}  // namespace cadastre::client
