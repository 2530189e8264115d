// Manifests of any rows, against fuzz/manifest_oracle.h.
//
// Input: keys, then rows until the end: an id, two bounds, what is odd about it, and a cursor.

#include "shard/manifest.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/manifest_oracle.h"
#include "fuzz/target.h"
#include "shard/limits.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteView;

constexpr std::size_t kRowsMax = 48;

OracleRow any_row(Input& in, const std::vector<Bytes>& keys) {
  OracleRow row;
  row.id = in.number();
  row.start = keys[in.below(keys.size())];
  row.end = keys[in.below(keys.size())];
  switch (in.below(16)) {
    case 0: row.metadata.resize(shard::kMaxMetadataSize + 1); break;
    case 1: row.cursor = {keys[in.below(keys.size())], Bytes(shard::kMaxTokenSize + 1)}; break;
    case 2: row.cursor = {Bytes(shard::kMaxKeySize + 1), {}}; break;
    case 3:
    case 4: row.cursor = {keys[in.below(keys.size())], in.string(8)}; break;
    case 5: row.cursor = {row.start, {}}; break;
    case 6: row.cursor = {row.end, {}}; break;
    default: break;
  }
  return row;
}

// Rows that lie one behind the other, with ids in order, so that legal manifests are common.
void add_ladder(Input& in, std::vector<OracleRow>& rows) {
  for (std::size_t left = in.below(24); left > 0 && rows.size() < kRowsMax; --left) {
    OracleRow row;
    row.id = rows.size();
    row.start = {std::byte{0x62}, static_cast<std::byte>(rows.size())};
    row.end = {std::byte{0x62}, static_cast<std::byte>(rows.size() + 1)};
    rows.push_back(row);
  }
}

void check(const std::vector<OracleRow>& rows) {
  std::vector<shard::InitialShardInput> inputs;
  inputs.reserve(rows.size());
  for (const OracleRow& row : rows)
    inputs.push_back(row.view());
  std::vector<std::uint32_t> scratch(rows.size());
  const auto got = shard::validate_manifest(inputs, scratch);
  const auto expected = expected_manifest_error(rows);
  CAD_CHECK(got.has_value() == !expected, "a manifest is legal exactly when every pair of rows is");
  if (expected) CAD_CHECK(got.error() == *expected, "the first rule that is broken is told");
}

// The limit comes before everything else, even before the scratch is looked at.
void check_count_limit() {
  const std::vector<shard::InitialShardInput> inputs(shard::kMaxInitialShards + 1);
  const auto got = shard::validate_manifest(inputs, {});
  CAD_CHECK(!got, "one row too many is refused");
  CAD_CHECK(got.error().code == shard::ManifestError::Code::kTooManyShards, "for that reason");
  CAD_CHECK(got.error().size == shard::kMaxInitialShards + 1, "and counted");
}

}  // namespace

void run_one(ByteView input) {
  static const bool kLimitChecked = (check_count_limit(), true);
  CAD_CHECK(kLimitChecked, "once is enough: it depends on no input");
  Input in(input);
  std::vector<Bytes> keys{{}};
  for (std::size_t left = in.below(10); left > 0; --left)
    keys.push_back(in.string(shard::kMaxKeySize + 2));
  std::vector<OracleRow> rows;
  check(rows);
  while (!in.done() && rows.size() < kRowsMax) {
    if (in.one_in(8)) {
      add_ladder(in, rows);
    } else {
      rows.push_back(any_row(in, keys));
    }
    if (rows.size() > 1 && in.one_in(4)) std::swap(rows.front(), rows.back());
    check(rows);
  }
}

}  // namespace cadastre::fuzz
