// A table beside its model, std::map<string, std::set<uint64>>, for tests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
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

// The value, or the end of the process.
template <class T, class E>
T must(std::expected<T, E> result) {
  if (!result) std::cerr << to_string(result.error()) << '\n';
  CAD_CHECK(result.has_value(), "this call answers");
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

// An id that makes trouble: neighbours in few chunks, ends of chunks and of the 64-bit space, far apart.
// `numbers` has below(bound) and word(), which is any number.
template <class Numbers>
[[nodiscard]] std::uint64_t troublesome_id(Numbers& numbers) {
  switch (numbers.below(8)) {
    case 0:
    case 1: return numbers.below(200);
    case 2: return (std::uint64_t{1} << 16) * (1 + numbers.below(30)) + numbers.below(3000);
    case 3: return (std::uint64_t{1} << 32) + numbers.below(3) * 65535 + numbers.below(5);
    case 4: return std::uint64_t{1} << numbers.below(64);
    case 5: return ~std::uint64_t{0} - numbers.below(70'000);
    case 6: return numbers.word();
    default: return (std::uint64_t{1} << 20) + numbers.below(40'000);
  }
}

class IdDice {
 public:
  explicit IdDice(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return word() % bound; }
  [[nodiscard]] std::uint64_t id() { return troublesome_id(*this); }
  [[nodiscard]] std::vector<std::uint64_t> ids(std::size_t count) {
    std::vector<std::uint64_t> ids(count);
    const bool is_dense = below(3) == 0;
    const std::uint64_t base = id() & ~std::uint64_t{0xfff};
    for (std::uint64_t& one : ids)
      one = is_dense ? base + below(2 * count) : id();
    return ids;
  }
  [[nodiscard]] std::uint64_t word() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace cadastre::bitmap::testing
