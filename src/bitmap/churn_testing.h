// Churn: ids come and go in a table on disk while the size of the set stays (T-C4).
//
// An operation removes a member or adds an id that is none, in turn, wherever chance leads. What a
// commit frees a later one takes: after a while the file has the pages it needs. How many that are still
// wanders a little, with the number of segments and the gaps between them, and the file keeps the most.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "bitmap/config.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/lmdb_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap::testing {

class Churn {
 public:
  static constexpr std::size_t kMembers = 100'000;
  static constexpr std::uint64_t kIdsEnd = std::uint64_t{1} << 27;
  static constexpr std::uint64_t kOperationsPerCommit = 100;

  // Whether the file has stopped growing between two moments: what wanders is within a part in 32.
  [[nodiscard]] static bool stands_still(std::uint64_t bytes_before, std::uint64_t bytes_after) {
    return bytes_after - bytes_before <= bytes_before / 32;
  }

  explicit Churn(const Config& config)
      : store_(
            must(kv::open_lmdb_store(directory_.path(), {.durability = kv::Durability::kNoSync}))),
        space_(must(store_->open_space("t"))),
        is_member_(kIdsEnd) {
    const auto txn = must(store_->begin_write());
    auto table = must(TableWriter::create(txn->writer(space_), config));
    while (members_.size() < kMembers) {
      if (const std::uint64_t id = dice_.below(kIdsEnd); !is_member_[id]) add(id);
    }
    CAD_CHECK(must(table.insert_many(key(), as_ids(members_))) == kMembers, "all are new");
    must(txn->commit());
  }

  // `operations` is a multiple of kOperationsPerCommit.
  void run(std::uint64_t operations) {
    for (std::uint64_t done = 0; done < operations; done += kOperationsPerCommit) {
      const auto txn = must(store_->begin_write());
      auto table = must(TableWriter::open(txn->writer(space_)));
      for (std::uint64_t i = 0; i < kOperationsPerCommit; i += 2)
        replace_one(table);
      must(txn->commit());
    }
  }

  [[nodiscard]] std::unique_ptr<kv::ReadTransaction> begin_read() {
    return must(store_->begin_read());
  }

  // The size of the file in use; never shrinks.
  [[nodiscard]] std::uint64_t file_bytes() const { return store_->stats().used_bytes; }

  // Whether the table is sound and holds the members.
  [[nodiscard]] bool is_whole() {
    const auto txn = must(store_->begin_read());
    const auto table = must(TableReader::open(txn->reader(space_)));
    if (!must(table.verify_all(1)).empty()) return false;
    for (const std::uint64_t id : ids_of(*must(table.stream(key())))) {
      if (!is_member_[id]) return false;
    }
    return must(table.cardinality(key())) == kMembers;
  }

 private:
  static base::ByteView key() { return base::as_bytes("key"); }

  void add(std::uint64_t id) {
    is_member_[id] = true;
    members_.push_back(id);
  }
  void replace_one(TableWriter& table) {
    std::uint64_t& member = members_[dice_.below(members_.size())];
    CAD_CHECK(must(table.remove(key(), Id{member})), "a member goes");
    is_member_[member] = false;
    do {
      member = dice_.below(kIdsEnd);
    } while (is_member_[member]);
    CAD_CHECK(must(table.insert(key(), Id{member})), "another id comes");
    is_member_[member] = true;
  }

  kv::TemporaryDirectory directory_;
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  IdDice dice_{11};
  std::vector<bool> is_member_;
  std::vector<std::uint64_t> members_;
};

}  // namespace cadastre::bitmap::testing
