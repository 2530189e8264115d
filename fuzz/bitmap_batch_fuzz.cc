// Batches of bitmap tables: whatever lines arrive, each is answered with one JSON object or refused,
// and the table behind them stays whole.
//
// Input: a byte (bit 0: keys are hexadecimal), a byte (shards), a byte (segment size), then lines of a
// batch. Lines that are no JSON are skipped here, so that one broken byte does not hide what follows it.

#include "cli/bitmap_batch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "cli/batch.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_tables.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/options.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "node/bitmaps.h"

namespace cadastre::fuzz {
namespace {

// The least size makes cuts and merges; the other is the default.
constexpr std::array<std::uint32_t, 2> kSegmentBytes = {1024, 16368};
constexpr std::array<std::uint16_t, 3> kShards = {1, 2, 7};
constexpr const char* kTable = "tags";

void check_answer(const std::string& answer) {
  CAD_CHECK(answer.find('\n') == std::string::npos, "an answer is one line");
  CAD_CHECK(cli::JsonLine::parse(answer).has_value(), "an answer is a JSON object");
}

void answer_one(cli::BitmapSession& session, std::string_view line) {
  const auto answer = cli::answer_line(line, [&session](const cli::JsonFields& request) {
    return cli::answer_bitmap_request(session, request);
  });
  if (answer) return check_answer(*answer);
  if (answer.error().code == cli::kNotJsonCode) return;
  CAD_CHECK(answer.error().code != "corrupt", "nothing damages a table");
  check_answer(cli::error_line(answer.error(), cli::Format::kJson));
}

void answer_all(cli::BitmapSession& session, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    answer_one(session, lines.substr(0, end));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
}

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  const auto keys = in.below(2) == 1 ? cli::KeyForm::kHex : cli::KeyForm::kText;
  const cli::BitmapTable table{.name = kTable,
                               .shards = kShards.at(in.below(kShards.size())),
                               .segment_bytes = kSegmentBytes.at(in.below(kSegmentBytes.size()))};
  const base::ManualClock clock;
  const auto database = node::make_memory_bitmaps(clock, {.new_tables = table.config()});
  CAD_CHECK(database.has_value(), "the settings are in range");
  {
    cli::BitmapSession session(**database, table, {cli::Format::kJson, keys}, cli::Mode::kBatch);
    answer_all(session, base::as_text(in.rest()));
  }
  const auto report = cli::verify_tables(**database, (*database)->tables());
  CAD_CHECK(report.has_value(), "a table can be verified");
  CAD_CHECK(report->findings.empty(), "a table is whole");
}

}  // namespace cadastre::fuzz
