#include "cli/key_commands.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/App.hpp>
#include <fmt/format.h>

#include "base/bytes.h"
#include "base/result.h"
#include "cli/answer.h"
#include "cli/batch.h"
#include "cli/command.h"
#include "cli/command_choice.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/key_text.h"
#include "cli/options.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"
#include "shard/limits.h"
#include "shard/typed_keys.h"

namespace cadastre::cli {
namespace {

using base::ByteView;

// What the two commands with one key, and the two with two keys, compute.
using OneKeyFunction = std::optional<ByteView> (*)(ByteView key, shard::KeyBuf& out) noexcept;
using TwoKeyFunction = std::optional<ByteView> (*)(ByteView a,
                                                   ByteView b,
                                                   shard::KeyBuf& out) noexcept;

Result<std::string, CommandError> answer_encode_row(shard::ManifestRowKey row, Form form) {
  shard::KeyBuf buffer;
  row.encode_into(buffer);
  return key_answer(buffer.view(), form);
}

Result<std::string, CommandError> answer_decode_row(ByteView key, Format format) {
  const auto row = shard::decode_manifest_row_key(key);
  if (!row) {
    return base::fail(
        CommandError{"not_a_row_key", fmt::format("a row key has {} bytes and this one has {}",
                                                  shard::kManifestRowKeySize, key.size())});
  }
  return row_answer(*row, format);
}

template <OneKeyFunction Compute>
Result<std::string, CommandError> with_one_key(const KeyArguments& arguments, Form form) {
  const base::Bytes key = CAD_TRY(parse_key(arguments.first, form.keys, "K"));
  shard::KeyBuf buffer;
  return key_answer(Compute(key, buffer), form);
}

template <TwoKeyFunction Compute>
Result<std::string, CommandError> with_two_keys(const KeyArguments& arguments, Form form) {
  const base::Bytes a = CAD_TRY(parse_key(arguments.first, form.keys, "A"));
  const base::Bytes b = CAD_TRY(parse_key(arguments.second, form.keys, "B"));
  shard::KeyBuf buffer;
  return key_answer(Compute(a, b, buffer), form);
}

Result<std::string, CommandError> encode_row(const KeyArguments& arguments, Form form) {
  const std::uint64_t manifest = CAD_TRY(parse_argument_u64(arguments.first, "M"));
  const std::uint64_t row = CAD_TRY(parse_argument_u64(arguments.second, "R"));
  return answer_encode_row({manifest, row}, form);
}

Result<std::string, CommandError> decode_row(const KeyArguments& arguments, Form form) {
  return answer_decode_row(CAD_TRY(parse_key(arguments.first, form.keys, "K")), form.format);
}

Result<void, CommandError> run_key_batch(Context& context) {
  if (context.options.mode != Mode::kBatch) {
    return base::fail(usage_error("which command? see cadastre key --help"));
  }
  const KeyForm keys = context.options.form.keys;
  return run_batch(context,
                   [keys](const JsonFields& request) { return answer_key_request(request, keys); });
}

// A command of the group and the names of its arguments.
struct KeyCommand {
  const char* name;
  const char* help;
  const char* first;
  const char* second;  // null: it has one argument
  AnswerArguments<KeyArguments> answer;
};

constexpr std::array kKeyCommands = {
    KeyCommand{"successor", "The least key above K\nExample: cadastre key successor --hex 61ff",
               "K", nullptr, with_one_key<shard::key_successor>},
    KeyCommand{"prefix-end",
               "The least key above all keys that start with K\n"
               "Example: cadastre key prefix-end src/",
               "K", nullptr, with_one_key<shard::prefix_successor>},
    KeyCommand{"midpoint",
               "A key strictly between A and B, right behind A where they are neighbours\n"
               "Example: cadastre key midpoint a c",
               "A", "B", with_two_keys<shard::byte_midpoint>},
    KeyCommand{"balanced",
               "A short key that cuts the range [A, B) fairly; an empty bound is unbounded\n"
               "Example: cadastre key balanced user/a user/z",
               "A", "B", with_two_keys<shard::balanced_split_point>},
    KeyCommand{"encode-row",
               "The key of row R of manifest M\nExample: cadastre key encode-row --hex 7 128", "M",
               "R", encode_row},
    KeyCommand{"decode-row",
               "Manifest and row of a row key\n"
               "Example: cadastre key decode-row --hex 00000000000000070000000000000080",
               "K", nullptr, decode_row},
};

Result<std::string, CommandError> answer_one_key(const JsonFields& request,
                                                 OneKeyFunction compute,
                                                 Form form) {
  const base::Bytes key = CAD_TRY(request.key("key", form.keys));
  shard::KeyBuf buffer;
  return key_answer(compute(key, buffer), form);
}

Result<std::string, CommandError> answer_two_keys(const JsonFields& request,
                                                  TwoKeyFunction compute,
                                                  Form form) {
  const base::Bytes a = CAD_TRY(request.key("a", form.keys));
  const base::Bytes b = CAD_TRY(request.key("b", form.keys));
  shard::KeyBuf buffer;
  return key_answer(compute(a, b, buffer), form);
}

}  // namespace

void add_key_commands(CLI::App& app, KeyArguments& arguments, Command& chosen) {
  CLI::App& group =
      *app.add_subcommand("key", "Arithmetic on keys\nExample: cadastre key balanced a z --json");
  group.require_subcommand(0, 1)->fallthrough();
  choose_without_subcommand(group, chosen, run_key_batch);
  for (const KeyCommand& command : kKeyCommands) {
    CLI::App& subcommand = *group.add_subcommand(command.name, command.help);
    subcommand.fallthrough();
    subcommand.add_option(command.first, arguments.first)->required();
    if (command.second != nullptr) {
      subcommand.add_option(command.second, arguments.second)->required();
    }
    choose_answer(subcommand, arguments, chosen, command.answer);
  }
}

Result<std::string, CommandError> answer_key_request(const JsonFields& request, KeyForm keys) {
  const Form form{Format::kJson, keys};
  const std::string_view op = CAD_TRY(request.text("op"));
  if (op == "successor") return answer_one_key(request, shard::key_successor, form);
  if (op == "prefix_end") return answer_one_key(request, shard::prefix_successor, form);
  if (op == "midpoint") return answer_two_keys(request, shard::byte_midpoint, form);
  if (op == "balanced") return answer_two_keys(request, shard::balanced_split_point, form);
  if (op == "encode_row") {
    const std::uint64_t manifest = CAD_TRY(request.u64("manifest"));
    const std::uint64_t row = CAD_TRY(request.u64("row"));
    return answer_encode_row({manifest, row}, form);
  }
  if (op == "decode_row") {
    return answer_decode_row(CAD_TRY(request.key("key", keys)), form.format);
  }
  return base::fail(
      bad_request("the op is none of successor, prefix_end, midpoint, balanced, encode_row, "
                  "decode_row"));
}

}  // namespace cadastre::cli
