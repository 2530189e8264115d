#include "sim/checkers/digest_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "sim/checkers/digest_agreement.h"
#include "sim/checkers/history_text.h"
#include "sim/schedule/node_id.h"

namespace cadastre::sim::checkers {
namespace {

constexpr GroupId kGroup{1};
constexpr std::size_t kWords = 4;

// Nothing if there are not exactly four.
std::optional<std::array<std::string_view, kWords>> words_of(std::string_view line) {
  std::array<std::string_view, kWords> words;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if ((end == line.size()) != (i + 1 == kWords)) return std::nullopt;
    words[i] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::optional<std::uint64_t> number_of(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

bool report(std::string_view line, DigestAgreement& agreement) {
  const auto words = words_of(line);
  if (!words) return false;
  const auto& [who, what, where, became] = *words;
  if (!who.starts_with('n') || !became.starts_with('#')) return false;
  const auto node = number_of(who.substr(1), 10);
  const auto index = number_of(where, 10);
  const auto digest = number_of(became.substr(1), 16);
  if (!node || !index || !digest) return false;
  const Replica replica{kGroup, NodeId{*node}};
  if (what == "applied") {
    agreement.applied(replica, LogIndex{*index}, Digest{*digest});
  } else if (what == "restored") {
    agreement.restored(replica, LogIndex{*index}, Digest{*digest});
  } else {
    return false;
  }
  return true;
}

}  // namespace

base::Result<std::uint64_t, TextError> report_digests(std::string_view text,
                                                      DigestAgreement& agreement) {
  std::uint64_t reports = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    if (!report(line, agreement)) return base::fail(TextError::kMalformed, std::string(line));
    ++reports;
  }
  return reports;
}

}  // namespace cadastre::sim::checkers
