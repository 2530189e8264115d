// Addresses of servers: HOST:PORT, [IPV6]:PORT; several of them, by commas.

#pragma once

#include <string_view>
#include <vector>

namespace cadastre::client {

// A host and a port from 1 to 65535.
[[nodiscard]] bool is_address(std::string_view text) noexcept;

// The servers of one cluster, HOST:PORT separated by commas. None if one of them is no address, or if there are more
// than kAddressesMax. The parts of `text`.
[[nodiscard]] std::vector<std::string_view> addresses_of(std::string_view text);

// Whether what is sent there stays on this machine. `text` is an address.
[[nodiscard]] bool is_loopback(std::string_view text) noexcept;

}  // namespace cadastre::client
