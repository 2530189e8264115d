// The parts together: clients of a register that lives on one node, over a bad network, with clocks that
// drift and a copy on a second node. An honest register passes; each dishonest one is caught.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "sim/chacha_random.h"
#include "sim/checkers/history.h"
#include "sim/checkers/linearizability.h"
#include "sim/checkers/model.h"
#include "sim/clock/node_clock.h"
#include "sim/network/faults.h"
#include "sim/network/network.h"
#include "sim/schedule/node_id.h"
#include "sim/schedule/scheduler.h"

namespace cadastre::sim::checkers {
namespace {

using namespace std::chrono_literals;

constexpr NodeId kPrimary{1};
constexpr NodeId kCopy{2};
constexpr std::uint64_t kFirstClient = 3;
constexpr std::uint64_t kClients = 4;

enum class Honesty : std::uint8_t {
  kHonest,
  kReadsTheCopy,     // which hears of writes later
  kExecutesRepeats,  // although it has executed the request before
  kExecutesRefused,  // tells the client that it will not, and does
  kForgetsInACrash,  // what it has acknowledged
};

enum class Verb : std::uint8_t {
  kRead,
  kWrite,
  kCopyOf,
  kDone,
  kRefused
};

struct Message {
  Verb verb = Verb::kRead;
  bool has_value = false;
  std::uint64_t number = 0;  // of the operation
  std::uint64_t value = 0;
};

base::Bytes frame_of(const Message& message) {
  base::Bytes frame(sizeof(Message));
  std::memcpy(frame.data(), &message, sizeof(Message));
  return frame;
}

Message message_of(const base::Bytes& frame) {
  Message message;
  EXPECT_EQ(frame.size(), sizeof(Message));
  std::memcpy(&message, frame.data(), sizeof(Message));
  return message;
}

class Server final : public FrameSink {
 public:
  Server(Network& network, Honesty honesty) : network_(network), honesty_(honesty) {}

  void on_frame(const StreamId& stream, base::Bytes frame) override {
    Message message = message_of(frame);
    if (message.verb == Verb::kCopyOf) {
      value_ = message.value;
      return;
    }
    if (message.verb == Verb::kWrite) write(stream, message);
    if (message.verb == Verb::kRead) {
      message = {Verb::kDone, value_.has_value(), message.number, value_.value_or(0)};
      answer(stream, message);
    }
  }
  void on_reset(const StreamId&) override {}

  void crash() {
    if (honesty_ == Honesty::kForgetsInACrash) value_.reset();
  }

 private:
  void write(const StreamId& stream, const Message& message) {
    const bool refuses = message.number % 5 == 0;
    const bool is_new = executed_.insert(message.number).second;
    if (refuses) answer(stream, {.verb = Verb::kRefused, .number = message.number});
    if (!is_new && honesty_ != Honesty::kExecutesRepeats) return;
    if (refuses && honesty_ != Honesty::kExecutesRefused) return;
    value_ = message.value;
    network_.send({{kPrimary, kCopy}, Lane::kBulk},
                  frame_of({.verb = Verb::kCopyOf, .value = message.value}));
    if (!refuses) answer(stream, {.verb = Verb::kDone, .number = message.number});
  }
  void answer(const StreamId& stream, const Message& message) {
    network_.send({{stream.link.to, stream.link.from}, stream.lane}, frame_of(message));
  }

  Network& network_;
  const Honesty honesty_;
  Value value_;
  std::set<std::uint64_t> executed_;
};

struct Shop {
  Shop(std::uint64_t seed, const NetworkFaults& faults)
      : scheduler(seed), network(scheduler, seed, faults) {}

  Scheduler scheduler;
  Network network;
  History history;
  std::uint64_t last_value = 0;
};

// Asks one thing after the other; without an answer in time by its own clock, asks the next.
class Client final : public FrameSink {
 public:
  Client(Shop& shop, NodeId node, Honesty honesty)
      : shop_(shop),
        node_(node),
        honesty_(honesty),
        random_(node.value()),
        clock_(shop.scheduler,
               {.wall = {}, .drift = {static_cast<std::int64_t>(node.value()) * 1'000}}) {
    shop.network.attach(node, *this);
    ask();
  }

  void on_frame(const StreamId&, base::Bytes frame) override {
    const Message message = message_of(frame);
    if (message.number != waiting_.value()) return;
    shop_.scheduler.cancel(timer_);
    if (message.verb == Verb::kRefused) {
      shop_.history.failed(waiting_);
    } else {
      shop_.history.ok(waiting_, shop_.scheduler.now(),
                       message.has_value ? Value(message.value) : std::nullopt);
    }
    ask();
  }
  void on_reset(const StreamId&) override {}

 private:
  void ask() {
    Call call = {.client = ClientId(node_.value()), .key = KeyId{1}};
    Message message = {.verb = Verb::kRead};
    if (random_.below(2) == 0) {
      call.kind = OpKind::kWrite;
      call.argument = ++shop_.last_value;
      message = {.verb = Verb::kWrite, .value = *call.argument};
    }
    waiting_ = shop_.history.call(shop_.scheduler.now(), call);
    message.number = waiting_.value();
    const bool asks_copy = honesty_ == Honesty::kReadsTheCopy && call.kind == OpKind::kRead;
    shop_.network.send({{node_, asks_copy ? kCopy : kPrimary}, Lane::kControl}, frame_of(message));
    timer_ = shop_.scheduler.at(node_, clock_.due_in(20ms), [this] { ask(); });
  }

  Shop& shop_;
  const NodeId node_;
  const Honesty honesty_;
  ChaChaRandom random_;
  NodeClock clock_;
  OpNumber waiting_;
  TaskId timer_;
};

Judgement day_at_the_shop(std::uint64_t seed, Honesty honesty) {
  const LaneFaults lane = {
      .delay = {.least = 100us, .most = 2ms, .tail_ppm = 50'000, .tail_most = 40ms},
      .drop_ppm = 20'000,
      .duplicate_ppm = 50'000,
      .reorder_ppm = 50'000,
      .reorder_most = 10ms};
  Shop shop(seed, {.control = lane, .bulk = lane});
  Server primary(shop.network, honesty);
  Server copy(shop.network, honesty);
  shop.network.attach(kPrimary, primary);
  shop.network.attach(kCopy, copy);
  std::vector<std::unique_ptr<Client>> clients;
  clients.reserve(kClients);
  for (std::uint64_t i = 0; i < kClients; ++i)
    clients.push_back(std::make_unique<Client>(shop, NodeId(kFirstClient + i), honesty));
  ChaChaRandom random(seed);
  for (int i = 0; i < 10; ++i) {
    shop.scheduler.run_until(shop.scheduler.now() + 100ms);
    const NodeId client(kFirstClient + random.below(kClients));
    shop.scheduler.pause(client, shop.scheduler.now() + 50ms);
    shop.network.heal();
    shop.network.block({kPrimary, client});
    if (i % 3 == 0) shop.scheduler.crash(kPrimary);
    if (i % 3 == 0) primary.crash();
  }
  EXPECT_GT(shop.history.operations().size(), 200U);
  return check_linearizable(shop.history.operations(), RegisterModel());
}

TEST(Scene, AnHonestRegisterPassesOnEveryBadDay) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Judgement judgement = day_at_the_shop(seed, Honesty::kHonest);
    ASSERT_EQ(name(judgement.verdict), name(Verdict::kLinearizable)) << "seed " << seed << "\n"
                                                                     << judgement.detail;
  }
}

TEST(Scene, EveryDishonestOneIsCaughtWithinTenDays) {
  for (const Honesty honesty : {Honesty::kReadsTheCopy, Honesty::kExecutesRepeats,
                                Honesty::kExecutesRefused, Honesty::kForgetsInACrash}) {
    int caught = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
      caught += day_at_the_shop(seed, honesty).verdict == Verdict::kNotLinearizable ? 1 : 0;
    EXPECT_GT(caught, 0) << "honesty " << static_cast<int>(honesty);
    RecordProperty("caught_" + std::to_string(static_cast<int>(honesty)), caught);
  }
}

TEST(Scene, ADayRepeats) {
  const Judgement one = day_at_the_shop(5, Honesty::kReadsTheCopy);
  const Judgement again = day_at_the_shop(5, Honesty::kReadsTheCopy);
  EXPECT_EQ(one.detail, again.detail);
  EXPECT_EQ(one.work, again.work);
}

}  // namespace
}  // namespace cadastre::sim::checkers
