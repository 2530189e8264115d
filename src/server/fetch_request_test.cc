// What nodes ask each other for, as bytes, and whose questions are answered (L-68, L-70).

#include "server/fetch_request.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

using log::ClusterId;
using log::NodeId;

constexpr PeerIdentity kSelf{ClusterId{7}, NodeId{2}};

FetchRequest request() {
  return {.cluster = ClusterId{7},
          .from = NodeId{1},
          .checkpoint = {log::GroupId{3}, NodeId{2}, log::CheckpointId{9}},
          .range = {"000001.sst", 4096, 512}};
}

PeerRefusal refusal(base::ByteView bytes) {
  const auto decoded = decode_fetch_request(bytes);
  EXPECT_FALSE(decoded);
  return decoded.error().code;
}

// With a sum that is right again.
base::Bytes summed(base::Bytes bytes) {
  const std::size_t sum_at = bytes.size() - 4;
  base::store_le(bytes.data() + sum_at, base::crc32c(base::ByteView{bytes}.first(sum_at)));
  return bytes;
}

TEST(FetchRequestCodec, ReadsWhatItWrites) {
  const auto decoded = decode_fetch_request(encode_fetch_request(request()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, request());
}

TEST(FetchRequestCodec, HasTheseBytes) {
  FetchRequest small = request();
  small.range.file = "a";
  EXPECT_EQ(base::to_hex(base::ByteView{encode_fetch_request(small)}.first(61)),
            "43444652"
            "0100"
            "0100"
            "0700000000000000"
            "0100000000000000"
            "0200000000000000"
            "0300000000000000"
            "0900000000000000"
            "0010000000000000"
            "00020000"
            "61");
}

TEST(FetchRequestCodec, AFlippedBitIsNoticedWhereverItIs) {
  const base::Bytes good = encode_fetch_request(request());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    base::Bytes bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_fetch_request(bad)) << bit;
  }
}

TEST(FetchRequestCodec, IsRefusedForEachThingThatIsWrong) {
  const base::Bytes good = encode_fetch_request(request());
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_EQ(refusal(base::ByteView{good}.first(bytes)), PeerRefusal::kDamaged) << bytes;
  EXPECT_EQ(refusal(base::Bytes(kFetchRequestBytesMax + 1)), PeerRefusal::kTooLong);

  const auto changed = [&](std::size_t at, auto value) {
    base::Bytes bytes = good;
    base::store_le(bytes.data() + at, value);
    return summed(std::move(bytes));
  };
  EXPECT_EQ(refusal(changed(4, std::uint16_t{2})), PeerRefusal::kVersion);
  EXPECT_EQ(refusal(changed(6, std::uint16_t{9})), PeerRefusal::kDamaged);
  EXPECT_EQ(refusal(changed(56, std::uint32_t{0})), PeerRefusal::kDamaged);
  EXPECT_EQ(refusal(changed(56, static_cast<std::uint32_t>(kFetchBytesMax + 1))),
            PeerRefusal::kTooLong);
}

TEST(FetchRequestCodec, ANameThatIsNotPlainIsRefused) {  // L-70
  for (const std::string_view name : {"../../e/pw", "/etc/passw", "a/b/c/d/ef"}) {
    base::Bytes bytes = encode_fetch_request(request());
    std::memcpy(bytes.data() + 60, name.data(), 10);
    EXPECT_EQ(refusal(summed(std::move(bytes))), PeerRefusal::kDamaged) << name;
  }
}

TEST(RefuseFetch, AsksTheSameOfARequestAsOfAStream) {  // L-68
  struct Case {
    const char* what;
    std::function<void(FetchRequest&)> change;
    PeerRefusal refused;
  };
  const std::vector<Case> cases = {
      {"another cluster", [](auto& r) { r.cluster = ClusterId{8}; }, PeerRefusal::kCluster},
      {"for another node", [](auto& r) { r.checkpoint.node = NodeId{3}; }, PeerRefusal::kNode},
      {"from this node itself", [](auto& r) { r.from = NodeId{2}; }, PeerRefusal::kNode},
      {"from nobody", [](auto& r) { r.from = log::kNoNode; }, PeerRefusal::kNode},
  };
  EXPECT_EQ(refuse_fetch(request(), kSelf, {}), std::nullopt);
  for (const Case& wrong : cases) {
    FetchRequest other = request();
    wrong.change(other);
    EXPECT_EQ(refuse_fetch(other, kSelf, {}), wrong.refused) << wrong.what;
  }
  const PeerIdentity one{ClusterId{7}, NodeId{1}};
  const PeerIdentity three{ClusterId{7}, NodeId{3}};
  EXPECT_EQ(refuse_fetch(request(), kSelf, {.by_tls = true, .identity = one}), std::nullopt);
  EXPECT_EQ(refuse_fetch(request(), kSelf, {.by_tls = true, .identity = three}),
            PeerRefusal::kIdentity);
  EXPECT_EQ(refuse_fetch(request(), kSelf, {.by_tls = true}), PeerRefusal::kIdentity);
}

}  // namespace
}  // namespace cadastre::server
