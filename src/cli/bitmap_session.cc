#include "cli/bitmap_session.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/result.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/stored.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "cli/bitmap_error.h"
#include "cli/command_error.h"
#include "cli/options.h"
#include "kv/error.h"
#include "kv/store.h"

namespace cadastre::cli {
namespace {

bool is_no_table(const bitmap::Error& error) noexcept {
  const auto* const misuse = std::get_if<bitmap::Misuse>(&error.cause);
  return misuse != nullptr && *misuse == bitmap::Misuse::kNoSuchTable;
}

bool is_map_full(const bitmap::Error& error) noexcept {
  const auto* const cause = std::get_if<kv::Error>(&error.cause);
  return cause != nullptr && cause->code == kv::ErrorCode::kMapFull;
}

CommandError no_transaction() {
  return {"no_transaction", "there is no transaction to end: begin one first"};
}

}  // namespace

struct BitmapSession::Transaction {
  std::unique_ptr<kv::WriteTransaction> txn;
  kv::SpaceId space;
  std::optional<bitmap::TableWriter> table;  // once it was needed; goes before its transaction
};

bitmap::Config BitmapTable::config() const noexcept {
  bitmap::Config config;
  if (shards) config.shard_count = *shards;
  if (segment_bytes) config.segment_bytes_max = *segment_bytes;
  return config;
}

BitmapSession::BitmapSession(bitmap::BitmapDatabase& database,
                             BitmapTable table,
                             Form form,
                             Mode mode)
    : database_(database), table_(std::move(table)), form_(form), mode_(mode) {}

BitmapSession::~BitmapSession() = default;

Result<void, CommandError> BitmapSession::read(bitmap::ReadWork work) {
  CAD_TRY(check_alive());
  if (transaction_) return told(read_inside(work));
  return told(database_.read(table_.name,
                             [&](const bitmap::TableReader& reader) -> Result<void, bitmap::Error> {
                               CAD_TRY(check(reader));
                               return work(reader);
                             }));
}

Result<void, CommandError> BitmapSession::write(AbsentTable absent, bitmap::WriteWork work) {
  CAD_TRY(check_alive());
  if (transaction_) return told(write_inside(absent, work));
  if (absent == AbsentTable::kSkipped && !database_.store().find_space(table_.name)) return {};
  return told(
      database_.write(table_.name, [&](bitmap::TableWriter& writer) -> Result<void, bitmap::Error> {
        CAD_TRY(adapt(writer));
        return work(writer);
      }));
}

Result<void, CommandError> BitmapSession::begin() {
  CAD_TRY(check_alive());
  if (transaction_) {
    return base::fail(CommandError{"transaction_open",
                                   "there is a transaction already: commit or abort it first"});
  }
  auto begun = begin_transaction();
  if (!begun) return base::fail(from_bitmap(begun.error()));
  transaction_ = *std::move(begun);
  return {};
}

Result<void, CommandError> BitmapSession::commit() {
  const auto alive = check_alive();
  failed_with_.reset();
  CAD_TRY(alive);
  if (!transaction_) return base::fail(no_transaction());
  transaction_->table.reset();
  const auto committed = bitmap::stored(transaction_->txn->commit());
  transaction_.reset();
  if (committed) return {};
  needs_room_ = is_map_full(committed.error());
  return base::fail(from_bitmap(committed.error()));
}

Result<void, CommandError> BitmapSession::abort() {
  if (!transaction_ && !failed_with_) return base::fail(no_transaction());
  transaction_.reset();
  failed_with_.reset();
  return {};
}

Result<std::unique_ptr<BitmapSession::Transaction>, bitmap::Error>
BitmapSession::begin_transaction() {
  kv::Store& store = database_.store();
  if (needs_room_) (void)CAD_TRY(bitmap::stored(store.grow(kv::OpenTransactions::kRefuse)));
  needs_room_ = false;
  const kv::SpaceId space = CAD_TRY(bitmap::stored(store.open_space(table_.name)));
  auto txn = CAD_TRY(bitmap::stored(store.begin_write()));
  return std::make_unique<Transaction>(std::move(txn), space, std::nullopt);
}

// Whether there is a table, open in the transaction now.
Result<bool, bitmap::Error> BitmapSession::open_table(AbsentTable absent) {
  if (transaction_->table) return true;
  kv::Writer& writer = transaction_->txn->writer(transaction_->space);
  auto opened = bitmap::TableWriter::open(writer);
  if (!opened && is_no_table(opened.error())) {
    if (absent == AbsentTable::kSkipped) return false;
    opened = bitmap::TableWriter::create(writer, table_.config());
  }
  if (!opened) return base::fail(std::move(opened).error());
  transaction_->table.emplace(*std::move(opened));
  return true;
}

Result<void, bitmap::Error> BitmapSession::read_inside(bitmap::ReadWork work) {
  if (!CAD_TRY(open_table(AbsentTable::kSkipped))) return {};
  CAD_TRY(check(*transaction_->table));
  return work(*transaction_->table);
}

Result<void, bitmap::Error> BitmapSession::write_inside(AbsentTable absent,
                                                        bitmap::WriteWork work) {
  if (!CAD_TRY(open_table(absent))) return {};
  CAD_TRY(adapt(*transaction_->table));
  return work(*transaction_->table);
}

// B-17
Result<void, bitmap::Error> BitmapSession::check(const bitmap::TableReader& reader) const {
  if (!table_.shards || reader.config().shard_count == *table_.shards) return {};
  return base::fail(bitmap::config_mismatch());
}

Result<void, bitmap::Error> BitmapSession::adapt(bitmap::TableWriter& writer) const {
  CAD_TRY(check(writer));
  const auto bytes = table_.segment_bytes;
  if (!bytes || writer.config().segment_bytes_max == *bytes) return {};
  return writer.set_segment_bytes_max(*bytes);
}

Result<void, CommandError> BitmapSession::told(const Result<void, bitmap::Error>& result) {
  if (result) return {};
  CommandError error = from_bitmap(result.error());
  if (transaction_ && result.error().code != bitmap::ErrorCode::kInvalidArgument) {
    transaction_.reset();
    needs_room_ = is_map_full(result.error());
    failed_with_ = error.code;
    error.detail += "; the transaction is aborted";
  }
  return base::fail(std::move(error));
}

Result<void, CommandError> BitmapSession::check_alive() const {
  if (!failed_with_) return {};
  return base::fail(CommandError{
      "transaction_aborted",
      fmt::format("an error before ({}) aborted the transaction and nothing of it is stored: abort "
                  "it, then begin again",
                  *failed_with_)});
}

}  // namespace cadastre::cli
