#include "cli/batch.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "cli/command.h"
#include "cli/command_error.h"
#include "cli/json_fields.h"
#include "cli/line_reader.h"
#include "cli/options.h"
#include "cli/output.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kNotJson = "not_json";

Result<std::string, CommandError> answer_line(std::string_view line, AnswerRequest answer) {
  const JsonLine request = CAD_TRY(JsonLine::parse(line));
  return answer(request.fields());
}

void print(Output& out, const Result<std::string, CommandError>& answer) {
  out.line(answer ? *answer : error_line(answer.error(), Format::kJson));
}

// Answers the line, unless it ends the batch.
Result<void, CommandError> take_line(const LineRead& read, AnswerRequest answer, Output& out) {
  const auto result = read.kind == LineRead::Kind::kTooLong
                          ? Result<std::string, CommandError>(base::fail(line_too_long()))
                          : answer_line(read.text, answer);
  if (!result && result.error().code == kNotJson) return base::fail(result.error());
  print(out, result);
  return {};
}

}  // namespace

Result<void, CommandError> run_batch(Context& context, AnswerRequest answer) {
  Output& out = context.out;
  LineReader reader(context.input, [&out] { out.flush(); });
  for (std::uint64_t number = 1; !out.failed(); ++number) {
    const LineRead read = reader.next();
    if (read.kind == LineRead::Kind::kEnd) return {};
    if (read.kind == LineRead::Kind::kFailed) {
      return base::fail(cannot_read("standard input", read.error));
    }
    if (!take_line(read, answer, out)) return base::fail(not_json(fmt::format("line {}", number)));
  }
  return {};
}

}  // namespace cadastre::cli
