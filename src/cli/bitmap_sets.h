// Operations on the sets of a table, from typed arguments to a printed answer.
//
// An absent key, and a key of an absent table, is the empty set. Nothing here keeps more of a set than
// the ids it answers with.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/ids.h"
#include "cli/bitmap_session.h"
#include "cli/command_error.h"
#include "cli/limits.h"

namespace cadastre::cli {

using base::Result;

// Ids from one on, ascending.
struct IdPage {
  bitmap::Id from;
  std::size_t limit = kIdsLimitDefault;
};

// Keys behind one, in the order of length first and bytes second.
struct KeyPage {
  base::Bytes prefix;
  std::optional<base::Bytes> after;
  std::size_t limit = kKeysLimitDefault;
};

enum class SetKind : std::uint8_t {
  kAnd,
  kOr,
  kAndNot,  // what is in the first and in none of the others
  kXor,     // what is in an odd number of them
};

enum class Wanted : std::uint8_t {
  kIds,
  kCount,
};

struct SetRequest {
  SetKind kind = SetKind::kAnd;
  std::vector<base::Bytes> keys;  // at least one
  IdPage page;
  Wanted wanted = Wanted::kIds;
};

// `key_too_long`, also where there is no table to say so.
[[nodiscard]] Result<void, CommandError> check_set_key(base::ByteView key);

[[nodiscard]] Result<std::string, CommandError> add_ids(BitmapSession& session,
                                                        base::ByteView key,
                                                        std::span<const bitmap::Id> ids);
[[nodiscard]] Result<std::string, CommandError> remove_ids(BitmapSession& session,
                                                           base::ByteView key,
                                                           std::span<const bitmap::Id> ids);
[[nodiscard]] Result<std::string, CommandError> contains_id(BitmapSession& session,
                                                            base::ByteView key,
                                                            bitmap::Id id);
[[nodiscard]] Result<std::string, CommandError> count_ids(BitmapSession& session,
                                                          base::ByteView key);
[[nodiscard]] Result<std::string, CommandError> get_ids(BitmapSession& session,
                                                        base::ByteView key,
                                                        const IdPage& page);
[[nodiscard]] Result<std::string, CommandError> combine_sets(BitmapSession& session,
                                                             const SetRequest& request);
[[nodiscard]] Result<std::string, CommandError> compact_set(BitmapSession& session,
                                                            base::ByteView key);
[[nodiscard]] Result<std::string, CommandError> erase_set(BitmapSession& session,
                                                          base::ByteView key);
[[nodiscard]] Result<std::string, CommandError> list_keys(BitmapSession& session,
                                                          const KeyPage& page);

}  // namespace cadastre::cli
