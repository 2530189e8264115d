// Addresses of servers: HOST:PORT, [IPV6]:PORT.

#pragma once

#include <string_view>

namespace cadastre::client {

// A host and a port from 1 to 65535.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

// Whether what is sent there stays on this machine. `text` is an address.
[[nodiscard]] bool is_loopback(std::string_view text) noexcept;

}  // namespace cadastre::client
