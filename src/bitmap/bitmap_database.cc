#include "bitmap/bitmap_database.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/compact.h"
#include "bitmap/error.h"
#include "bitmap/ids.h"
#include "bitmap/stored.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/store.h"

namespace cadastre::bitmap {
namespace {

bool is_no_table(const Error& error) noexcept {
  const auto* const cause = std::get_if<Misuse>(&error.cause);
  return cause != nullptr && *cause == Misuse::kNoSuchTable;
}

}  // namespace

Result<std::unique_ptr<BitmapDatabase>, Error> BitmapDatabase::open(
    std::unique_ptr<kv::Store> store, const DatabaseConfig& config) {
  CAD_TRY(validate(config.new_tables, store->limits()));
  return std::unique_ptr<BitmapDatabase>(new BitmapDatabase(std::move(store), config));
}

Result<void, Error> BitmapDatabase::read(std::string_view table, ReadWork work) {
  const auto space = store_->find_space(table);
  if (!space) return {};
  const auto txn = CAD_TRY(stored(store_->begin_read()));
  const auto reader = TableReader::open(txn->reader(*space), {}, config_.point_reads);
  if (!reader) {
    if (is_no_table(reader.error())) return {};
    return base::fail(reader.error());
  }
  return work(*reader);
}

Result<void, Error> BitmapDatabase::write(std::string_view table, WriteWork work) {
  auto space = store_->find_space(table);
  if (!space) space = CAD_TRY(stored(store_->open_space(table)));
  return commits_.run([&](kv::WriteTransaction& txn) -> Result<void, Error> {
    kv::Writer& writer = txn.writer(*space);
    auto opened = TableWriter::open(writer);
    if (!opened && is_no_table(opened.error())) {
      opened = TableWriter::create(writer, config_.new_tables);
    }
    if (!opened) return base::fail(std::move(opened.error()));
    return work(*opened);
  });
}

Result<bool, Error> BitmapDatabase::insert(std::string_view table, ByteView key, Id id) {
  bool changed = false;
  CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
    changed = CAD_TRY(writer.insert(key, id));
    return {};
  }));
  return changed;
}

Result<bool, Error> BitmapDatabase::remove(std::string_view table, ByteView key, Id id) {
  bool changed = false;
  CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
    changed = CAD_TRY(writer.remove(key, id));
    return {};
  }));
  return changed;
}

Result<std::uint64_t, Error> BitmapDatabase::insert_many(std::string_view table,
                                                         ByteView key,
                                                         std::span<const Id> ids) {
  std::uint64_t changed = 0;
  CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
    changed = CAD_TRY(writer.insert_many(key, ids));
    return {};
  }));
  return changed;
}

Result<std::uint64_t, Error> BitmapDatabase::remove_many(std::string_view table,
                                                         ByteView key,
                                                         std::span<const Id> ids) {
  std::uint64_t changed = 0;
  CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
    changed = CAD_TRY(writer.remove_many(key, ids));
    return {};
  }));
  return changed;
}

Result<std::uint64_t, Error> BitmapDatabase::unite(std::string_view table,
                                                   ByteView key,
                                                   const Bitmap& other) {
  std::uint64_t changed = 0;
  CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
    changed = CAD_TRY(writer.unite(key, other));
    return {};
  }));
  return changed;
}

Result<bool, Error> BitmapDatabase::erase_key(std::string_view table, ByteView key) {
  bool existed = false;
  CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
    existed = CAD_TRY(writer.erase_key(key));
    return {};
  }));
  return existed;
}

Result<CompactReport, Error> BitmapDatabase::compact(std::string_view table,
                                                     ByteView key,
                                                     CompactBudget budget) {
  CompactReport sum;
  std::optional<CompactCursor> from;
  do {
    CompactReport part;
    CAD_TRY(write(table, [&](TableWriter& writer) -> Result<void, Error> {
      part = CAD_TRY(writer.compact(key, budget, from));
      return {};
    }));
    sum.segments_before += part.segments_before;
    sum.segments_after += part.segments_after;
    sum.bytes_before += part.bytes_before;
    sum.bytes_after += part.bytes_after;
    from = part.next;
  } while (from);
  return sum;
}

Result<bool, Error> BitmapDatabase::contains(std::string_view table, ByteView key, Id id) {
  bool found = false;
  CAD_TRY(read(table, [&](const TableReader& reader) -> Result<void, Error> {
    found = CAD_TRY(reader.contains(key, id));
    return {};
  }));
  return found;
}

Result<std::uint64_t, Error> BitmapDatabase::cardinality(std::string_view table, ByteView key) {
  std::uint64_t count = 0;
  CAD_TRY(read(table, [&](const TableReader& reader) -> Result<void, Error> {
    count = CAD_TRY(reader.cardinality(key));
    return {};
  }));
  return count;
}

Result<Bitmap, Error> BitmapDatabase::get(std::string_view table,
                                          ByteView key,
                                          std::size_t bytes_max) {
  Bitmap members;
  CAD_TRY(read(table, [&](const TableReader& reader) -> Result<void, Error> {
    members = CAD_TRY(reader.get(key, bytes_max));
    return {};
  }));
  return members;
}

Result<std::vector<base::Bytes>, Error> BitmapDatabase::keys(std::string_view table,
                                                             ByteView prefix,
                                                             std::size_t limit,
                                                             std::optional<ByteView> after) {
  std::vector<base::Bytes> page;
  CAD_TRY(read(table, [&](const TableReader& reader) -> Result<void, Error> {
    auto cursor = CAD_TRY(reader.keys(prefix, after));
    while (page.size() < limit) {
      auto key = CAD_TRY(cursor.next());
      if (!key) break;
      page.push_back(std::move(*key));
    }
    return {};
  }));
  return page;
}

}  // namespace cadastre::bitmap
