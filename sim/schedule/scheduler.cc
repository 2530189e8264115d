#include "sim/schedule/scheduler.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/check.h"
#include "sim/schedule/event_heap.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim {
namespace {

// A heap this much larger than its tasks is mostly cancelled ones: worth a sweep.
constexpr std::size_t kSweepAt = 1024;

// Another number for every `value`, as if drawn: the output function of splitmix64, which is a bijection.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

Scheduler::~Scheduler() {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].task) (void)release(slot);  // A task's destructor may still cancel others.
  }
}

Scheduler::Node& Scheduler::node_of(NodeId id) {
  CAD_CHECK(id.value() <= kNodeIdMax, "nodes are numbered from 1, without large gaps");
  const auto index = static_cast<std::size_t>(id.value());
  if (index >= nodes_.size()) nodes_.resize(index + 1);
  return nodes_[index];
}

void Scheduler::push(SimTime when, std::uint32_t slot, std::uint32_t generation) {
  if (heap_.size() > 2 * tasks_ + kSweepAt) {
    heap_.remove_if([&](const Event& event) {
      return event.slot != kNoSlot && slots_[event.slot].generation != event.generation;
    });
  }
  const std::uint64_t number = ++inserted_;
  const std::uint64_t order =
      ties_ == Ties::kBySeed ? mixed(seed_ + number * 0x9e3779b97f4a7c15) : number;
  heap_.push({.when = when, .order = order, .slot = slot, .generation = generation});
}

TaskId Scheduler::at(NodeId owner, SimTime when, Task task) {
  CAD_CHECK(when >= now_, "a task is for now or for later");
  CAD_CHECK(static_cast<bool>(task), "there is something to call");
  Node& node = node_of(owner);
  if (free_ == kNoSlot) {
    CAD_CHECK(slots_.size() < kNoSlot, "tasks are far fewer than that");
    free_ = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  const std::uint32_t index = free_;
  Slot& slot = slots_[index];
  free_ = slot.next;
  slot.task = std::move(task);
  slot.owner = static_cast<std::uint32_t>(owner.value());
  slot.previous = kNoSlot;
  slot.next = node.first;
  if (node.first != kNoSlot) slots_[node.first].previous = index;
  node.first = index;
  ++node.tasks;
  ++tasks_;
  push(when, index, slot.generation);
  return {index, slot.generation};
}

TaskId Scheduler::after(NodeId owner, std::chrono::nanoseconds delay, Task task) {
  return at(owner, now_ + delay, std::move(task));
}

Task Scheduler::release(std::uint32_t index) {
  Slot& slot = slots_[index];
  Node& node = nodes_[slot.owner];
  if (slot.previous != kNoSlot) slots_[slot.previous].next = slot.next;
  if (slot.next != kNoSlot) slots_[slot.next].previous = slot.previous;
  if (node.first == index) node.first = slot.next;
  --node.tasks;
  --tasks_;
  ++slot.generation;
  slot.next = free_;
  free_ = index;
  return std::exchange(slot.task, nullptr);
}

bool Scheduler::pending(TaskId id) const noexcept {
  return id.slot < slots_.size() && slots_[id.slot].generation == id.generation &&
         static_cast<bool>(slots_[id.slot].task);
}

bool Scheduler::cancel(TaskId id) {
  if (!pending(id)) return false;
  const Task dropped = release(id.slot);  // Destroyed last: it may call us.
  return true;
}

void Scheduler::run(std::uint32_t slot) {
  Task task = release(slot);
  ++executed_;
  running_ = true;
  task();
  running_ = false;
}

bool Scheduler::work_off_backlog(std::uint32_t index) {
  Node& node = nodes_[index];
  if (node.held_until > now_) return false;
  while (!node.backlog.empty()) {
    const TaskId next = node.backlog.front();
    node.backlog.pop_front();
    if (!pending(next)) continue;
    if (!node.backlog.empty()) wake(index, now_);
    run(next.slot);
    return true;
  }
  return false;
}

bool Scheduler::step_until(SimTime limit) {
  CAD_CHECK(!running_, "a task does not run other tasks");
  while (!heap_.empty() && heap_.top().when <= limit) {
    const Event event = heap_.top();
    heap_.pop();
    if (event.slot == kNoSlot) {
      now_ = event.when;
      if (work_off_backlog(event.generation)) return true;
      continue;
    }
    const Slot& slot = slots_[event.slot];
    if (slot.generation != event.generation) continue;
    now_ = event.when;
    Node& node = nodes_[slot.owner];
    if (node.held_until > now_ || !node.backlog.empty()) {
      node.backlog.push_back({event.slot, event.generation});
      continue;
    }
    run(event.slot);
    return true;
  }
  return false;
}

bool Scheduler::step() {
  return step_until(SimTime::max());
}

std::size_t Scheduler::run_until(SimTime until) {
  CAD_CHECK(until >= now_, "time does not go back");
  const std::uint64_t before = executed_;
  while (step_until(until)) {}
  now_ = until;
  return static_cast<std::size_t>(executed_ - before);
}

std::size_t Scheduler::crash(NodeId id) {
  CAD_CHECK(id != kWorld, "the world does not crash");
  const auto index = static_cast<std::size_t>(id.value());
  (void)node_of(id);
  std::size_t dropped = 0;
  while (nodes_[index].first != kNoSlot) {
    const Task task = release(nodes_[index].first);
    ++dropped;
  }
  nodes_[index].backlog.clear();
  nodes_[index].held_until = SimTime{};
  return dropped;
}

void Scheduler::pause(NodeId id, SimTime until) {
  CAD_CHECK(id != kWorld, "the world does not pause");
  Node& node = node_of(id);
  if (until <= node.held_until || until <= now_) return;
  node.held_until = until;
  if (until != SimTime::max()) wake(static_cast<std::uint32_t>(id.value()), until);
}

void Scheduler::resume(NodeId id) {
  if (!paused(id)) return;
  node_of(id).held_until = now_;
  wake(static_cast<std::uint32_t>(id.value()), now_);
}

bool Scheduler::paused(NodeId id) const noexcept {
  const auto index = static_cast<std::size_t>(id.value());
  return index < nodes_.size() && nodes_[index].held_until > now_;
}

std::size_t Scheduler::tasks(NodeId id) const noexcept {
  const auto index = static_cast<std::size_t>(id.value());
  return index < nodes_.size() ? nodes_[index].tasks : 0;
}

}  // namespace cadastre::sim
