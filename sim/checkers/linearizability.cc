#include "sim/checkers/linearizability.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/checkers/history.h"
#include "sim/checkers/history_text.h"
#include "sim/checkers/model.h"
#include "sim/checkers/open_calls.h"
#include "sim/schedule/sim_time.h"

namespace cadastre::sim::checkers {
namespace {

constexpr std::size_t kWordBits = 64;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// A number for each operation; a set of them is known by the sum of these without carry.
std::uint64_t mark_of(std::uint64_t op) noexcept {
  std::uint64_t value = (op + 1) * 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// Which operations are in the order, and the state after them.
struct Configuration {
  std::uint64_t done = 0;
  State state;

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

struct ConfigurationHash {
  std::size_t operator()(const Configuration& at) const noexcept {
    return at.done ^ mark_of(at.state.words[0] ^ mark_of(at.state.words[1]));
  }
};

// The operations of unknown outcome that were used up: sets of bits in one growing buffer.
class UsedSets {
 public:
  using Set = std::size_t;  // Where it begins.

  explicit UsedSets(std::size_t bits) : words_((bits + kWordBits - 1) / kWordBits) {}

  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
  void shrink_to(std::size_t size) { buffer_.resize(size); }

  Set add_empty() {
    buffer_.resize(buffer_.size() + words_);
    return buffer_.size() - words_;
  }
  Set add_copy(const UsedSets& from, Set set) {
    const Set copy = add_empty();
    std::copy_n(from.buffer_.begin() + static_cast<std::ptrdiff_t>(set), words_,
                buffer_.begin() + static_cast<std::ptrdiff_t>(copy));
    return copy;
  }
  [[nodiscard]] bool has(Set set, std::size_t bit) const noexcept {
    return (buffer_[set + bit / kWordBits] >> bit % kWordBits & 1) != 0;
  }
  void put(Set set, std::size_t bit) noexcept {
    buffer_[set + bit / kWordBits] |= 1ULL << bit % kWordBits;
  }
  // Whether `set` is part of `other`, a set of `others`.
  [[nodiscard]] bool within(Set set, const UsedSets& others, Set other) const noexcept {
    for (std::size_t i = 0; i < words_; ++i) {
      if ((buffer_[set + i] & ~others.buffer_[other + i]) != 0) return false;
    }
    return true;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> buffer_;
};

// The configurations that were looked at. One that equals another but for more operations used up can
// do no more than the other could.
class Memory {
 public:
  explicit Memory(std::size_t unknowns) : sets_(unknowns) {}

  // Whether it is worth looking at; remembers it then.
  bool admit(const Configuration& at,
             const UsedSets& sets,
             UsedSets::Set used,
             std::uint64_t& work) {
    const auto [it, is_new] = heads_.try_emplace(at, kNone);
    for (std::uint32_t i = it->second; i != kNone; i = seen_[i].next) {
      ++work;
      if (sets_.within(seen_[i].used, sets, used)) return false;
    }
    seen_.push_back({sets_.add_copy(sets, used), it->second});
    it->second = static_cast<std::uint32_t>(seen_.size() - 1);
    return true;
  }

 private:
  struct Seen {
    UsedSets::Set used;
    std::uint32_t next;
  };

  std::unordered_map<Configuration, std::uint32_t, ConfigurationHash> heads_;
  std::vector<Seen> seen_;
  UsedSets sets_;
};

// One key. Depth first over the operations that took effect; between two of them, breadth first over
// those of unknown outcome.
class Search {
 public:
  struct Work {
    std::uint64_t done = 0;
    std::uint64_t max = 0;

    [[nodiscard]] bool ran_out() const noexcept { return done > max; }
  };

  Search(const Model& model, std::span<const Operation* const> operations, Work& work)
      : model_(model),
        definite_(chosen(operations, Outcome::kOk)),
        unknown_(chosen(operations, Outcome::kUnknown)),
        twins_(twins_of(unknown_)),
        open_(definite_),
        sets_(unknown_.size()),
        memory_(unknown_.size()),
        work_(work) {}

  Verdict run() {
    (void)enter(kNone, model_.initial(), sets_.add_empty());
    while (!frames_.empty()) {
      if (open_.empty()) return Verdict::kLinearizable;
      const bool deeper = go_on();
      if (work_.ran_out()) return Verdict::kGaveUp;
      if (!deeper) leave();
    }
    return Verdict::kNotLinearizable;
  }

  // How far the best order came before it could not go on.
  [[nodiscard]] std::string detail() const {
    std::string text = fmt::format(
        "{} of {} operations can be put in an order, with {} more of unknown outcome; then come:\n",
        best_depth_, definite_.size(), unknown_.size());
    for (const Operation* operation : stuck_)
      text += "  " + to_text(*operation) + "\n";
    return text;
  }

 private:
  // A state that can be reached before the next definite operation, and what was used up for it.
  struct Reached {
    State state;
    UsedSets::Set used = 0;
  };

  // One definite operation more than in the frame before.
  struct Frame {
    OpenCalls::Op op;         // It.
    std::size_t first;        // What can be reached begins here; the frame's end is the stack's.
    std::size_t at;           // The one to go on from
    OpenCalls::Place cursor;  // and the call to try there.
    std::size_t sets_size;
  };

  static constexpr OpenCalls::Place kFresh = kNone;
  static constexpr OpenCalls::Place kExhausted = kNone - 1;

  std::vector<const Operation*> chosen(std::span<const Operation* const> operations,
                                       Outcome outcome) {
    std::vector<const Operation*> some;
    for (const Operation* operation : operations) {
      const bool explains = outcome == Outcome::kOk || !model_.only_reads(operation->call);
      if (operation->outcome == outcome && explains) some.push_back(operation);
    }
    std::ranges::sort(some, {}, [](const Operation* operation) {
      return std::pair(operation->called, operation);  // All in one array: ties as recorded.
    });
    return some;
  }

  // For each the one before it that would do the same. Taking that first loses nothing.
  static std::vector<std::uint32_t> twins_of(const std::vector<const Operation*>& operations) {
    std::vector<std::uint32_t> twins(operations.size(), kNone);
    std::map<std::tuple<OpKind, Value, Value>, std::uint32_t> last;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      const Call& call = operations[i]->call;
      const auto [it, is_first] = last.try_emplace({call.kind, call.expected, call.argument}, i);
      if (!is_first) twins[i] = std::exchange(it->second, i);
    }
    return twins;
  }

  // Whether there is a new frame: `op` comes next and leaves `state`.
  bool enter(OpenCalls::Op op, const State& state, UsedSets::Set used) {
    const std::uint64_t done = op == kNone ? done_ : done_ ^ mark_of(op);
    if (!memory_.admit({done, state}, sets_, used, work_.done)) return false;
    if (op != kNone) open_.take(op);
    done_ = done;
    frames_.push_back({.op = op,
                       .first = reached_.size(),
                       .at = reached_.size(),
                       .cursor = kFresh,
                       .sets_size = sets_.size()});
    reached_.push_back({state, sets_.add_copy(sets_, used)});
    return true;
  }

  void leave() {
    note_how_far();
    const Frame frame = frames_.back();
    frames_.pop_back();
    reached_.resize(frame.first);
    sets_.shrink_to(frame.sets_size);
    if (frame.op == kNone) return;
    open_.put_back(frame.op);
    done_ ^= mark_of(frame.op);
  }

  void note_how_far() {
    const std::size_t depth = frames_.size() - 1;
    if (!stuck_.empty() && depth <= best_depth_) return;
    best_depth_ = depth;
    stuck_.clear();
    for (OpenCalls::Place at = open_.first(); OpenCalls::is_call(at); at = open_.after(at))
      stuck_.push_back(definite_[OpenCalls::op_of(at)]);
  }

  // Enters the next frame on top of the last one; false if there is none, or no work left to find it.
  bool go_on() {
    const std::size_t top = frames_.size() - 1;
    for (; frames_[top].at < reached_.size() && !work_.ran_out(); ++frames_[top].at) {
      if (go_on_from(top, Reached(reached_[frames_[top].at]))) return true;
      frames_[top].cursor = kFresh;
    }
    return false;
  }

  bool go_on_from(std::size_t top, const Reached& from) {
    if (frames_[top].cursor == kExhausted) return false;
    if (frames_[top].cursor == kFresh) {
      const OpenCalls::Op read = fitting_read(from.state);
      // If it fails after this read, it fails with everything else that could come first.
      frames_[top].cursor = read != kNone ? kExhausted : open_.first();
      if (read != kNone) return enter(read, from.state, from.used);
    }
    if (try_calls(top, from)) return true;
    use_unknowns(from);
    return false;
  }

  // A read may come at once where it fits: it changes nothing, and need not wait.
  OpenCalls::Op fitting_read(const State& state) {
    for (OpenCalls::Place at = open_.first(); OpenCalls::is_call(at); at = open_.after(at)) {
      const Operation& operation = *definite_[OpenCalls::op_of(at)];
      if (!model_.only_reads(operation.call)) continue;
      ++work_.done;
      if (model_.apply(state, operation.call).result == operation.result)
        return OpenCalls::op_of(at);
    }
    return kNone;
  }

  bool try_calls(std::size_t top, const Reached& from) {
    while (OpenCalls::is_call(frames_[top].cursor)) {
      const OpenCalls::Op op = OpenCalls::op_of(frames_[top].cursor);
      frames_[top].cursor = open_.after(frames_[top].cursor);
      const Operation& operation = *definite_[op];
      if (model_.only_reads(operation.call)) continue;
      ++work_.done;
      const Effect effect = model_.apply(from.state, operation.call);
      if (effect.result == operation.result && enter(op, effect.after, from.used)) return true;
    }
    return false;
  }

  // What one operation of unknown outcome more makes of it.
  void use_unknowns(const Reached& from) {
    const SimTime limit = definite_[open_.first_to_return()]->returned;
    for (std::size_t i = 0; i < unknown_.size() && unknown_[i]->called <= limit; ++i) {
      if (sets_.has(from.used, i)) continue;
      if (twins_[i] != kNone && !sets_.has(from.used, twins_[i])) continue;
      ++work_.done;
      const State after = model_.apply(from.state, unknown_[i]->call).after;
      const std::size_t size_before = sets_.size();
      const UsedSets::Set used = sets_.add_copy(sets_, from.used);
      sets_.put(used, i);
      if (memory_.admit({done_, after}, sets_, used, work_.done)) {
        reached_.push_back({after, used});
      } else {
        sets_.shrink_to(size_before);
      }
    }
  }

  // Constant after construction.
  const Model& model_;
  const std::vector<const Operation*> definite_;  // Both by the time of call.
  const std::vector<const Operation*> unknown_;
  const std::vector<std::uint32_t> twins_;

  OpenCalls open_;
  std::uint64_t done_ = 0;
  std::vector<Frame> frames_;
  std::vector<Reached> reached_;  // Of all frames, one after the other; only the last one grows.
  UsedSets sets_;                 // Likewise.
  Memory memory_;
  Work& work_;
  std::size_t best_depth_ = 0;
  std::vector<const Operation*> stuck_;
};

}  // namespace

std::string_view name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kLinearizable: return "linearizable";
    case Verdict::kNotLinearizable: return "not linearizable";
    case Verdict::kGaveUp: return "gave up";
  }
  return "";
}

Judgement check_linearizable(std::span<const Operation> operations,
                             const Model& model,
                             std::uint64_t work_max) {
  std::map<KeyId, std::vector<const Operation*>> by_key;
  for (const Operation& operation : operations) {
    const bool goes_back =
        operation.outcome == Outcome::kOk && operation.returned < operation.called;
    CAD_CHECK(!goes_back, "a call precedes its answer");
    by_key[operation.call.key].push_back(&operation);
  }
  Judgement judgement;
  Search::Work work = {.max = work_max};
  for (const auto& [key, of_key] : by_key) {
    Search search(model, of_key, work);
    const Verdict verdict = search.run();
    if (verdict == Verdict::kLinearizable || judgement.verdict == verdict) continue;
    judgement.verdict = verdict;
    judgement.key = key;
    judgement.detail = search.detail();
    if (verdict == Verdict::kNotLinearizable) break;
  }
  judgement.work = work.done;
  return judgement;
}

}  // namespace cadastre::sim::checkers
