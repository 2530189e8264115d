#include "bitmap/copy_tables.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "bitmap/copy_table.h"
#include "bitmap/error.h"
#include "bitmap/group_commit.h"
#include "bitmap/stored.h"
#include "bitmap/table_reader.h"
#include "kv/kv.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

using base::Result;

Result<kv::SpaceId, Error> find_table(kv::Store& store,
                                      kv::ReadTransaction& snapshot,
                                      const std::string& table) {
  const auto space = store.find_space(table);
  if (!space) return base::fail(misuse(Misuse::kNoSuchTable));
  (void)CAD_TRY(TableReader::open(snapshot.reader(*space)));
  return *space;
}

Result<std::vector<std::string>, Error> find_conflicts(kv::Store& target,
                                                       std::span<const std::string> tables) {
  const auto txn = CAD_TRY(stored(target.begin_read()));
  std::vector<std::string> conflicts;
  for (const std::string& table : tables) {
    const auto space = target.find_space(table);
    if (!space) continue;
    const auto cursor = CAD_TRY(stored(txn->reader(*space).cursor()));
    if (CAD_TRY(stored(cursor->next()))) conflicts.push_back(table);
  }
  return conflicts;
}

Result<CopyReport, Error> copy_one(kv::Reader& from,
                                   kv::Store& target,
                                   const std::string& table,
                                   const CopyOptions& options) {
  const kv::SpaceId space = CAD_TRY(stored(target.open_space(table)));
  GroupCommit commits(target);
  CopyReport sum;
  do {
    const std::optional<CopyCursor> at = sum.next;
    CopyReport report;
    CAD_TRY(commits.run([&](kv::WriteTransaction& txn) -> Result<void, Error> {
      report = CAD_TRY(copy_table(from, txn.writer(space), options, at));
      return {};
    }));
    sum.keys += report.keys;
    sum.bytes += report.bytes;
    sum.next = std::move(report.next);
  } while (sum.next);
  return sum;
}

}  // namespace

base::Result<TablesCopy, Error> copy_tables(kv::Store& source,
                                            kv::Store& target,
                                            std::span<const std::string> tables,
                                            const CopyOptions& options) {
  CAD_CHECK(&source != &target, "a store that grows waits for its readers, and this is one");
  const auto snapshot = CAD_TRY(stored(source.begin_read()));
  std::vector<kv::SpaceId> spaces;
  for (const std::string& table : tables)
    spaces.push_back(CAD_TRY(find_table(source, *snapshot, table)));
  TablesCopy sum;
  sum.conflicts = CAD_TRY(find_conflicts(target, tables));
  if (!sum.conflicts.empty()) return sum;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const CopyReport copied =
        CAD_TRY(copy_one(snapshot->reader(spaces[i]), target, tables[i], options));
    sum.tables += 1;
    sum.keys += copied.keys;
    sum.bytes += copied.bytes;
  }
  return sum;
}

}  // namespace cadastre::bitmap
