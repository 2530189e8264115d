#include "bench/peers/croaring_store.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/peers/roaring64.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {
namespace {

class CroaringReader final : public SetReader {
 public:
  explicit CroaringReader(const SetsInMemory& sets) : sets_(sets) {}

  void renew() override {}
  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    return set(key).contains(id);
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    return set(key).cardinality();
  }
  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    set(key).visit(range, visit);
  }
  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    return Roaring64::intersection_count(set(a), set(b));
  }

 private:
  [[nodiscard]] const Roaring64& set(std::string_view key) const {
    const auto at = sets_.find(key);
    return at == sets_.end() ? none_ : at->second;
  }

  const SetsInMemory& sets_;
  const Roaring64 none_;
};

}  // namespace

void CroaringStore::insert_many(std::string_view key, std::span<const Id> ids) {
  std::vector<Id> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  set(key).add_many(sorted);
}

void CroaringStore::remove_many(std::string_view key, std::span<const Id> ids) {
  for (const Id id : ids)
    set(key).remove(id);
}

std::unique_ptr<SetReader> CroaringStore::reader() {
  return std::make_unique<CroaringReader>(sets_);
}

Space CroaringStore::space() {
  Space space;
  for (const auto& [key, set] : sets_)
    space.file_bytes += set.portable_bytes();
  return space;
}

}  // namespace cadastre::bench
