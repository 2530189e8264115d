#include "cli/bitmap_once.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/ids.h"
#include "cli/batch.h"
#include "cli/bitmap_answer.h"
#include "cli/bitmap_batch.h"
#include "cli/bitmap_commands.h"
#include "cli/bitmap_error.h"
#include "cli/bitmap_files.h"
#include "cli/bitmap_request.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_sets.h"
#include "cli/bitmap_tables.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/input_file.h"
#include "cli/json_fields.h"
#include "cli/key_text.h"
#include "cli/limits.h"
#include "cli/options.h"
#include "node/bitmaps.h"

namespace cadastre::cli {
namespace {

using Answer = Result<std::string, CommandError>;
using Prepared = Result<BitmapWork, CommandError>;

constexpr std::string_view kTableDefault = "default";

Result<BitmapTable, CommandError> table_of(const BitmapArguments& arguments) {
  return parse_table({.name = arguments.table ? std::string_view(*arguments.table) : kTableDefault,
                      .shards = arguments.shards,
                      .segment_bytes = arguments.segment_bytes});
}

Result<std::unique_ptr<node::Bitmaps>, CommandError> open_bitmaps(const BitmapArguments& arguments,
                                                                  const BitmapTable& table,
                                                                  node::BitmapsAccess access,
                                                                  const Context& context) {
  if (arguments.db.empty()) return base::fail(usage_error("which directory? name one with --db"));
  node::BitmapsOptions options;
  options.tables.new_tables = table.config();
  options.access = access;
  auto bitmaps = node::Bitmaps::open(context.clock, arguments.db, options);
  if (!bitmaps) return base::fail(from_bitmap(bitmaps.error()));
  return *std::move(bitmaps);
}

Result<base::Bytes, CommandError> parse_set_key(const std::string& typed, KeyForm keys) {
  base::Bytes key = CAD_TRY(parse_key(typed, keys, "KEY"));
  CAD_TRY(check_set_key(key));
  return key;
}

Result<IdPage, CommandError> page_of(const BitmapArguments& arguments) {
  IdPage page;
  if (arguments.from) page.from = bitmap::Id {
      CAD_TRY(parse_argument_u64(*arguments.from, "--from"))
    };
  if (arguments.limit) page.limit = CAD_TRY(parse_argument_u64(*arguments.limit, "--limit"));
  return page;
}

Prepared prepare_set(const BitmapArguments& arguments, KeyForm keys, SetKind kind) {
  SetRequest request;
  request.kind = kind;
  request.keys.push_back(CAD_TRY(parse_set_key(arguments.key, keys)));
  for (const auto& typed : arguments.more_keys) {
    if (typed) request.keys.push_back(CAD_TRY(parse_set_key(*typed, keys)));
  }
  request.page = CAD_TRY(page_of(arguments));
  if (arguments.count_only) request.wanted = Wanted::kCount;
  return [request = std::move(request)](BitmapCall& call) {
    return combine_sets(call.session, request);
  };
}

// The findings are printed also where they make the command fail.
Answer verify_all(BitmapCall& call, const std::optional<std::string>& table) {
  bitmap::BitmapDatabase& database = call.bitmaps.database();
  const VerifyReport report = CAD_TRY(verify_tables(database, tables_of(database, table)));
  call.context.out.line(verify_answer(report, call.session.form()));
  CAD_TRY(verdict(report));
  return std::string();
}

Answer count_all(BitmapCall& call, const std::optional<std::string>& table) {
  bitmap::BitmapDatabase& database = call.bitmaps.database();
  std::vector<TableStats> tables;
  for (const std::string& name : tables_of(database, table))
    tables.push_back(CAD_TRY(count_table(database, name)));
  return stats_answer(tables, call.session.form());
}

Answer save(BitmapCall& call, const std::string& directory) {
  const auto saved = call.bitmaps.backup(directory);
  if (!saved) return base::fail(from_bitmap(saved.error()));
  return saved_answer(directory, call.session.form());
}

}  // namespace

Result<void, CommandError> run_bitmap_once(BitmapCommand command,
                                           const BitmapArguments& arguments,
                                           Context& context) {
  if (context.options.mode == Mode::kBatch) {
    return base::fail(usage_error("a batch has its commands on standard input"));
  }
  BitmapTable table = CAD_TRY(table_of(arguments));
  const BitmapWork work = CAD_TRY(command.prepare(arguments, context.options.form.keys));
  const auto bitmaps = CAD_TRY(open_bitmaps(arguments, table, command.access, context));
  BitmapSession session(bitmaps->database(), std::move(table), context.options.form, Mode::kOnce);
  BitmapCall call{*bitmaps, session, context};
  const std::string answer = CAD_TRY(work(call));
  if (!answer.empty()) context.out.line(answer);
  return {};
}

Result<void, CommandError> run_bitmap_batch(const BitmapArguments& arguments, Context& context) {
  if (context.options.mode != Mode::kBatch) {
    return base::fail(usage_error("which command? see cadastre bitmap --help"));
  }
  BitmapTable table = CAD_TRY(table_of(arguments));
  const auto bitmaps =
      CAD_TRY(open_bitmaps(arguments, table, node::BitmapsAccess::kReadWrite, context));
  BitmapSession session(bitmaps->database(), std::move(table),
                        {Format::kJson, context.options.form.keys}, Mode::kBatch);
  return run_batch(
      context,
      [&session](const JsonFields& request) { return answer_bitmap_request(session, request); },
      kBitmapLineBytesMax);
}

Prepared prepare_add(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  auto ids = CAD_TRY(parse_typed_ids(arguments.ids));
  return [key = std::move(key), ids = std::move(ids)](BitmapCall& call) {
    return add_ids(call.session, key, ids);
  };
}

Prepared prepare_remove(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  auto ids = CAD_TRY(parse_typed_ids(arguments.ids));
  return [key = std::move(key), ids = std::move(ids)](BitmapCall& call) {
    return remove_ids(call.session, key, ids);
  };
}

Prepared prepare_contains(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  const bitmap::Id id {
    CAD_TRY(parse_argument_u64(arguments.id, "ID"))
  };
  return [key = std::move(key), id](BitmapCall& call) {
    return contains_id(call.session, key, id);
  };
}

Prepared prepare_count(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  return [key = std::move(key)](BitmapCall& call) {
    return count_ids(call.session, key);
  };
}

Prepared prepare_get(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  const IdPage page = CAD_TRY(page_of(arguments));
  return [key = std::move(key), page](BitmapCall& call) {
    return get_ids(call.session, key, page);
  };
}

Prepared prepare_and(const BitmapArguments& arguments, KeyForm keys) {
  return prepare_set(arguments, keys, SetKind::kAnd);
}

Prepared prepare_or(const BitmapArguments& arguments, KeyForm keys) {
  return prepare_set(arguments, keys, SetKind::kOr);
}

Prepared prepare_andnot(const BitmapArguments& arguments, KeyForm keys) {
  return prepare_set(arguments, keys, SetKind::kAndNot);
}

Prepared prepare_xor(const BitmapArguments& arguments, KeyForm keys) {
  return prepare_set(arguments, keys, SetKind::kXor);
}

Prepared prepare_compact(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  return [key = std::move(key)](BitmapCall& call) {
    return compact_set(call.session, key);
  };
}

Prepared prepare_erase(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  return [key = std::move(key)](BitmapCall& call) {
    return erase_set(call.session, key);
  };
}

Prepared prepare_keys(const BitmapArguments& arguments, KeyForm keys) {
  KeyPage page;
  page.prefix = CAD_TRY(parse_key(arguments.prefix, keys, "PREFIX"));
  if (arguments.after) page.after = CAD_TRY(parse_key(*arguments.after, keys, "--after"));
  if (arguments.limit) page.limit = CAD_TRY(parse_argument_u64(*arguments.limit, "--limit"));
  if (page.limit == 0) return base::fail(usage_error("--limit is at least 1"));
  return [page = std::move(page)](BitmapCall& call) {
    return list_keys(call.session, page);
  };
}

Prepared prepare_stats(const BitmapArguments& arguments, KeyForm /*keys*/) {
  return [table = arguments.table](BitmapCall& call) {
    return count_all(call, table);
  };
}

Prepared prepare_verify(const BitmapArguments& arguments, KeyForm /*keys*/) {
  return [table = arguments.table](BitmapCall& call) {
    return verify_all(call, table);
  };
}

Prepared prepare_export(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  return [key = std::move(key), path = arguments.file](BitmapCall& call) {
    return export_set(call.session, key, path);
  };
}

Prepared prepare_import(const BitmapArguments& arguments, KeyForm keys) {
  auto key = CAD_TRY(parse_set_key(arguments.key, keys));
  return [key = std::move(key), path = arguments.file](BitmapCall& call) -> Answer {
    const InputFile file = CAD_TRY(InputFile::open(path, call.context.input));
    return import_set(call.session, key, file);
  };
}

Prepared prepare_backup(const BitmapArguments& arguments, KeyForm /*keys*/) {
  return [directory = arguments.directory](BitmapCall& call) {
    return save(call, directory);
  };
}

}  // namespace cadastre::cli
