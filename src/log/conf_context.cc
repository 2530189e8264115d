#include "log/conf_context.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/endian.h"
#include "log/frame_bodies.h"

namespace cadastre::log {
namespace {

constexpr std::uint16_t kVersion = 1;
constexpr std::uint16_t kRecoveredFlag = 1;
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kIdBytes = 8;
constexpr std::size_t kCountBytes = 2;

void put_id(base::Bytes& out, NodeId node) {
  const std::size_t at = out.size();
  out.resize(at + kIdBytes);
  base::store_le(out.data() + at, node.value());
}

void put_address(base::Bytes& out, const PeerAddress& address) {
  put_id(out, address.node);
  const base::Bytes hint = encode_address_hint(address.address);
  const std::size_t at = out.size();
  out.resize(at + kCountBytes);
  base::store_le(out.data() + at, static_cast<std::uint16_t>(hint.size()));
  out.insert(out.end(), hint.begin(), hint.end());
}

std::optional<NodeId> take_id(base::ByteView& rest) {
  if (rest.size() < kIdBytes) return std::nullopt;
  const NodeId node{base::load_le<std::uint64_t>(rest.data())};
  rest = rest.subspan(kIdBytes);
  if (node == kNoNode) return std::nullopt;
  return node;
}

std::optional<PeerAddress> take_address(base::ByteView& rest) {
  const auto node = take_id(rest);
  if (!node || rest.size() < kCountBytes) return std::nullopt;
  const std::size_t bytes = base::load_le<std::uint16_t>(rest.data());
  rest = rest.subspan(kCountBytes);
  if (rest.size() < bytes) return std::nullopt;
  auto address = decode_address_hint(rest.first(bytes));
  rest = rest.subspan(bytes);
  if (!address) return std::nullopt;
  return PeerAddress{*node, std::move(*address)};
}

template <class Range, class Id>
bool ascend(const Range& range, Id id) {
  return std::ranges::adjacent_find(range, std::ranges::greater_equal{}, id) == range.end();
}

bool is_valid(const ConfContext& context) {
  return context.addresses.size() <= kContextAddressesMax &&
         context.removed.size() <= kRemovedMax && ascend(context.addresses, &PeerAddress::node) &&
         ascend(context.removed, std::identity{});
}

}  // namespace

bool ConfContext::has_left(NodeId node) const noexcept {
  return std::ranges::binary_search(removed, node);
}

base::Bytes encode_conf_context(const ConfContext& context) {
  CAD_CHECK(is_valid(context), "whoever makes a context keeps its order and its bounds");
  base::Bytes out(kHeadBytes);
  base::store_le(out.data(), kVersion);
  base::store_le<std::uint16_t>(out.data() + 2, context.recovered ? kRecoveredFlag : 0);
  base::store_le(out.data() + 4, static_cast<std::uint16_t>(context.addresses.size()));
  base::store_le(out.data() + 6, static_cast<std::uint16_t>(context.removed.size()));
  for (const PeerAddress& address : context.addresses)
    put_address(out, address);
  for (const NodeId node : context.removed)
    put_id(out, node);
  return out;
}

std::optional<ConfContext> decode_conf_context(base::ByteView bytes) {
  ConfContext context;
  if (bytes.empty()) return context;
  if (bytes.size() < kHeadBytes || base::load_le<std::uint16_t>(bytes.data()) != kVersion)
    return std::nullopt;
  const auto flags = base::load_le<std::uint16_t>(bytes.data() + 2);
  if (flags > kRecoveredFlag) return std::nullopt;
  context.recovered = flags == kRecoveredFlag;
  const std::size_t addresses = base::load_le<std::uint16_t>(bytes.data() + 4);
  const std::size_t removed = base::load_le<std::uint16_t>(bytes.data() + 6);
  base::ByteView rest = bytes.subspan(kHeadBytes);
  for (std::size_t i = 0; i < addresses; ++i) {
    auto address = take_address(rest);
    if (!address) return std::nullopt;
    context.addresses.push_back(std::move(*address));
  }
  for (std::size_t i = 0; i < removed; ++i) {
    const auto node = take_id(rest);
    if (!node) return std::nullopt;
    context.removed.push_back(*node);
  }
  if (!rest.empty() || !is_valid(context)) return std::nullopt;
  return context;
}

ConfContext context_of(const ConfRecord& record) {
  return decode_conf_context(record.context).value_or(ConfContext{});
}

}  // namespace cadastre::log
