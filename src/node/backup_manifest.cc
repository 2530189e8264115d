#include "node/backup_manifest.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/result.h"

namespace cadastre::node {
namespace {

constexpr std::string_view kFirstLine = "cadastre backup 1";
constexpr std::string_view kEndWord = "end ";
constexpr std::size_t kDigestDigits = 64;

// The next line of `text`, which loses it; nothing if there is none with an end.
std::optional<std::string_view> take_line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::optional<base::Blake3Digest> parse_digest(std::string_view digits) {
  if (digits.size() != kDigestDigits) return std::nullopt;
  const auto bytes = base::from_hex(digits);
  if (!bytes) return std::nullopt;
  base::Blake3Digest digest{};
  std::ranges::copy(*bytes, digest.begin());
  return digest;
}

std::optional<BackupFile> parse_file(std::string_view line) {
  const std::size_t first = line.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto digest = parse_digest(line.substr(0, first));
  const std::string_view digits = line.substr(first + 1, second - first - 1);
  const std::string_view path = line.substr(second + 1);
  std::uint64_t size = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, size);
  if (!digest || parsed.ec != std::errc() || parsed.ptr != end || !is_plain_path(path))
    return std::nullopt;
  return BackupFile{*digest, size, std::string(path)};
}

}  // namespace

bool is_plain_path(std::string_view path) noexcept {
  if (path.empty() || path.find('\n') != std::string_view::npos ||
      path.find('\0') != std::string_view::npos)
    return false;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view name = path.substr(start, end - start);
    if (name.empty() || name == "." || name == "..") return false;
    start = end + 1;
  }
  return true;
}

std::string format_backup_manifest(const std::vector<BackupFile>& files) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const BackupFile& file : files) {
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", base::to_hex(file.digest), file.size,
                   file.path);
  }
  const base::Blake3Digest sum = base::blake3(base::as_bytes(text));
  fmt::format_to(std::back_inserter(text), "{}{}\n", kEndWord, base::to_hex(sum));
  return text;
}

base::Result<std::vector<BackupFile>, ManifestError> parse_backup_manifest(std::string_view text) {
  const std::string_view whole = text;
  std::size_t number = 1;
  const auto damaged = [&number](std::string_view what) {
    return base::fail(ManifestError::kDamaged, fmt::format("line {}: {}", number, what));
  };
  if (take_line(text) != kFirstLine) return damaged("not a backup of this kind");
  std::vector<BackupFile> files;
  for (;;) {
    ++number;
    const std::size_t above = whole.size() - text.size();
    const auto line = take_line(text);
    if (!line) return damaged("the end is missing");
    if (line->starts_with(kEndWord)) {
      const auto sum = parse_digest(line->substr(kEndWord.size()));
      if (sum != base::blake3(base::as_bytes(whole.substr(0, above)))) return damaged("wrong sum");
      break;
    }
    auto file = parse_file(*line);
    if (!file) return damaged("not a file");
    if (!files.empty() && files.back().path >= file->path) return damaged("not in order");
    if (files.size() == kBackupFilesMax) return damaged("too many files");
    files.push_back(*std::move(file));
  }
  if (!text.empty()) return damaged("something behind the end");
  return files;
}

}  // namespace cadastre::node
