#include "bench/peers/redb_store.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "bench/peers/process_io.h"
#include "bench/peers/redb_extras/redb_extras_peer.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {
namespace {

static_assert(sizeof(Id) == sizeof(std::uint64_t), "ids cross the border as they lie");

const std::uint64_t* numbers(std::span<const Id> ids) {
  return reinterpret_cast<const std::uint64_t*>(ids.data());
}

std::uint32_t number_of(SetOperation operation) {
  switch (operation) {
    case SetOperation::kIntersection: return 0;
    case SetOperation::kUnion: return 1;
    case SetOperation::kDifference: return 2;
  }
  CAD_CHECK(false, "there are three operations");
}

class RedbReader final : public SetReader {
 public:
  explicit RedbReader(RedbPeerStore* store) : reader_(redb_peer_reader(store)) {}

  void renew() override { redb_peer_renew(reader_.get()); }
  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    return redb_peer_contains(reader_.get(), key.data(), key.size(), id.value());
  }
  [[nodiscard]] std::uint64_t count_present(std::string_view key,
                                            std::span<const Id> ids) override {
    return redb_peer_count_present(reader_.get(), key.data(), key.size(), numbers(ids), ids.size());
  }
  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    return redb_peer_count(reader_.get(), key.data(), key.size());
  }
  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    const auto pass_on = [](void* context, const std::uint64_t* ids, std::size_t count) {
      (*static_cast<VisitIds*>(context))({reinterpret_cast<const Id*>(ids), count});
    };
    redb_peer_visit(reader_.get(), key.data(), key.size(), range.first.value(), range.last.value(),
                    pass_on, &visit);
  }
  [[nodiscard]] std::uint64_t materialise(std::string_view key) override { return count(key); }
  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    return count_of(SetOperation::kIntersection, a, b);
  }
  [[nodiscard]] std::uint64_t count_of(SetOperation operation,
                                       std::string_view a,
                                       std::string_view b) override {
    return redb_peer_count_of(reader_.get(), number_of(operation), a.data(), a.size(), b.data(),
                              b.size());
  }

 private:
  struct End {
    void operator()(RedbPeerReader* reader) const noexcept { redb_peer_end_reader(reader); }
  };
  std::unique_ptr<RedbPeerReader, End> reader_;
};

class RedbStore final : public SetStore {
 public:
  explicit RedbStore(std::string directory) : directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
    const std::string path = directory_ + "/sets.redb";
    store_.reset(redb_peer_open(path.data(), path.size()));
  }

  [[nodiscard]] std::string_view name() const override { return "Rust facade on redb"; }
  void begin() override { redb_peer_begin(store_.get()); }
  void insert(std::string_view key, Id id) override {
    redb_peer_insert(store_.get(), key.data(), key.size(), id.value());
  }
  // In order, which is what the facade's bitmap takes fastest.
  void insert_many(std::string_view key, std::span<const Id> ids) override {
    sort(ids);
    redb_peer_insert_many(store_.get(), key.data(), key.size(), numbers(sorted_), sorted_.size());
  }
  void remove_many(std::string_view key, std::span<const Id> ids) override {
    sort(ids);
    redb_peer_remove_many(store_.get(), key.data(), key.size(), numbers(sorted_), sorted_.size());
  }
  void commit() override { redb_peer_commit(store_.get()); }
  void set_durability(Durability durability) override {
    redb_peer_set_durable(store_.get(), durability == Durability::kSync);
  }
  [[nodiscard]] bool can_compact() const override { return false; }
  void compact(std::string_view) override {}
  // One value whatever the order of arrival, and containers depend on what is in them alone.
  void preload(std::string_view key, std::span<const Id> ids) override {
    begin();
    insert_many(key, ids);
    commit();
  }
  [[nodiscard]] std::unique_ptr<SetReader> reader() override {
    return std::make_unique<RedbReader>(store_.get());
  }
  [[nodiscard]] Space space() override {
    const std::uint64_t live = redb_peer_live_bytes(store_.get());  // First, for it flushes.
    return {.file_bytes = directory_bytes(directory_), .live_bytes = live};
  }

 private:
  struct Close {
    void operator()(RedbPeerStore* store) const noexcept { redb_peer_close(store); }
  };

  void sort(std::span<const Id> ids) {
    sorted_.assign(ids.begin(), ids.end());
    std::ranges::sort(sorted_);
  }

  std::string directory_;
  std::unique_ptr<RedbPeerStore, Close> store_;
  std::vector<Id> sorted_;
};

}  // namespace

std::optional<std::string> redb_versions() {
  std::array<char, 256> text{};
  return std::string(text.data(), redb_peer_versions(text.data(), text.size()));
}

std::unique_ptr<SetStore> make_redb_store(const std::string& directory) {
  return std::make_unique<RedbStore>(directory);
}

}  // namespace cadastre::bench
