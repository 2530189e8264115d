// Sets of ids as answers: the JSON of docs/cli.md, and tables and sentences for people.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/ids.h"
#include "cli/command_error.h"
#include "cli/options.h"

namespace cadastre::cli {

using base::Result;

// A page of a set.
struct IdsView {
  std::vector<bitmap::Id> ids;
  std::optional<bitmap::Id> next;  // the first one that is not among them
};

// A page of a table's keys.
struct KeysView {
  std::vector<base::Bytes> keys;
  bool is_cut = false;  // there are more behind the last
};

struct SegmentsView {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

// {"changed":N}
[[nodiscard]] Result<std::string, CommandError> added_answer(std::uint64_t changed, Form form);
[[nodiscard]] Result<std::string, CommandError> removed_answer(std::uint64_t changed, Form form);

// {"contains":true}
[[nodiscard]] Result<std::string, CommandError> contains_answer(bool found, Form form);

// {"count":N}
[[nodiscard]] Result<std::string, CommandError> count_answer(std::uint64_t count, Form form);

// {"ids":[...],"next":N} or "next":null
[[nodiscard]] Result<std::string, CommandError> ids_answer(const IdsView& view, Form form);

// {"ids":[...]}, and "next" if there is one
[[nodiscard]] Result<std::string, CommandError> combined_answer(const IdsView& view, Form form);

// {"segments_before":N,"segments_after":N}
[[nodiscard]] Result<std::string, CommandError> compacted_answer(const SegmentsView& segments,
                                                                 Form form);

// {"existed":true}
[[nodiscard]] Result<std::string, CommandError> erased_answer(bool existed, Form form);

// {"keys":[...],"next":K} or "next":null in a batch, where `next` is what to go on behind; else one
// {"key":K} on each line
[[nodiscard]] Result<std::string, CommandError> keys_answer(const KeysView& view,
                                                            Form form,
                                                            Mode mode);

// {"ids":N,"bytes":N}: what a file holds now
[[nodiscard]] Result<std::string, CommandError> exported_answer(std::uint64_t ids,
                                                                std::uint64_t bytes,
                                                                Form form);

// {"ids":N,"changed":N}: what a file holds, and how much of it was new
[[nodiscard]] Result<std::string, CommandError> imported_answer(std::uint64_t ids,
                                                                std::uint64_t changed,
                                                                Form form);

// {"directory":D}
[[nodiscard]] Result<std::string, CommandError> saved_answer(std::string_view directory, Form form);

// {}
[[nodiscard]] std::string done_answer(Form form);

// "1 id", "2 ids"
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace cadastre::cli
