#include "log/frame_bodies.h"

#include <algorithm>

#include "base/check.h"
#include "base/endian.h"
#include "log/frame_limits.h"

namespace cadastre::log {
namespace {

constexpr std::size_t kReportBytes = 9;
constexpr std::size_t kIndexBytes = 8;
constexpr std::size_t kCountBytes = 2;

void put_text(base::Bytes& out, std::string_view text) {
  const std::size_t at = out.size();
  out.resize(at + kCountBytes);
  base::store_le(out.data() + at, static_cast<std::uint16_t>(text.size()));
  const base::ByteView bytes = base::as_bytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Cuts a counted text off the front.
std::optional<std::string> take_text(base::ByteView& rest) {
  if (rest.size() < kCountBytes) return std::nullopt;
  const std::size_t count = base::load_le<std::uint16_t>(rest.data());
  rest = rest.subspan(kCountBytes);
  if (count > rest.size()) return std::nullopt;
  std::string text(base::as_text(rest.first(count)));
  rest = rest.subspan(count);
  return text;
}

bool is_complete(const NodeAddress& address) noexcept {
  return is_address(address.peer) && (address.service.empty() || is_address(address.service));
}

}  // namespace

bool is_address(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kAddressBytesMax &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

base::Bytes encode_snapshot_report(const SnapshotReport& report) {
  base::Bytes out(kReportBytes);
  base::store_le(out.data(), report.index.value());
  out[kIndexBytes] = std::byte{static_cast<unsigned char>(report.installed ? 1 : 0)};
  return out;
}

std::optional<SnapshotReport> decode_snapshot_report(base::ByteView body) {
  if (body.size() != kReportBytes || body[kIndexBytes] > std::byte{1}) return std::nullopt;
  return SnapshotReport{Index{base::load_le<std::uint64_t>(body.data())},
                        body[kIndexBytes] == std::byte{1}};
}

base::Bytes encode_address_hint(const NodeAddress& address) {
  CAD_CHECK(is_complete(address), "addresses were checked where they came in");
  base::Bytes out;
  put_text(out, address.peer);
  put_text(out, address.service);
  return out;
}

std::optional<NodeAddress> decode_address_hint(base::ByteView body) {
  auto peer = take_text(body);
  if (!peer) return std::nullopt;
  auto service = take_text(body);
  if (!service || !body.empty()) return std::nullopt;
  NodeAddress address{std::move(*peer), std::move(*service)};
  if (!is_complete(address)) return std::nullopt;
  return address;
}

base::Bytes encode_not_here(Index configuration) {
  base::Bytes out(kIndexBytes);
  base::store_le(out.data(), configuration.value());
  return out;
}

std::optional<Index> decode_not_here(base::ByteView body) {
  if (body.size() != kIndexBytes) return std::nullopt;
  return Index{base::load_le<std::uint64_t>(body.data())};
}

}  // namespace cadastre::log
