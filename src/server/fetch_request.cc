#include "server/fetch_request.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

constexpr std::string_view kMagic = "CDFR";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kNameBytesAt = 6;
constexpr std::size_t kClusterAt = 8;
constexpr std::size_t kFromAt = 16;
constexpr std::size_t kToAt = 24;
constexpr std::size_t kGroupAt = 32;
constexpr std::size_t kIdAt = 40;
constexpr std::size_t kOffsetAt = 48;
constexpr std::size_t kBytesAt = 56;
constexpr std::size_t kNameAt = 60;
constexpr std::size_t kSumBytes = 4;

std::unexpected<base::Error<PeerRefusal>> damaged(std::string_view what) {
  return base::fail(PeerRefusal::kDamaged, std::string(what));
}

}  // namespace

base::Bytes encode_fetch_request(const FetchRequest& request) {
  const FileRange& range = request.range;
  CAD_CHECK(log::is_plain_name(range.file), "names are checked when the list is read");
  CAD_CHECK(range.bytes >= 1 && range.bytes <= kFetchBytesMax, "files are asked for by pieces");
  base::Bytes out(kNameAt + range.file.size() + kSumBytes);
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  base::store_le(out.data() + kVersionAt, kVersion);
  base::store_le(out.data() + kNameBytesAt, static_cast<std::uint16_t>(range.file.size()));
  base::store_le(out.data() + kClusterAt, request.cluster.value());
  base::store_le(out.data() + kFromAt, request.from.value());
  base::store_le(out.data() + kToAt, request.checkpoint.node.value());
  base::store_le(out.data() + kGroupAt, request.checkpoint.group.value());
  base::store_le(out.data() + kIdAt, request.checkpoint.id.value());
  base::store_le(out.data() + kOffsetAt, range.offset);
  base::store_le(out.data() + kBytesAt, range.bytes);
  std::memcpy(out.data() + kNameAt, range.file.data(), range.file.size());
  const std::size_t sum_at = out.size() - kSumBytes;
  base::store_le(out.data() + sum_at, base::crc32c(base::ByteView{out}.first(sum_at)));
  return out;
}

base::Result<FetchRequest, PeerRefusal> decode_fetch_request(base::ByteView bytes) {
  if (bytes.size() > kFetchRequestBytesMax) return base::fail(PeerRefusal::kTooLong);
  if (bytes.size() < kNameAt + kSumBytes) return damaged("it is cut short");
  const std::byte* const head = bytes.data();
  if (base::as_text(bytes.first(kMagic.size())) != kMagic) return damaged("it is no request");
  if (base::load_le<std::uint16_t>(head + kVersionAt) != kVersion)
    return base::fail(PeerRefusal::kVersion);
  const std::size_t sum_at = bytes.size() - kSumBytes;
  if (base::load_le<std::uint16_t>(head + kNameBytesAt) != sum_at - kNameAt)
    return damaged("its lengths do not add up");
  if (base::crc32c(bytes.first(sum_at)) != base::load_le<std::uint32_t>(head + sum_at))
    return damaged("its sum is wrong");
  FetchRequest request{
      .cluster = log::ClusterId{base::load_le<std::uint64_t>(head + kClusterAt)},
      .from = log::NodeId{base::load_le<std::uint64_t>(head + kFromAt)},
      .checkpoint = {.group = log::GroupId{base::load_le<std::uint64_t>(head + kGroupAt)},
                     .node = log::NodeId{base::load_le<std::uint64_t>(head + kToAt)},
                     .id = log::CheckpointId{base::load_le<std::uint64_t>(head + kIdAt)}},
      .range = {.file = std::string(base::as_text(bytes.subspan(kNameAt, sum_at - kNameAt))),
                .offset = base::load_le<std::uint64_t>(head + kOffsetAt),
                .bytes = base::load_le<std::uint32_t>(head + kBytesAt)}};
  if (!log::is_plain_name(request.range.file)) return damaged("the name is not plain");
  if (request.range.bytes == 0) return damaged("the range is empty");
  if (request.range.bytes > kFetchBytesMax) return base::fail(PeerRefusal::kTooLong);
  return request;
}

std::optional<PeerRefusal> refuse_fetch(const FetchRequest& request,
                                        const PeerIdentity& self,
                                        const Authenticated& end) noexcept {
  if (request.cluster != self.cluster) return PeerRefusal::kCluster;
  if (request.checkpoint.node != self.node || request.from == self.node ||
      request.from == log::kNoNode)
    return PeerRefusal::kNode;
  if (!vouches_for(end, {request.cluster, request.from})) return PeerRefusal::kIdentity;
  return std::nullopt;
}

}  // namespace cadastre::server
