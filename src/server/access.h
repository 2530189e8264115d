// Who may speak for which tenant: bearer tokens, each bound to the tenants of its line.
//
//   # comment
//   TOKEN NAME-OR-ID [NAME-OR-ID…]       64 hexadecimal digits are a tenant's id, all else is a name
//
// Invariants
//   1. No token is kept, only its digest under a key of this process: what is compared cannot be
//      steered by a caller, and takes the same time whatever was presented.
//   2. Whether a tenant is allowed is decided by token and tenant alone, before any record is read.
//
// A table is immutable: any thread may ask.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/blake3.h"
#include "base/random.h"
#include "base/result.h"
#include "coord/identity.h"

namespace cadastre::server {

using base::Result;

enum class TokenFileError : std::uint8_t {
  kUnreadable,  // The file is not there, not a file, or too large.
  kExposed,     // Others than its owner may read it: chmod 600.
  kMalformed,   // The detail names the line, never its content.
};

enum class Access : std::uint8_t {
  kAllowed,
  kUnauthenticated,  // no token, or one that nobody has
  kDenied,           // a token of other tenants
};

class AccessTable {
 public:
  // Without tokens: every caller may speak for every tenant.
  [[nodiscard]] static AccessTable open_to_all() { return AccessTable(); }
  // At least one token. `random` makes the key of the digests.
  [[nodiscard]] static Result<AccessTable, TokenFileError> parse(std::string_view text,
                                                                 base::Random& random);

  // `authorization` is the header's value, `Bearer TOKEN`, or empty.
  [[nodiscard]] Access decide(std::string_view authorization,
                              const coord::TenantId& tenant) const noexcept;
  [[nodiscard]] bool needs_token() const noexcept { return !entries_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    base::Blake3Digest digest;
    std::vector<coord::TenantId> tenants;  // sorted
  };

  AccessTable() = default;
  [[nodiscard]] base::Blake3Digest digest_of(std::string_view token) const noexcept;
  [[nodiscard]] const Entry* find(std::string_view token) const noexcept;

  base::Blake3Digest key_{};
  std::vector<Entry> entries_;  // by digest
};

// The tenant that a word of a token file or of a command line means; nothing for an empty one.
[[nodiscard]] std::optional<coord::TenantId> tenant_of_word(std::string_view word);

// Reads the file after a look at its permissions.
[[nodiscard]] Result<AccessTable, TokenFileError> read_token_file(const char* path,
                                                                  base::Random& random);

}  // namespace cadastre::server
