// Tags on articles: which articles are red, which are round, which are both.
//
//   bitmap_tags DIRECTORY
//
// Keeps its tables in the directory and prints what it finds. docs/bitmap.md walks through it.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/set_ops.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "node/bitmaps.h"

namespace {

using namespace cadastre;
using base::as_bytes;
using base::Result;
using bitmap::Error;
using bitmap::Id;

constexpr std::uint64_t kArticles = 1'000'000;

// Every third article is red, every fifth is round; one transaction for both tags.
Result<void, Error> fill(bitmap::BitmapDatabase& database) {
  return database.write("tags", [](bitmap::TableWriter& tags) -> Result<void, Error> {
    std::vector<Id> red;
    std::vector<Id> round;
    for (std::uint64_t article = 0; article < kArticles; ++article) {
      if (article % 3 == 0) red.emplace_back(article);
      if (article % 5 == 0) round.emplace_back(article);
    }
    (void)CAD_TRY(tags.insert_many(as_bytes("red"), bitmap::SortedIds{red}));
    (void)CAD_TRY(tags.insert_many(as_bytes("round"), bitmap::SortedIds{round}));
    return {};
  });
}

// Intersects where the sets lie: nothing is loaded, whatever their size.
Result<void, Error> report(bitmap::BitmapDatabase& database) {
  return database.read("tags", [](const bitmap::TableReader& tags) -> Result<void, Error> {
    for (const std::string tag : {"red", "round"})
      fmt::print("{}: {}\n", tag, CAD_TRY(tags.cardinality(as_bytes(tag))));
    std::vector<bitmap::Stream> both;
    both.push_back(CAD_TRY(tags.stream(as_bytes("red"))));
    both.push_back(CAD_TRY(tags.stream(as_bytes("round"))));
    const bitmap::Stream red_and_round = bitmap::all_of(std::move(both));
    fmt::print("both: {}\n", CAD_TRY(bitmap::count(*red_and_round)));
    return {};
  });
}

Result<void, Error> run(const std::string& directory) {
  const base::SystemClock clock;
  const auto bitmaps = CAD_TRY(node::Bitmaps::open(clock, directory, {}));
  CAD_TRY(fill(bitmaps->database()));
  const bool changed = CAD_TRY(bitmaps->database().insert("tags", as_bytes("red"), Id{1}));
  fmt::print("article 1 is red now: {}\n", changed);
  return report(bitmaps->database());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bitmap_tags DIRECTORY\n");
    return EXIT_FAILURE;
  }
  const auto done = run(argv[1]);
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "{}\n", bitmap::to_string(done.error()));
  return EXIT_FAILURE;
}
