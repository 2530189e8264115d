#include "coord/canonical.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "coord/identity.h"
#include "coord/states.h"
#include "shard/bytes_testing.h"

namespace cadastre::coord {
namespace {

using shard::testing::repeated;
using shard::testing::operator""_b;

bool is_domain_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '/' ||
         letter == '-';
}

// Whether a part of a domain is a version: v and a number without leading zeros.
bool is_version(std::string_view part) {
  return part.size() >= 2 && part[0] == 'v' && part[1] != '0' &&
         std::ranges::all_of(part.substr(1),
                             [](char digit) { return digit >= '0' && digit <= '9'; });
}

// The next part up to a slash, which is removed.
std::string_view take_part(std::string_view& rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view part = rest.substr(0, slash);
  rest.remove_prefix(std::min(slash + 1, rest.size()));
  return part;
}

// C-1.4: gossip/<subsystem>/v<N>[/<op>], 11 to 64 bytes.
bool is_legal_domain(std::string_view domain) {
  if (domain.size() < 11 || domain.size() > 64) return false;
  if (!std::ranges::all_of(domain, is_domain_letter) || domain.ends_with('/')) return false;
  std::string_view rest = domain;
  if (take_part(rest) != "gossip" || take_part(rest).empty()) return false;
  if (!is_version(take_part(rest))) return false;
  return rest.find('/') == std::string_view::npos;
}

TEST(HashDomains, KeepTheRulesOfTheRegistry) {
  for (const std::string_view domain : kHashDomains)
    EXPECT_TRUE(is_legal_domain(domain)) << domain;
  EXPECT_EQ(std::set<std::string_view>(kHashDomains.begin(), kHashDomains.end()).size(),
            kHashDomains.size());
}

TEST(HashDomains, TheRulesRefuseWhatTheyShould) {
  for (const std::string_view bad :
       {"gossip/c/v", "gossip/coord/split-id", "gossip//v1/split-id", "gossip/coord/v1/",
        "gossip/coord/v01/x", "Gossip/coord/v1/x", "gossip/coord/v1/split_id",
        "gossip/coord/v1/a/b", "cadastre/coord/v1/x"}) {
    EXPECT_FALSE(is_legal_domain(bad)) << bad;
  }
}

// C-1.4: two domains are independent functions.
TEST(CanonicalHash, DomainsAreIndependent) {
  EXPECT_NE(split_id_hasher().finalize_64(), op_payload_hasher().finalize_64());
}

// The hasher collects short pieces: where a piece ends must not matter, at any size.
TEST(CanonicalHash, ThePiecesDoNotMatter) {
  for (std::size_t size = 0; size < 2200; ++size) {
    const base::Bytes bytes = repeated('x', size);
    auto whole = op_payload_hasher();
    whole.raw(bytes);
    auto pieces = op_payload_hasher();
    const std::size_t cut = size / 3;
    pieces.raw(base::ByteView(bytes).first(cut));
    for (std::size_t i = cut; i < size; ++i)
      pieces.u8('x');
    ASSERT_EQ(whole.finalize_32(), pieces.finalize_32()) << size;
    ASSERT_EQ(whole.finalize_32(), base::derive_key(kOpPayloadDomain, bytes)) << size;
  }
}

// C-1.6: zero is reserved. [C] D-5
TEST(PayloadHash, ZeroBecomesOne) {
  EXPECT_EQ(nonzero_hash(0), 1U);
  EXPECT_EQ(nonzero_hash(1), 1U);
  EXPECT_EQ(nonzero_hash(~std::uint64_t{0}), ~std::uint64_t{0});
}

// A release has a tag of its own.
TEST(PayloadHash, CursorOperationsAreToldApart) {
  const auto cursor = CursorUpdate::make("d"_b, "tok"_b);
  const std::set<std::uint64_t> hashes{hash_checkpoint(cursor), hash_complete(cursor),
                                       hash_release(cursor)};
  EXPECT_EQ(hashes.size(), 3U);
}

TEST(PayloadHashDeathTest, ARegistrationIsHashedWithItsManifest) {
  EXPECT_DEATH((void)hash_run_transition(RunOpKind::kRegisterShards), "with its manifest");
}

}  // namespace
}  // namespace cadastre::coord
