#include "client/address.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

#include "client/limits.h"

namespace cadastre::client {
namespace {

std::string_view host_of(std::string_view text) noexcept {
  return text.substr(0, text.rfind(':'));
}

bool is_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port != 0;
}

}  // namespace

bool is_address(std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !is_port(text.substr(colon + 1))) return false;
  const std::string_view host = host_of(text);
  if (host.starts_with('[')) return host.size() > 2 && host.ends_with(']');
  return !host.empty() && host.find_first_of(":/ ") == std::string_view::npos;
}

std::vector<std::string_view> addresses_of(std::string_view text) {
  std::vector<std::string_view> addresses;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view address = text.substr(0, comma);
    if (!is_address(address) || addresses.size() == kAddressesMax) return {};
    addresses.push_back(address);
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

bool is_loopback(std::string_view text) noexcept {
  const std::string_view host = host_of(text);
  if (host == "localhost" || host == "[::1]") return true;
  // A name such as 127.example.org is another machine's.
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace cadastre::client
