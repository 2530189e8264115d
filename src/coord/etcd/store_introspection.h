// StoreIntrospection: what an etcd holds for coordination, from outside. For tests and simulation: it reads
// everything there is.
//
// A shard that is only prepared for a run is not there yet. Whatever cannot be read aborts.

#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "coord/backend.h"
#include "coord/etcd/keyspace.h"
#include "coord/etcd/records.h"
#include "coord/etcd/store.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"

namespace cadastre::coord::etcd {

// Whose lease a record shows.
enum class ShownLeases : std::uint8_t {
  kStored,  // as the bytes have it
  kOwned,   // none where the owner key is gone
};

class StoreIntrospection final : public Introspection {
 public:
  // Everything in the store, or under the keyspace's prefix, at one revision and by key.
  using ReadAll = std::function<std::vector<KeyValue>()>;

  StoreIntrospection(Keyspace keys, ReadAll read_all, ShownLeases shown = ShownLeases::kStored)
      : keys_(std::move(keys)), read_all_(std::move(read_all)), shown_(shown) {}

  void visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const override;
  [[nodiscard]] std::vector<ShardDump> dump_shards() const override;
  [[nodiscard]] std::vector<RunRecord> dump_runs() const override;
  // Markers exist exactly for what is Active, counts are what a recount gives, owners match their records.
  void verify() const override;

 private:
  struct Content;
  [[nodiscard]] Content read() const;

  Keyspace keys_;
  ReadAll read_all_;
  ShownLeases shown_;
};

}  // namespace cadastre::coord::etcd
