// SetStore, SetReader: a store of id sets under keys, as the bitmap benchmarks see one. Ours and every
// peer stand behind it, so that each workload is written once.
//
//   store.begin();
//   store.insert("hot", Id{42});
//   store.commit();
//   store.reader()->contains("hot", Id{42});
//
// A store that fails ends the benchmark: there is nothing to measure then.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/function_ref.h"
#include "base/mutex.h"
#include "bitmap/ids.h"

namespace cadastre::bench {

using bitmap::Id;
using bitmap::IdRange;

inline constexpr IdRange kAllIds{Id{0}, bitmap::kIdMax};

enum class Durability : std::uint8_t {
  kNone,  // A commit may be lost with the machine. Nothing is flushed.
  kSync,  // It is on the device when commit() returns.
};

enum class SetOperation : std::uint8_t {
  kIntersection,
  kUnion,
  kDifference,
};

// Ids in blocks.
using VisitIds = base::FunctionRef<void(std::span<const Id>)>;

// What was committed when it was made, where the store has snapshots. Belongs to one thread and does
// not outlive its store.
class SetReader {
 public:
  SetReader() = default;
  SetReader(const SetReader&) = delete;
  SetReader& operator=(const SetReader&) = delete;
  virtual ~SetReader() = default;

  // Walks over whole sets that begin now and are not over by then may give up; their answers are worth
  // nothing. Nothing: they take as long as they take, as at first.
  void set_patience(std::optional<std::chrono::steady_clock::time_point> until);
  [[nodiscard]] bool has_given_up() const { return has_given_up_; }

  // From here on sees what is committed now.
  virtual void renew() = 0;
  [[nodiscard]] virtual bool contains(std::string_view key, Id id) = 0;
  // How many of these, which ascend, are in the set.
  [[nodiscard]] virtual std::uint64_t count_present(std::string_view key, std::span<const Id> ids);
  [[nodiscard]] virtual std::uint64_t count(std::string_view key) = 0;
  // Ascending, unless the store keeps no order.
  virtual void stream(std::string_view key, IdRange range, VisitIds visit) = 0;
  // Makes a bitmap in memory of the whole set, and answers how many ids it has.
  [[nodiscard]] virtual std::uint64_t materialise(std::string_view key);
  [[nodiscard]] virtual std::uint64_t intersection_count(std::string_view a,
                                                         std::string_view b) = 0;
  // The others follow from the intersection and the counts, which is what CRoaring does too.
  [[nodiscard]] virtual std::uint64_t count_of(SetOperation operation,
                                               std::string_view a,
                                               std::string_view b);

 protected:
  // Asked by walks that may be long, now and then.
  [[nodiscard]] bool gives_up();

 private:
  std::optional<std::chrono::steady_clock::time_point> patient_until_;
  bool has_given_up_ = false;
};

struct Space {
  std::uint64_t file_bytes = 0;               // What the directory takes on disk.
  std::optional<std::uint64_t> live_bytes{};  // Without what waits to be used again.
};

class SetStore {
 public:
  SetStore() = default;
  SetStore(const SetStore&) = delete;
  SetStore& operator=(const SetStore&) = delete;
  virtual ~SetStore() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  // ---- One transaction at a time, from one thread ----------------------------------------------

  virtual void begin() = 0;
  // One id in a call of its own, as a caller does who has no more.
  virtual void insert(std::string_view key, Id id) = 0;
  // Any order. One call: the store may sort, group and merge.
  virtual void insert_many(std::string_view key, std::span<const Id> ids) = 0;
  virtual void remove_many(std::string_view key, std::span<const Id> ids) = 0;
  virtual void commit() = 0;

  // Outside of transactions, without readers.
  virtual void set_durability(Durability durability) = 0;
  [[nodiscard]] virtual bool can_compact() const { return true; }
  virtual void compact(std::string_view key) = 0;
  // Fills an empty set faster than inserts would, where that is known to leave the same bytes stored:
  // for loads that are not measured.
  virtual void preload(std::string_view key, std::span<const Id> ids);

  // ---- From any thread ---------------------------------------------------------------------------

  // One id in a transaction of its own. Callers wait for each other, unless the store knows better.
  virtual void insert_alone(std::string_view key, Id id);
  [[nodiscard]] virtual std::unique_ptr<SetReader> reader() = 0;

  // ---- Figures -----------------------------------------------------------------------------------

  [[nodiscard]] virtual Space space() = 0;
  // Handed to the file system so far, by the process that stores.
  [[nodiscard]] virtual std::uint64_t bytes_written() const;

 private:
  base::Mutex alone_mutex_;
};

}  // namespace cadastre::bench
