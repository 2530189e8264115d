#include "cli/bitmap_commands.h"

#include <algorithm>
#include <cstddef>

#include <CLI/App.hpp>
#include <CLI/Option.hpp>
#include <fmt/format.h>

#include "bitmap/limits.h"
#include "cli/bitmap_once.h"
#include "cli/command.h"
#include "cli/command_choice.h"
#include "node/bitmaps.h"

namespace cadastre::cli {
namespace {

// Adds commands to the group.
class Adder {
 public:
  Adder(CLI::App& group, BitmapArguments& arguments, Command& chosen) noexcept
      : group_(group), arguments_(arguments), chosen_(chosen) {}

  CLI::App& add_reader(const char* name, const char* help, PrepareBitmap prepare) {
    return add(name, help, {prepare, node::BitmapsAccess::kReadOnly});
  }
  CLI::App& add_writer(const char* name, const char* help, PrepareBitmap prepare) {
    return add(name, help, {prepare, node::BitmapsAccess::kReadWrite});
  }

  void take_key(CLI::App& command) {
    command.add_option("KEY", arguments_.key, "the set's key")->required();
  }
  void take_ids(CLI::App& command) {
    command.add_option("ID", arguments_.ids, "ids from 0 to 2^64 - 1")->required();
  }
  // Each is an option of its own, hidden but for the first: from an option that takes several words
  // CLI11 would make two keys of "[a,b]".
  void take_keys(CLI::App& command) {
    command.add_option("KEY...", arguments_.key, "the sets' keys")->required();
    command.preparse_callback([&command, &more = arguments_.more_keys](std::size_t words) {
      more.resize(std::min(words - std::min<std::size_t>(words, 1), bitmap::kOperandsMax));
      for (std::size_t i = 0; i < more.size(); ++i)
        command.add_option(fmt::format("KEY{}", i + 2), more[i])->group("");
    });
  }
  void take_page(CLI::App& command) {
    command.add_option("--from", arguments_.from, "the least id to show; 0 if absent");
    command.add_option("--limit", arguments_.limit, "how many ids at most; 1000 if absent");
  }

 private:
  CLI::App& add(const char* name, const char* help, BitmapCommand what) {
    CLI::App& command = *group_.add_subcommand(name, help);
    command.fallthrough();
    command.callback([&arguments = arguments_, &chosen = chosen_, what] {
      chosen = [&arguments, what](Context& context) {
        return run_bitmap_once(what, arguments, context);
      };
    });
    return command;
  }

  CLI::App& group_;
  BitmapArguments& arguments_;
  Command& chosen_;
};

void add_set_changes(Adder& adder) {
  CLI::App& add = adder.add_writer(
      "add", "Adds ids to a set\nExample: cadastre bitmap add red 1 2 3 --db tags", prepare_add);
  adder.take_key(add);
  adder.take_ids(add);
  CLI::App& remove = adder.add_writer(
      "remove", "Removes ids from a set\nExample: cadastre bitmap remove red 2 --db tags",
      prepare_remove);
  adder.take_key(remove);
  adder.take_ids(remove);
  adder.take_key(adder.add_writer(
      "compact", "Packs a set into few segments\nExample: cadastre bitmap compact red --db tags",
      prepare_compact));
  adder.take_key(adder.add_writer(
      "erase", "Removes a set as a whole\nExample: cadastre bitmap erase red --db tags",
      prepare_erase));
}

void add_set_reads(Adder& adder, BitmapArguments& arguments) {
  CLI::App& contains = adder.add_reader(
      "contains", "Whether an id is in a set\nExample: cadastre bitmap contains red 2 --db tags",
      prepare_contains);
  adder.take_key(contains);
  contains.add_option("ID", arguments.id, "an id from 0 to 2^64 - 1")->required();
  adder.take_key(adder.add_reader(
      "count", "How many ids a set has\nExample: cadastre bitmap count red --db tags",
      prepare_count));
  CLI::App& get = adder.add_reader(
      "get", "The ids of a set, ascending\nExample: cadastre bitmap get red --limit 10 --db tags",
      prepare_get);
  adder.take_key(get);
  adder.take_page(get);
}

void add_set_operation(Adder& adder,
                       BitmapArguments& arguments,
                       const char* name,
                       const char* help,
                       PrepareBitmap prepare) {
  CLI::App& command = adder.add_reader(name, help, prepare);
  adder.take_keys(command);
  adder.take_page(command);
  command.add_flag("--count-only", arguments.count_only, "how many ids there are, without them");
}

void add_set_operations(Adder& adder, BitmapArguments& arguments) {
  add_set_operation(adder, arguments, "and",
                    "Ids that are in all of the sets\n"
                    "Example: cadastre bitmap and red round --db tags",
                    prepare_and);
  add_set_operation(adder, arguments, "or",
                    "Ids that are in any of the sets\n"
                    "Example: cadastre bitmap or red blue --count-only --db tags",
                    prepare_or);
  add_set_operation(adder, arguments, "andnot",
                    "Ids that are in the first set and in none of the others\n"
                    "Example: cadastre bitmap andnot red round --db tags",
                    prepare_andnot);
  add_set_operation(adder, arguments, "xor",
                    "Ids that are in an odd number of the sets\n"
                    "Example: cadastre bitmap xor red round --db tags",
                    prepare_xor);
}

void add_table_commands(Adder& adder, BitmapArguments& arguments) {
  CLI::App& keys =
      adder.add_reader("keys",
                       "The keys of a table that begin with a prefix, the short ones first\n"
                       "Example: cadastre bitmap keys tag/ --limit 10 --db tags",
                       prepare_keys);
  keys.add_option("PREFIX", arguments.prefix, "what keys begin with; absent: all of them");
  keys.add_option("--limit", arguments.limit, "how many at most; 1000 if absent");
  keys.add_option("--after", arguments.after, "goes on behind this key");
  adder.add_reader("stats",
                   "Keys, segments, bytes, ids and fill of a table, or of all of them\n"
                   "Example: cadastre bitmap stats --db tags",
                   prepare_stats);
  adder.add_reader("verify",
                   "Checks every stored byte of a table, or of all of them\n"
                   "Example: cadastre bitmap verify --db tags",
                   prepare_verify);
}

void add_file_commands(Adder& adder, BitmapArguments& arguments) {
  CLI::App& to_file = adder.add_reader("export",
                                       "Writes a set to a file, as portable 64-bit roaring\n"
                                       "Example: cadastre bitmap export red red.roaring --db tags",
                                       prepare_export);
  adder.take_key(to_file);
  to_file.add_option("FILE", arguments.file, "the file; it is replaced")->required();
  CLI::App& from_file =
      adder.add_writer("import",
                       "Adds the ids of a portable 64-bit roaring file to a set\n"
                       "Example: cadastre bitmap import red red.roaring --db tags",
                       prepare_import);
  adder.take_key(from_file);
  from_file.add_option("FILE", arguments.file, "the file, or - for standard input")->required();
  adder
      .add_reader("backup",
                  "Copies all tables into another directory\n"
                  "Example: cadastre bitmap backup tags-copy --db tags",
                  prepare_backup)
      .add_option("DIR", arguments.directory, "where there is no database yet")
      ->required();
}

void add_bitmap_options(CLI::App& group, BitmapArguments& arguments) {
  group.add_option("--db", arguments.db, "the database's directory; the first change makes it");
  group.add_option("--table", arguments.table, "the table's name; default if absent");
  group.add_option("--shards", arguments.shards,
                   "of a new table, 1 to 65535; 1 if absent. An old one has to have as many");
  group.add_option(
      "--segment-bytes", arguments.segment_bytes,
      "the largest segment, 1024 to 1048560; 16368 if absent. An old table takes it with "
      "its next change");
}

}  // namespace

void add_bitmap_commands(CLI::App& app, BitmapArguments& arguments, Command& chosen) {
  CLI::App& group = *app.add_subcommand("bitmap",
                                        "Sets of 64-bit ids under keys\n"
                                        "Examples: cadastre bitmap add red 1 2 3 --db tags\n"
                                        "          cadastre bitmap --batch --db tags < requests");
  group.require_subcommand(0, 1)->fallthrough();
  choose_without_subcommand(group, chosen, [&arguments](Context& context) {
    return run_bitmap_batch(arguments, context);
  });
  add_bitmap_options(group, arguments);
  // Inherited by every command below.
  group.footer(
      "All bitmap commands take --db, --table, --shards and --segment-bytes: see cadastre bitmap "
      "--help.\n" +
      group.get_footer());
  Adder adder(group, arguments, chosen);
  add_set_changes(adder);
  add_set_reads(adder, arguments);
  add_set_operations(adder, arguments);
  add_table_commands(adder, arguments);
  add_file_commands(adder, arguments);
}

}  // namespace cadastre::cli
