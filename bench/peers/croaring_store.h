// CroaringStore: bitmaps in memory, nothing stored. The bound for reads: what CRoaring does when all
// sets are decoded and no transaction is asked for.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bench/peers/roaring64.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {

using SetsInMemory = std::map<std::string, Roaring64, std::less<>>;

class CroaringStore final : public SetStore {
 public:
  [[nodiscard]] std::string_view name() const override { return "CRoaring in memory"; }
  void begin() override {}
  void insert(std::string_view key, Id id) override { set(key).add(id); }
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override {}
  void set_durability(Durability) override {}
  void compact(std::string_view key) override { set(key).optimise(); }
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  // The portable bytes of all sets, which are what others store at best.
  [[nodiscard]] Space space() override;

 private:
  [[nodiscard]] Roaring64& set(std::string_view key) { return sets_[std::string(key)]; }

  SetsInMemory sets_;
};

}  // namespace cadastre::bench
