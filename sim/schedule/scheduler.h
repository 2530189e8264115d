// Scheduler: what happens next in a simulated world.
//
// A task is a function to be called once at a simulated time. It belongs to a node: a crash of the node
// drops it, a pause of the node holds it back. Time stands still while a task runs and jumps to the next
// one afterwards. Tasks of one time run in the order of their insertion or, given a seed, in an order
// that the seed decides.
//
//   Scheduler scheduler(seed);
//   const TaskId tick = scheduler.after(node, 50ms, [&] { loop.tick(); });
//   scheduler.run_until(SimTime(60s));
//
// Invariants
//   1. now() never goes back, and a task never runs before its time.
//   2. The same calls with the same seed run the same tasks in the same order.
//   3. A task that was cancelled or whose node crashed never runs, and is destroyed at once.
//   4. Tasks that a pause held back run in the order of their times, before any later task of the node.
//
// One thread. A task may call everything here but step() and run_until().

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <vector>

#include "sim/schedule/event_heap.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {

using Task = std::move_only_function<void()>;

// Names one task for ever: ids of tasks that are gone name nothing. So does TaskId{}.
struct TaskId {
  std::uint32_t slot = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t generation = 0;

  friend bool operator==(TaskId, TaskId) = default;
};

class Scheduler {
 public:
  Scheduler() = default;  // Ties by insertion.
  explicit Scheduler(std::uint64_t tie_seed) noexcept : ties_(Ties::kBySeed), seed_(tie_seed) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  [[nodiscard]] SimTime now() const noexcept { return now_; }

  // `when` is not in the past.
  TaskId at(NodeId owner, SimTime when, Task task);
  TaskId after(NodeId owner, std::chrono::nanoseconds delay, Task task);

  // Whether there was something to cancel.
  bool cancel(TaskId id);
  [[nodiscard]] bool pending(TaskId id) const noexcept;

  // Runs the next task; false if there is none.
  bool step();
  // Runs whatever is due up to and including `until`, and leaves now() there. How many tasks ran.
  std::size_t run_until(SimTime until);

  // Drops all tasks of the node and ends its pause; how many they were. Not for kWorld.
  std::size_t crash(NodeId id);

  // Holds the node's tasks back until then, or until it is resumed if that is SimTime::max(); a longer
  // pause that is under way stays. Not for kWorld.
  void pause(NodeId id, SimTime until);
  void resume(NodeId id);
  [[nodiscard]] bool paused(NodeId id) const noexcept;

  [[nodiscard]] std::size_t tasks() const noexcept { return tasks_; }  // pending, of all nodes
  [[nodiscard]] std::size_t tasks(NodeId id) const noexcept;
  [[nodiscard]] std::uint64_t executed() const noexcept { return executed_; }
  // In memory, cancelled ones included: not many more than twice the pending ones.
  [[nodiscard]] std::size_t events() const noexcept { return heap_.size(); }

 private:
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  enum class Ties : std::uint8_t {
    kByInsertion,
    kBySeed
  };

  struct Slot {
    Task task;
    std::uint32_t generation = 0;  // Changes when the slot is freed.
    std::uint32_t owner = 0;
    std::uint32_t next = kNoSlot;  // Of the owner's tasks, or of the free slots.
    std::uint32_t previous = kNoSlot;
  };

  struct Node {
    std::uint32_t first = kNoSlot;
    std::size_t tasks = 0;
    SimTime held_until;
    std::deque<TaskId> backlog;  // Their time came during the pause; some may have been cancelled.
  };

  bool step_until(SimTime limit);
  bool work_off_backlog(std::uint32_t index);
  void run(std::uint32_t slot);
  Task release(std::uint32_t index);
  void push(SimTime when, std::uint32_t slot, std::uint32_t generation);
  void wake(std::uint32_t node, SimTime when) { push(when, kNoSlot, node); }
  Node& node_of(NodeId id);

  // Constant after construction.
  Ties ties_ = Ties::kByInsertion;
  std::uint64_t seed_ = 0;

  SimTime now_;
  EventHeap heap_;  // Of cancelled tasks too; an event without a slot wakes the node it names.
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNoSlot;
  std::vector<Node> nodes_;  // By id.
  std::size_t tasks_ = 0;
  std::uint64_t inserted_ = 0;
  std::uint64_t executed_ = 0;
  bool running_ = false;
};

}  // namespace cadastre::sim
