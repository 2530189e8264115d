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

struct OneKeyOp {
  const char* command;
  std::string_view op;
  const char* help;
  std::optional<ByteView> (*compute)(ByteView key, shard::KeyBuf& out);
};

struct TwoKeyOp {
  const char* command;
  std::string_view op;
  const char* help;
  std::optional<ByteView> (*compute)(ByteView a, ByteView b, shard::KeyBuf& out);
};

constexpr std::array kOneKeyOps = {
    OneKeyOp{"successor", "successor",
             "The least key above K\nExample: cadastre key successor --hex 61ff",
             [](ByteView key, shard::KeyBuf& out) {
               return shard::key_successor(key, out);
             }},
    OneKeyOp{
        "prefix-end", "prefix_end",
        "The least key above all keys that start with K\nExample: cadastre key prefix-end src/",
        [](ByteView key, shard::KeyBuf& out) {
          return shard::prefix_successor(key, out);
        }},
};

constexpr std::array kTwoKeyOps = {
    TwoKeyOp{"midpoint", "midpoint",
             "A key strictly between A and B, right behind A where they are neighbours\n"
             "Example: cadastre key midpoint a c",
             [](ByteView a, ByteView b, shard::KeyBuf& out) {
               return shard::byte_midpoint(a, b, out);
             }},
    TwoKeyOp{"balanced", "balanced",
             "A short key that cuts the range [A, B) fairly; an empty bound is unbounded\n"
             "Example: cadastre key balanced user/a user/z",
             [](ByteView a, ByteView b, shard::KeyBuf& out) {
               return shard::balanced_split_point(a, b, out);
             }},
};

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

void add_with_one_key(CLI::App& group, KeyArguments& arguments, Command& chosen) {
  for (const OneKeyOp& op : kOneKeyOps) {
    CLI::App& command = *group.add_subcommand(op.command, op.help);
    command.fallthrough();
    command.add_option("K", arguments.first, "the key")->required();
    command.callback([&arguments, &op, &chosen] {
      chosen = print_answer_of([&arguments, &op](Form form) -> Result<std::string, CommandError> {
        const base::Bytes key = CAD_TRY(parse_key(arguments.first, form.keys, "K"));
        shard::KeyBuf buffer;
        return key_answer(op.compute(key, buffer), form);
      });
    });
  }
}

void add_with_two_keys(CLI::App& group, KeyArguments& arguments, Command& chosen) {
  for (const TwoKeyOp& op : kTwoKeyOps) {
    CLI::App& command = *group.add_subcommand(op.command, op.help);
    command.fallthrough();
    command.add_option("A", arguments.first, "the lower key")->required();
    command.add_option("B", arguments.second, "the upper key")->required();
    command.callback([&arguments, &op, &chosen] {
      chosen = print_answer_of([&arguments, &op](Form form) -> Result<std::string, CommandError> {
        const base::Bytes a = CAD_TRY(parse_key(arguments.first, form.keys, "A"));
        const base::Bytes b = CAD_TRY(parse_key(arguments.second, form.keys, "B"));
        shard::KeyBuf buffer;
        return key_answer(op.compute(a, b, buffer), form);
      });
    });
  }
}

void add_rows(CLI::App& group, KeyArguments& arguments, Command& chosen) {
  CLI::App& encode = *group.add_subcommand(
      "encode-row", "The key of row R of manifest M\nExample: cadastre key encode-row --hex 7 128");
  encode.fallthrough();
  encode.add_option("M", arguments.first, "the manifest's id")->required();
  encode.add_option("R", arguments.second, "the row")->required();
  encode.callback([&arguments, &chosen] {
    chosen = print_answer_of([&arguments](Form form) -> Result<std::string, CommandError> {
      const std::uint64_t manifest = CAD_TRY(parse_argument_u64(arguments.first, "M"));
      const std::uint64_t row = CAD_TRY(parse_argument_u64(arguments.second, "R"));
      return answer_encode_row({manifest, row}, form);
    });
  });

  CLI::App& decode = *group.add_subcommand(
      "decode-row",
      "Manifest and row of a row key\n"
      "Example: cadastre key decode-row --hex 00000000000000070000000000000080");
  decode.fallthrough();
  decode.add_option("K", arguments.first, "the row key")->required();
  decode.callback([&arguments, &chosen] {
    chosen = print_answer_of([&arguments](Form form) -> Result<std::string, CommandError> {
      return answer_decode_row(CAD_TRY(parse_key(arguments.first, form.keys, "K")), form.format);
    });
  });
}

}  // namespace

void add_key_commands(CLI::App& app, KeyArguments& arguments, Command& chosen) {
  CLI::App& group =
      *app.add_subcommand("key", "Arithmetic on keys\nExample: cadastre key balanced a z --json");
  group.require_subcommand(0, 1)->fallthrough();
  add_with_one_key(group, arguments, chosen);
  add_with_two_keys(group, arguments, chosen);
  add_rows(group, arguments, chosen);
  group.callback([&group, &chosen] {
    if (!group.get_subcommands().empty()) return;
    chosen = [](Context& context) -> Result<void, CommandError> {
      if (context.options.mode != Mode::kBatch) {
        return base::fail(usage_error("which command? see cadastre key --help"));
      }
      const KeyForm keys = context.options.form.keys;
      return run_batch(
          context, [keys](const JsonFields& request) { return answer_key_request(request, keys); });
    };
  });
}

Result<std::string, CommandError> answer_key_request(const JsonFields& request, KeyForm keys) {
  const Form form{Format::kJson, keys};
  const std::string_view name = CAD_TRY(request.text("op"));
  shard::KeyBuf buffer;
  for (const OneKeyOp& op : kOneKeyOps) {
    if (op.op != name) continue;
    const base::Bytes key = CAD_TRY(request.key("key", keys));
    return key_answer(op.compute(key, buffer), form);
  }
  for (const TwoKeyOp& op : kTwoKeyOps) {
    if (op.op != name) continue;
    const base::Bytes a = CAD_TRY(request.key("a", keys));
    const base::Bytes b = CAD_TRY(request.key("b", keys));
    return key_answer(op.compute(a, b, buffer), form);
  }
  if (name == "encode_row") {
    const std::uint64_t manifest = CAD_TRY(request.u64("manifest"));
    const std::uint64_t row = CAD_TRY(request.u64("row"));
    return answer_encode_row({manifest, row}, form);
  }
  if (name == "decode_row") {
    return answer_decode_row(CAD_TRY(request.key("key", keys)), form.format);
  }
  return base::fail(
      bad_request("the op is none of successor, prefix_end, midpoint, balanced, encode_row, "
                  "decode_row"));
}

}  // namespace cadastre::cli
