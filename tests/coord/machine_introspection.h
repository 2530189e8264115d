// MachineIntrospection: what a replicated machine holds, between two rounds.

#pragma once

#include <vector>

#include "base/function_ref.h"
#include "coord/backend.h"
#include "coord/memory/memory_backend.h"
#include "coord/replicated/machine.h"
#include "coord/run_record.h"
#include "coord/shard_record.h"

namespace cadastre::coord {

class MachineIntrospection : public Introspection {
 public:
  // Borrows the machine.
  explicit MachineIntrospection(replicated::Machine& machine) : machine_(machine) {}

  void visit_shards(base::FunctionRef<void(const ShardRecordView&)> visit) const override {
    machine_.read([&](const memory::MemoryBackend& records) { records.visit_shards(visit); });
  }
  [[nodiscard]] std::vector<ShardDump> dump_shards() const override {
    return machine_.read(
        [](const memory::MemoryBackend& records) { return records.dump_shards(); });
  }
  [[nodiscard]] std::vector<RunRecord> dump_runs() const override {
    return machine_.read([](const memory::MemoryBackend& records) { return records.dump_runs(); });
  }
  void verify() const override { machine_.verify(); }

 protected:
  [[nodiscard]] replicated::Machine& machine() const noexcept { return machine_; }

 private:
  replicated::Machine& machine_;
};

}  // namespace cadastre::coord
