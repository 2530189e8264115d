#include "cli/version.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/json_text.h"
#include "cli/options.h"

namespace cadastre::cli {
namespace {

constexpr std::string_view kVersion = CAD_VERSION;
constexpr std::string_view kCommit = CAD_COMMIT;
constexpr std::string_view kRaft = CAD_RAFT;
#if defined(__clang__)
constexpr std::string_view kCompiler = __VERSION__;
#else
constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

std::string version_answer(Format format) {
  if (format == Format::kHuman) {
    return fmt::format(
        "cadastre {} (commit {}, {})\nengines: local, backends: memory, lmdb, etcd\nraft: {}",
        kVersion, kCommit, kCompiler, kRaft);
  }
  std::string line = R"({"version":)";
  append_json_string(line, kVersion);
  line += R"(,"commit":)";
  append_json_string(line, kCommit);
  line += R"(,"compiler":)";
  append_json_string(line, kCompiler);
  line += R"(,"engines":["local"],"backends":["memory","lmdb","etcd"],"raft":)";
  append_json_string(line, kRaft);
  line += '}';
  return line;
}

}  // namespace cadastre::cli
