#include "cli/bitmap_answer.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/ids.h"
#include "cli/command_error.h"
#include "cli/json_answer.h"
#include "cli/key_text.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

using Answer = Result<std::string, CommandError>;

bool is_json(Form form) noexcept {
  return form.format == Format::kJson;
}

void add_ids(JsonAnswer& answer, const IdsView& view) {
  answer.open_list("ids");
  for (const bitmap::Id id : view.ids)
    answer.number_element(id.value());
  answer.close_list();
}

std::optional<std::uint64_t> raw(std::optional<bitmap::Id> id) noexcept {
  if (!id) return std::nullopt;
  return id->value();
}

std::string id_lines(const IdsView& view) {
  if (view.ids.empty() && !view.next) return "no ids";
  std::string lines;
  for (const bitmap::Id id : view.ids)
    fmt::format_to(std::back_inserter(lines), "{}\n", id.value());
  if (view.next) return lines + fmt::format("more: go on with --from {}", view.next->value());
  lines.pop_back();
  return lines;
}

Answer changed_json(std::uint64_t changed, Form form) {
  JsonAnswer answer(form.keys);
  answer.number("changed", changed);
  return std::move(answer).finish();
}

Answer key_lines(const KeysView& view, Form form) {
  if (view.keys.empty()) return is_json(form) ? "" : "no keys";
  std::string lines;
  for (const base::Bytes& key : view.keys) {
    if (!lines.empty()) lines += '\n';
    if (is_json(form)) {
      JsonAnswer line(form.keys);
      line.key("key", key);
      lines += CAD_TRY(std::move(line).finish());
    } else {
      lines += key.empty() ? "\"\"" : bound_text(key, form.keys);
    }
  }
  if (view.is_cut && !is_json(form)) lines += "\nmore: go on with --after and the last key";
  return lines;
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Answer added_answer(std::uint64_t changed, Form form) {
  if (is_json(form)) return changed_json(changed, form);
  return counted(changed, "id") + " added";
}

Answer removed_answer(std::uint64_t changed, Form form) {
  if (is_json(form)) return changed_json(changed, form);
  return counted(changed, "id") + " removed";
}

Answer contains_answer(bool found, Form form) {
  if (!is_json(form)) return found ? "yes" : "no";
  JsonAnswer answer(form.keys);
  answer.flag("contains", found);
  return std::move(answer).finish();
}

Answer count_answer(std::uint64_t count, Form form) {
  if (!is_json(form)) return counted(count, "id");
  JsonAnswer answer(form.keys);
  answer.number("count", count);
  return std::move(answer).finish();
}

Answer ids_answer(const IdsView& view, Form form) {
  if (!is_json(form)) return id_lines(view);
  JsonAnswer answer(form.keys);
  add_ids(answer, view);
  answer.number_or_null("next", raw(view.next));
  return std::move(answer).finish();
}

Answer combined_answer(const IdsView& view, Form form) {
  if (!is_json(form)) return id_lines(view);
  JsonAnswer answer(form.keys);
  add_ids(answer, view);
  if (view.next) answer.number("next", view.next->value());
  return std::move(answer).finish();
}

Answer compacted_answer(const SegmentsView& segments, Form form) {
  if (!is_json(form)) {
    return fmt::format("{} before, {} after", counted(segments.before, "segment"), segments.after);
  }
  JsonAnswer answer(form.keys);
  answer.number("segments_before", segments.before).number("segments_after", segments.after);
  return std::move(answer).finish();
}

Answer erased_answer(bool existed, Form form) {
  if (!is_json(form)) return existed ? "the set is erased" : "there was no such set";
  JsonAnswer answer(form.keys);
  answer.flag("existed", existed);
  return std::move(answer).finish();
}

Answer keys_answer(const KeysView& view, Form form, Mode mode) {
  if (mode == Mode::kOnce) return key_lines(view, form);
  JsonAnswer answer(form.keys);
  answer.open_list("keys");
  for (const base::Bytes& key : view.keys)
    answer.key_element(key);
  answer.close_list();
  const bool has_next = view.is_cut && !view.keys.empty();
  answer.key_or_null("next",
                     has_next ? std::optional<base::ByteView>(view.keys.back()) : std::nullopt);
  return std::move(answer).finish();
}

Answer exported_answer(std::uint64_t ids, std::uint64_t bytes, Form form) {
  if (!is_json(form)) return fmt::format("{} in {}", counted(ids, "id"), counted(bytes, "byte"));
  JsonAnswer answer(form.keys);
  answer.number("ids", ids).number("bytes", bytes);
  return std::move(answer).finish();
}

Answer imported_answer(std::uint64_t ids, std::uint64_t changed, Form form) {
  if (!is_json(form)) return fmt::format("{} of {} added", changed, counted(ids, "id"));
  JsonAnswer answer(form.keys);
  answer.number("ids", ids).number("changed", changed);
  return std::move(answer).finish();
}

Answer saved_answer(std::string_view directory, Form form) {
  const std::string name = visible_text(directory);
  if (!is_json(form)) return fmt::format("the database is saved in {}", name);
  JsonAnswer answer(form.keys);
  answer.text("directory", name);
  return std::move(answer).finish();
}

std::string done_answer(Form form) {
  return is_json(form) ? "{}" : "done";
}

}  // namespace cadastre::cli
