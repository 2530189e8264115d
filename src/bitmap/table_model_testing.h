// A table beside its model, std::map<string, std::set<uint64>>, for tests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/config.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "kv/memory_testing.h"
#include "kv/store.h"

namespace cadastre::bitmap::testing {

using ModelSet = std::set<std::uint64_t>;
using Model = std::map<std::string, ModelSet>;

// The value, or a failed test and the end of it.
template <class T, class E>
T must(std::expected<T, E> result) {
  if (!result) {
    ADD_FAILURE() << to_string(result.error());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// One store with one table in one write transaction that goes on for the whole test.
class OpenTable {
 public:
  explicit OpenTable(const Config& config)
      : store_(kv::open_memory_store()),
        space_(must(store_->open_space("t"))),
        txn_(must(store_->begin_write())),
        table_(must(TableWriter::create(txn_->writer(space_), config))) {}

  [[nodiscard]] TableWriter& table() { return table_; }
  [[nodiscard]] kv::Writer& writer() { return txn_->writer(space_); }

 private:
  std::unique_ptr<kv::Store> store_;
  kv::SpaceId space_;
  std::unique_ptr<kv::WriteTransaction> txn_;
  TableWriter table_;
};

inline std::vector<std::uint64_t> ids_of(IdStream& stream) {
  std::vector<std::uint64_t> ids;
  must(for_each(stream, [&ids](std::span<const Id> block) {
    for (const Id id : block)
      ids.push_back(id.value());
    return true;
  }));
  return ids;
}

inline std::vector<Id> as_ids(const std::vector<std::uint64_t>& raw) {
  std::vector<Id> ids;
  ids.reserve(raw.size());
  for (const std::uint64_t id : raw)
    ids.emplace_back(id);
  return ids;
}

// Ids that make trouble: neighbours in few chunks, ends of chunks and of the 64-bit space, far apart.
class IdDice {
 public:
  explicit IdDice(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  [[nodiscard]] std::uint64_t id() {
    switch (below(8)) {
      case 0:
      case 1: return below(200);
      case 2: return (std::uint64_t{1} << 16) * (1 + below(30)) + below(3000);
      case 3: return (std::uint64_t{1} << 32) + below(3) * 65535 + below(5);
      case 4: return std::uint64_t{1} << below(64);
      case 5: return ~std::uint64_t{0} - below(70'000);
      case 6: return next();
      default: return (std::uint64_t{1} << 20) + below(40'000);
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> ids(std::size_t count) {
    std::vector<std::uint64_t> ids(count);
    const bool is_dense = below(3) == 0;
    const std::uint64_t base = id() & ~std::uint64_t{0xfff};
    for (std::uint64_t& one : ids)
      one = is_dense ? base + below(2 * count) : id();
    return ids;
  }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  std::uint64_t state_;
};

}  // namespace cadastre::bitmap::testing
