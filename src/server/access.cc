#include "server/access.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/identity.h"
#include "coord/tenant_name.h"
#include "server/limits.h"
#include "server/private_file.h"

namespace cadastre::server {
namespace {

constexpr std::string_view kTokenContext = "cadastre/token/v1";
constexpr std::string_view kScheme = "Bearer ";
constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kIdDigits = 64;

// The next word of `line`, which loses it; empty at the end.
std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t start = line.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return {};
  line.remove_prefix(start);
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

// Every byte is looked at, wherever the first difference is.
bool equal_in_constant_time(const base::Blake3Digest& a, const base::Blake3Digest& b) noexcept {
  std::byte differences{};
  for (std::size_t i = 0; i < a.size(); ++i)
    differences |= a[i] ^ b[i];
  return differences == std::byte{};
}

}  // namespace

std::optional<coord::TenantId> tenant_of_word(std::string_view word) {
  if (word.empty()) return std::nullopt;
  if (word.size() == kIdDigits) {
    if (const auto bytes = base::from_hex(word)) {
      coord::TenantId::Bytes id{};
      std::ranges::copy(*bytes, id.begin());
      return coord::TenantId::from_bytes(id);
    }
  }
  return coord::tenant_named(word);
}

base::Blake3Digest AccessTable::digest_of(std::string_view token) const noexcept {
  base::Blake3Hasher hasher = base::Blake3Hasher::deriving(kTokenContext);
  hasher.update(key_);
  hasher.update(base::as_bytes(token));
  return hasher.finalize();
}

const AccessTable::Entry* AccessTable::find(std::string_view token) const noexcept {
  const base::Blake3Digest digest = digest_of(token);
  const auto at = std::ranges::lower_bound(entries_, digest, {}, &Entry::digest);
  // The place says something of a digest under a secret key only.
  if (at == entries_.end() || !equal_in_constant_time(at->digest, digest)) return nullptr;
  return &*at;
}

Access AccessTable::decide(std::string_view authorization,
                           const coord::TenantId& tenant) const noexcept {
  if (!needs_token()) return Access::kAllowed;
  if (!authorization.starts_with(kScheme)) return Access::kUnauthenticated;
  const std::string_view token = authorization.substr(kScheme.size());
  if (token.size() > kTokenBytesMax) return Access::kUnauthenticated;
  const Entry* const entry = find(token);
  if (entry == nullptr) return Access::kUnauthenticated;
  return std::ranges::binary_search(entry->tenants, tenant) ? Access::kAllowed : Access::kDenied;
}

Result<AccessTable, TokenFileError> AccessTable::parse(std::string_view text,
                                                       base::Random& random) {
  AccessTable table;
  for (std::size_t i = 0; i < table.key_.size(); i += sizeof(std::uint64_t))
    base::store_le(table.key_.data() + i, random.next_u64());
  std::size_t number = 0;
  const auto malformed = [&number](std::string_view what) {
    return base::fail(TokenFileError::kMalformed, fmt::format("line {}: {}", number, what));
  };
  for (const auto piece : std::views::split(text, '\n')) {
    std::string_view line(piece.begin(), piece.end());
    ++number;
    const std::string_view token = take_word(line);
    if (token.empty() || token.starts_with('#')) continue;
    if (token.size() < kTokenBytesMin || token.size() > kTokenBytesMax) {
      return malformed(
          fmt::format("a token has {} to {} characters", kTokenBytesMin, kTokenBytesMax));
    }
    Entry entry{table.digest_of(token), {}};
    while (const auto tenant = tenant_of_word(take_word(line)))
      entry.tenants.push_back(*tenant);
    if (entry.tenants.empty()) return malformed("a token is bound to at least one tenant");
    if (entry.tenants.size() > kTenantsPerTokenMax) return malformed("too many tenants");
    std::ranges::sort(entry.tenants);
    table.entries_.push_back(std::move(entry));
    if (table.entries_.size() > kTokensMax) return malformed("too many tokens");
  }
  number = 0;
  if (table.entries_.empty()) return malformed("there is no token in the file");
  std::ranges::sort(table.entries_, {}, &Entry::digest);
  if (std::ranges::adjacent_find(table.entries_, {}, &Entry::digest) != table.entries_.end())
    return malformed("a token occurs twice");
  return table;
}

Result<AccessTable, TokenFileError> read_token_file(const char* path, base::Random& random) {
  const auto text = read_private_file(path, kTokenFileBytesMax);
  if (!text) {
    const bool exposed = text.error().code == PrivateFileError::kExposed;
    return base::fail(exposed ? TokenFileError::kExposed : TokenFileError::kUnreadable,
                      text.error().detail);
  }
  return AccessTable::parse(*text, random);
}

}  // namespace cadastre::server
