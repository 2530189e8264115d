#include "server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/result.h"
#include "server/start_error.h"

namespace cadastre::server {
namespace {

constexpr std::uint32_t kLoopbackNet = 127;

auto bad_address(std::string_view text) {
  return base::fail(StartError::kBadAddress,
                    fmt::format("'{}' is no address: HOST:PORT or [V6]:PORT", text));
}

}  // namespace

base::Result<ListenAddress, StartError> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(text);
  }
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (host.empty() || digits.empty() || error != std::errc() ||
      end != digits.data() + digits.size())
    return bad_address(text);
  return ListenAddress{std::string(host), port};
}

std::string to_text(const ListenAddress& address) {
  if (address.host.find(':') != std::string::npos)
    return fmt::format("[{}]:{}", address.host, address.port);
  return fmt::format("{}:{}", address.host, address.port);
}

bool is_loopback(const ListenAddress& address) noexcept {
  if (address.host == "localhost") return true;
  in_addr v4{};
  if (::inet_pton(AF_INET, address.host.c_str(), &v4) == 1)
    return ntohl(v4.s_addr) >> 24U == kLoopbackNet;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, address.host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6) != 0;
}

base::Result<void, StartError> may_listen(const ListenAddress& address,
                                          Transport transport,
                                          PlainPolicy policy) {
  if (is_loopback(address) || transport == Transport::kTls || policy == PlainPolicy::kAnywhere)
    return {};
  return base::fail(StartError::kNotLoopback,
                    fmt::format("{} is not loopback: give --tls-cert and --tls-key, or --insecure",
                                to_text(address)));
}

}  // namespace cadastre::server
