#include "cli/hint_commands.h"

#include <string>
#include <string_view>

#include <CLI/App.hpp>

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
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/key_buf.h"

namespace cadastre::cli {
namespace {

using base::ByteView;

Result<std::string, CommandError> answer_encode(const shard::ShardHint& hint,
                                                ByteView extra,
                                                Format format) {
  shard::MetadataBuf buffer;
  const auto metadata = shard::encode_into(shard::ShardMetadata{hint, extra}, buffer);
  if (!metadata) return base::fail(from_algebra(metadata.error()));
  return metadata_answer(*metadata, format);
}

Result<std::string, CommandError> answer_decode(ByteView metadata, Format format) {
  const auto decoded = shard::decode_metadata_bytes(metadata);
  if (!decoded) return base::fail(from_algebra(decoded.error()));
  return decoded_answer(*decoded, format);
}

struct Child {
  ByteView start;
  ByteView end;
};

Result<std::string, CommandError> answer_propagate(ByteView metadata, Child child, Format format) {
  const auto parent = shard::decode_metadata_bytes(metadata);
  if (!parent) return base::fail(from_algebra(parent.error()));
  const auto hint = shard::propagate_hint_on_split(parent->hint, child.start, child.end);
  if (!hint) return base::fail(from_algebra(hint.error()));
  return hint_answer(*hint, format);
}

// {"op":"encode","hint":{...},"extra":HEX}; the extra may be absent.
Result<std::string, CommandError> answer_encode_request(const JsonFields& request) {
  const JsonFields hint = CAD_TRY(request.object("hint"));
  const std::string_view kind = CAD_TRY(hint.text("kind"));
  base::Bytes extra;
  if (request.has("extra")) extra = CAD_TRY(request.hex("extra"));
  if (kind == "range") return answer_encode(shard::ShardHint::range(), extra, Format::kJson);
  if (kind == "prefix") {
    const base::Bytes prefix = CAD_TRY(hint.hex("prefix"));
    return answer_encode(shard::ShardHint::prefix(prefix), extra, Format::kJson);
  }
  if (kind == "manifest") {
    const shard::ManifestRows rows {
      .manifest_id = CAD_TRY(hint.u64("manifest"))
      , .start_row = CAD_TRY(hint.u64("start_row"))
      , .end_row = CAD_TRY(hint.u64("end_row"))
      ,
    };
    return answer_encode(shard::ShardHint::manifest(rows), extra, Format::kJson);
  }
  return base::fail(bad_request("the hint's kind is none of range, prefix, manifest"));
}

Result<std::string, CommandError> encode_range(const HintArguments& arguments, Form form) {
  const base::Bytes extra = CAD_TRY(parse_hex(arguments.extra, "--extra"));
  return answer_encode(shard::ShardHint::range(), extra, form.format);
}

Result<std::string, CommandError> encode_prefix(const HintArguments& arguments, Form form) {
  const base::Bytes prefix = CAD_TRY(parse_hex(arguments.first, "P"));
  const base::Bytes extra = CAD_TRY(parse_hex(arguments.extra, "--extra"));
  return answer_encode(shard::ShardHint::prefix(prefix), extra, form.format);
}

Result<std::string, CommandError> encode_manifest(const HintArguments& arguments, Form form) {
  const shard::ManifestRows rows {
    .manifest_id = CAD_TRY(parse_argument_u64(arguments.first, "ID"))
    , .start_row = CAD_TRY(parse_argument_u64(arguments.second, "START"))
    , .end_row = CAD_TRY(parse_argument_u64(arguments.third, "END"))
    ,
  };
  const base::Bytes extra = CAD_TRY(parse_hex(arguments.extra, "--extra"));
  return answer_encode(shard::ShardHint::manifest(rows), extra, form.format);
}

Result<std::string, CommandError> decode(const HintArguments& arguments, Form form) {
  const base::Bytes metadata = CAD_TRY(parse_hex(arguments.first, "METADATA"));
  return answer_decode(metadata, form.format);
}

Result<std::string, CommandError> propagate(const HintArguments& arguments, Form form) {
  const base::Bytes metadata = CAD_TRY(parse_hex(arguments.first, "METADATA"));
  const base::Bytes start = CAD_TRY(parse_hex(arguments.second, "CHILD_START"));
  const base::Bytes end = CAD_TRY(parse_hex(arguments.third, "CHILD_END"));
  return answer_propagate(metadata, {start, end}, form.format);
}

Result<void, CommandError> run_hint_batch(Context& context) {
  if (context.options.mode != Mode::kBatch) {
    return base::fail(usage_error("which command? see cadastre hint --help"));
  }
  return run_batch(context, [](const JsonFields& request) { return answer_hint_request(request); });
}

void add_encode(CLI::App& group, HintArguments& arguments, Command& chosen) {
  CLI::App& encode = *group.add_subcommand(
      "encode",
      "Metadata from a hint\nExample: cadastre hint encode manifest 7 0 100 --extra cafe");
  encode.require_subcommand(1)->fallthrough();
  encode.add_option("--extra", arguments.extra, "the connector's own bytes, in hexadecimal");

  CLI::App& range = *encode.add_subcommand(
      "range", "No shape beside the range\nExample: cadastre hint encode range");
  range.fallthrough();
  choose_answer(range, arguments, chosen, encode_range);

  CLI::App& prefix = *encode.add_subcommand(
      "prefix", "All keys with a prefix\nExample: cadastre hint encode prefix 7372632f");
  prefix.fallthrough();
  prefix.add_option("P", arguments.first, "the prefix, in hexadecimal")->required();
  choose_answer(prefix, arguments, chosen, encode_prefix);

  CLI::App& manifest = *encode.add_subcommand(
      "manifest", "Rows of a manifest\nExample: cadastre hint encode manifest 7 0 100");
  manifest.fallthrough();
  manifest.add_option("ID", arguments.first, "the manifest's id")->required();
  manifest.add_option("START", arguments.second, "the first row")->required();
  manifest.add_option("END", arguments.third, "the row behind the last one")->required();
  choose_answer(manifest, arguments, chosen, encode_manifest);
}

}  // namespace

void add_hint_commands(CLI::App& app, HintArguments& arguments, Command& chosen) {
  CLI::App& group = *app.add_subcommand(
      "hint", "Hints in a shard's metadata\nExample: cadastre hint decode 0000000100");
  group.require_subcommand(0, 1)->fallthrough();
  choose_without_subcommand(group, chosen, run_hint_batch);
  add_encode(group, arguments, chosen);

  CLI::App& decode_app = *group.add_subcommand(
      "decode", "The hint in metadata\nExample: cadastre hint decode 0000000100cafe");
  decode_app.fallthrough();
  decode_app.add_option("METADATA", arguments.first, "in hexadecimal")->required();
  choose_answer(decode_app, arguments, chosen, decode);

  CLI::App& propagate_app =
      *group.add_subcommand("propagate",
                            "The hint of a child of a split\n"
                            "Example: cadastre hint propagate 00000006010000000161 61 6180");
  propagate_app.fallthrough();
  propagate_app.add_option("METADATA", arguments.first, "the parent's, in hexadecimal")->required();
  propagate_app.add_option("CHILD_START", arguments.second, "in hexadecimal")->required();
  propagate_app.add_option("CHILD_END", arguments.third, "in hexadecimal")->required();
  choose_answer(propagate_app, arguments, chosen, propagate);
}

Result<std::string, CommandError> answer_hint_request(const JsonFields& request) {
  const std::string_view op = CAD_TRY(request.text("op"));
  if (op == "encode") return answer_encode_request(request);
  if (op == "decode") {
    const base::Bytes metadata = CAD_TRY(request.hex("metadata"));
    return answer_decode(metadata, Format::kJson);
  }
  if (op == "propagate") {
    const base::Bytes metadata = CAD_TRY(request.hex("metadata"));
    const base::Bytes start = CAD_TRY(request.hex("child_start"));
    const base::Bytes end = CAD_TRY(request.hex("child_end"));
    return answer_propagate(metadata, {start, end}, Format::kJson);
  }
  return base::fail(bad_request("the op is none of encode, decode, propagate"));
}

}  // namespace cadastre::cli
