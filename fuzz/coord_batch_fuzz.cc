// Coordination batches: whatever lines arrive, each is answered with one JSON object or refused, and
// the backend behind them stays whole.
//
// Input: a byte (bit 0: keys are hexadecimal), then lines of a batch. Lines that are no JSON are
// skipped here, so that one broken byte does not hide what follows it.

#include "cli/coord_batch.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/batch.h"
#include "cli/command_error.h"
#include "cli/coord_session.h"
#include "cli/json_fields.h"
#include "cli/options.h"
#include "coord/memory/memory_backend.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "node/coordination.h"

namespace cadastre::fuzz {
namespace {

// Small enough that inputs reach every limit.
constexpr coord::memory::MemoryOptions kOptions{
    .limits = {.per_tenant_max = 40, .total_max = 50},
    .claim_cooldown_interval = 3,
    .slab_capacity = 64 << 10,
    .children_max = 8,
};

void check_answer(const std::string& answer) {
  CAD_CHECK(answer.find('\n') == std::string::npos, "an answer is one line");
  CAD_CHECK(cli::JsonLine::parse(answer).has_value(), "an answer is a JSON object");
}

void answer_one(cli::CoordSession& session, std::string_view line) {
  const auto answer = cli::answer_line(line, [&session](const cli::JsonFields& request) {
    return cli::answer_coord_request(session, request);
  });
  if (answer) return check_answer(*answer);
  if (answer.error().code == cli::kNotJsonCode) return;
  check_answer(cli::error_line(answer.error(), cli::Format::kJson));
}

}  // namespace

void run_one(base::ByteView input) {
  Input in(input);
  const auto keys = in.below(2) == 1 ? cli::KeyForm::kHex : cli::KeyForm::kText;
  const auto backend = node::make_memory_coordination(kOptions);
  cli::CoordSession session{
      .backend = *backend, .form = {cli::Format::kJson, keys}, .mode = cli::Mode::kBatch};
  for (std::string_view rest = base::as_text(in.rest()); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    answer_one(session, rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  backend->verify();
}

}  // namespace cadastre::fuzz
