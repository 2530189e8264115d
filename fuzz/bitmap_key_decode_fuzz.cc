// Keys of bitmap tables: whatever decodes is built again from its parts, and the end of a prefix lies
// above everything that begins with it and nothing else.
//
// The whole input is a key. It is read as choices too: a base key, a shard, a fence, and another base
// key, of which the stored order must be the order of their parts.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <variant>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/key_codec.h"
#include "bitmap/limits.h"
#include "fuzz/input.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

using bitmap::Id;
using bitmap::Shard;

struct Rebuild {
  bitmap::StoredKey operator()(const bitmap::SegmentKey& key) const {
    return segment_key(key.base_key, key.shard, key.fence);
  }
  bitmap::StoredKey operator()(const bitmap::StatsKey& key) const {
    return stats_key(key.base_key, key.shard);
  }
  bitmap::StoredKey operator()(const bitmap::RolledSegmentKey& key) const {
    return rolled_segment_key(key.base_key, key.shard, key.segment);
  }
  bitmap::StoredKey operator()(const bitmap::DescriptorKey&) const {
    return bitmap::descriptor_key();
  }
};

void check_decoding(base::ByteView key) {
  const auto decoded = bitmap::decode_key(key);
  if (!decoded) {
    CAD_CHECK(name(decoded.error().code) != "unknown", "a fault has a name");
    return;
  }
  CAD_CHECK(base::equal(std::visit(Rebuild{}, *decoded), key), "a key has one encoding");
}

void check_prefix_end(base::ByteView prefix) {
  if (prefix.size() > bitmap::kStoredKeyBytesMax) return;
  const auto end = bitmap::prefix_end(prefix);
  if (!end) {
    for (const std::byte byte : prefix)
      CAD_CHECK(byte == std::byte{0xff}, "only a prefix of ff has no end");
    return;
  }
  base::Bytes top = base::to_owned(prefix);
  top.resize(top.size() + 20, std::byte{0xff});
  CAD_CHECK(base::less(top, *end), "the end lies above its prefix");
  const std::size_t shared = end->view().size() - 1;
  CAD_CHECK(base::equal(end->view().first(shared), prefix.first(shared)), "and not far above");
  CAD_CHECK(std::to_integer<unsigned>(end->view()[shared]) ==
                std::to_integer<unsigned>(prefix[shared]) + 1,
            "by one");
}

struct Parts {
  base::Bytes base_key;
  Shard shard;
  Id fence;

  explicit Parts(Input& in)
      : base_key(in.string(bitmap::kBaseKeyBytesMax)),
        shard(static_cast<std::uint16_t>(in.below(65536))),
        fence(in.number()) {}

  [[nodiscard]] bitmap::StoredKey stored() const { return segment_key(base_key, shard, fence); }
};

std::strong_ordering order(const Parts& a, const Parts& b) {
  if (a.base_key.size() != b.base_key.size()) return a.base_key.size() <=> b.base_key.size();
  const auto by_key = base::compare(a.base_key, b.base_key);
  if (by_key != std::strong_ordering::equal) return by_key;
  return std::tuple(a.shard, a.fence) <=> std::tuple(b.shard, b.fence);
}

}  // namespace

void run_one(base::ByteView input) {
  check_decoding(input);
  check_prefix_end(input);
  Input in(input);
  const Parts a(in);
  const Parts b(in);
  check_decoding(a.stored());
  CAD_CHECK(base::compare(a.stored(), b.stored()) == order(a, b), "stored order");
  CAD_CHECK(base::less(a.stored(), bitmap::descriptor_key()), "the descriptor is last");
}

}  // namespace cadastre::fuzz
