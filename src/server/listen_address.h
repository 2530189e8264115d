// Where a server listens, and whether it may: loopback always, anything else only with TLS or with a word
// of the operator's.
//
// Everything here is a pure function.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/start_error.h"

namespace cadastre::server {

struct ListenAddress {
  std::string host = "127.0.0.1";  // an IPv6 address without brackets
  std::uint16_t port = 0;          // 0: any free one

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

enum class Transport : std::uint8_t {
  kPlain,
  kTls
};
enum class PlainPolicy : std::uint8_t {
  kLoopbackOnly,
  kAnywhere,  // --insecure
};

// `HOST:PORT` or `[V6]:PORT`.
[[nodiscard]] base::Result<ListenAddress, StartError> parse_listen_address(std::string_view text);
[[nodiscard]] std::string to_text(const ListenAddress& address);

// By its text: 127.x.y.z, ::1 or localhost. A name that only resolves to one is not.
[[nodiscard]] bool is_loopback(const ListenAddress& address) noexcept;

[[nodiscard]] base::Result<void, StartError> may_listen(const ListenAddress& address,
                                                        Transport transport,
                                                        PlainPolicy policy);

}  // namespace cadastre::server
