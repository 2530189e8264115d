// judge_wals and judge_manifest on any bytes, as one file and as two: they end, stay inside, and what
// they say holds. Cutting where they say leaves whole files, and a fault lies behind what was whole.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"
#include "log/storage/wal_scan.h"

namespace cadastre::fuzz {
namespace {

constexpr std::uint64_t kSetBytesMax = 4096;

void check_fault(const log::WalFault& fault, base::ByteView file) {
  CAD_CHECK(fault.offset < file.size(), "a fault is in the file");
  CAD_CHECK(!fault.later || (*fault.later > fault.offset && *fault.later < file.size()),
            "what is later lies behind");
  CAD_CHECK(log::name(fault.kind) != "unknown", "a fault has a name");
}

void check_wals(std::span<const base::ByteView> files) {
  const auto judged = log::judge_wals(files, kSetBytesMax);
  if (!judged) {
    CAD_CHECK(judged.error().file < files.size(), "damage is in one of the files");
    check_fault(judged.error().fault, files[judged.error().file]);
    return;
  }
  CAD_CHECK(judged->ends.size() == files.size(), "every file has an end");
  std::vector<base::ByteView> cut;
  for (std::size_t i = 0; i < files.size(); ++i) {
    CAD_CHECK(judged->ends[i] <= files[i].size(), "a file does not grow");
    cut.push_back(files[i].first(static_cast<std::size_t>(judged->ends[i])));
  }
  const auto again = log::judge_wals(cut, kSetBytesMax);
  CAD_CHECK(again && !again->torn, "what is cut is whole");
  CAD_CHECK(again->batches == judged->batches, "a cut takes no whole batch");
}

}  // namespace

void run_one(base::ByteView input) {
  check_wals(std::array{input});
  const std::size_t half = input.empty() ? 0 : std::to_integer<std::size_t>(input[0]);
  const std::size_t border = std::min(half, input.size());
  check_wals(std::array{input.first(border), input.subspan(border)});
  if (const auto end = log::judge_manifest(input)) {
    const auto again = log::judge_manifest(input.first(static_cast<std::size_t>(*end)));
    CAD_CHECK(again == *end, "what is cut is whole");
  } else {
    check_fault(end.error(), input);
  }
}

}  // namespace cadastre::fuzz
