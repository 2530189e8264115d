// LogClient: asks nodes of the log's world to write, swap and read registers, one thing at a time, and
// records what it was told. An answer that does not come in time leaves the outcome unknown.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/random.h"
#include "sim/checkers/history.h"
#include "sim/log/messages.h"
#include "sim/network/network.h"
#include "sim/schedule/scheduler.h"

namespace cadastre::sim {

// Whether nodes have registers of their own, or replicas of the same.
enum class Registers : std::uint8_t {
  kOfNodes,
  kOfAll
};

// Registers of different nodes and groups are different keys of the history.
[[nodiscard]] constexpr checkers::KeyId history_key(NodeId node,
                                                    std::uint64_t group,
                                                    std::uint64_t key) {
  return checkers::KeyId{node.value() * 1'000'000 + group * 1'000 + key};
}

class LogClient final : public FrameSink {
 public:
  struct Options {
    NodeId id;
    std::uint64_t seed = 0;
    std::uint64_t nodes = 1;  // 1 to so many
    std::uint64_t groups = 1;
    std::uint64_t keys = 4;
    Registers registers = Registers::kOfNodes;
    std::chrono::nanoseconds think_most{0};
    std::chrono::nanoseconds patience{0};
    std::function<bool(NodeId)> is_lost;  // Such a node is not asked: it never answers again.
  };
  // Numbers are unique in the world.
  LogClient(Scheduler& scheduler,
            Network& network,
            checkers::History& history,
            std::uint64_t& next_number,
            const Options& options);
  ~LogClient() override;

  void begin();
  // It asks for nothing more.
  void rest() noexcept { resting_ = true; }
  [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }
  // Of those, what was done and not refused.
  [[nodiscard]] std::uint64_t succeeded() const noexcept { return succeeded_; }

  void on_frame(const StreamId& stream, base::Bytes frame) override;
  void on_reset(const StreamId& /*stream*/) override {}

 private:
  struct Waiting {
    std::uint64_t number;
    checkers::OpNumber op;
    NodeId node;
  };

  [[nodiscard]] NodeId choose_node();
  void think();
  void ask();

  Scheduler& scheduler_;
  Network& network_;
  checkers::History& history_;
  std::uint64_t& next_number_;
  const Options options_;
  base::SeededRandom random_;
  std::optional<Waiting> waiting_;
  std::optional<NodeId> leader_;  // Who did what was asked, as far as is known.
  TaskId timeout_;
  bool resting_ = false;
  std::uint64_t answered_ = 0;
  std::uint64_t succeeded_ = 0;
};

}  // namespace cadastre::sim
