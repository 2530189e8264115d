#include "sim/log/raft_message.h"

#include <cstddef>

namespace cadastre::sim {
namespace {

std::optional<std::uint64_t> take_varint(base::ByteView& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RaftMessage> read_raft_message(base::ByteView bytes) {
  RaftMessage message;
  while (!bytes.empty()) {
    const auto tag = take_varint(bytes);
    if (!tag) return std::nullopt;
    const auto value = take_varint(bytes);
    if (!value) return std::nullopt;
    if ((*tag & 7) == 2) {  // Bytes: nothing that is asked for.
      if (*value > bytes.size()) return std::nullopt;
      bytes = bytes.subspan(*value);
      continue;
    }
    if ((*tag & 7) != 0) return std::nullopt;
    switch (*tag >> 3) {
      case 1: message.type = static_cast<RaftMessageType>(*value); break;
      case 2: message.to = *value; break;
      case 4: message.term = *value; break;
      case 6: message.index = *value; break;
      case 10: message.reject = *value != 0; break;
      default: break;
    }
  }
  return message;
}

}  // namespace cadastre::sim
