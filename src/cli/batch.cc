#include "cli/batch.h"

#include <cstddef>
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

void print(Output& out, const Result<std::string, CommandError>& answer) {
  out.line(answer ? *answer : error_line(answer.error(), Format::kJson));
}

// Prints the answer, unless the line ends the batch.
Result<void, CommandError> take_answer(const Result<std::string, CommandError>& result,
                                       Output& out) {
  if (!result && result.error().code == kNotJsonCode) return base::fail(result.error());
  print(out, result);
  return {};
}

}  // namespace

Result<std::string, CommandError> answer_line(std::string_view line, AnswerRequest answer) {
  const JsonLine request = CAD_TRY(JsonLine::parse(line));
  return answer(request.fields());
}

Result<void, CommandError> run_batch(Context& context,
                                     AnswerRequest answer,
                                     std::size_t line_bytes_max) {
  Output& out = context.out;
  LineReader reader(context.input, [&out] { out.flush(); }, line_bytes_max);
  for (std::uint64_t number = 1; !out.failed(); ++number) {
    const LineRead read = reader.next();
    if (read.kind == LineRead::Kind::kEnd) return {};
    if (read.kind == LineRead::Kind::kFailed) {
      return base::fail(cannot_read("standard input", read.error));
    }
    const auto result =
        read.kind == LineRead::Kind::kTooLong
            ? Result<std::string, CommandError>(base::fail(line_too_long(line_bytes_max)))
            : answer_line(read.text, answer);
    if (!take_answer(result, out)) return base::fail(not_json(fmt::format("line {}", number)));
  }
  return {};
}

}  // namespace cadastre::cli
