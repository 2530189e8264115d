// A worker: takes shards of a run over manifest rows, reads their rows, and says how far it is.
//
//   row_worker BACKEND TENANT RUN WORKER [--slow FROM..TO]
//
// BACKEND is a server's HOST:PORT, or whatever else `cadastre coord --backend` takes. It ends when every shard
// of the run is over. Kill it, stop it, start ten of them: each row is covered by exactly one accepted
// checkpoint. Events go to standard output, one JSON object on a line, before and after each step, so that
// whoever reads them knows what was tried and what was accepted.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/blake3.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/signal.h"
#include "coord/backend.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/snapshot.h"
#include "coord/tenant_name.h"
#include "coord/worker_session.h"
#include "node/coordination.h"
#include "shard/cursor.h"
#include "shard/key_buf.h"
#include "shard/shard_arena.h"
#include "shard/split_hints.h"
#include "shard/typed_keys.h"

namespace {

using namespace cadastre;
using coord::WorkerSession;

constexpr std::uint64_t kChunkRows = 250;       // of one checkpoint
constexpr std::uint64_t kSplitRowsMin = 2'000;  // fewer are not worth another worker
constexpr std::chrono::milliseconds kIdle{25};
constexpr int kRowRounds = 60;  // what reading a row costs
constexpr int kSlowRowRounds = 600;

struct Rows {
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // not included

  [[nodiscard]] bool holds(std::uint64_t row) const noexcept { return from <= row && row < to; }
};

struct Assignment {
  coord::TenantId tenant;
  coord::RunId run;
  coord::WorkerId worker;
  Rows slow;
};

class RowWorker {
 public:
  RowWorker(coord::CoordinationFacade& backend,
            const base::Clock& clock,
            base::Random& random,
            const Assignment& assignment)
      : backend_(backend), clock_(clock), random_(random), assignment_(assignment) {}

  // Until the run has no work left.
  int work() {
    while (!is_over()) {
      auto claimed = backend_.claim_next_available(now(), assignment_.tenant, assignment_.run,
                                                   assignment_.worker, *scratch_);
      if (claimed) {
        take(WorkerSession::from_acquired(backend_, coord::AcquiredShard(*claimed)));
      } else if (claimed.error().is<coord::NoneAvailable>()) {
        base::Signal().wait_for(kIdle);
      } else {
        fmt::print(stderr, "claim: {}\n", to_text(claimed.error()));
        return EXIT_FAILURE;
      }
    }
    return EXIT_SUCCESS;
  }

 private:
  [[nodiscard]] coord::LogicalTime now() const {
    const auto since_epoch = clock_.now().time_since_epoch();
    return coord::LogicalTime::from_raw(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count()));
  }
  [[nodiscard]] coord::OpId next_op() { return coord::OpId::from_raw(random_.next_u64()); }

  [[nodiscard]] bool is_over() {
    const auto progress = backend_.get_run_progress(now(), assignment_.tenant, assignment_.run);
    if (!progress) fmt::print(stderr, "progress: {}\n", to_text(progress.error()));
    return progress && progress->is_settled();
  }

  template <class... Values>
  void say(const char* event, const WorkerSession& session, Values... values) {
    fmt::print(R"({{"event":"{}","shard":"{}","fence":{})", event, session.lease().shard().raw(),
               session.lease().fence().raw());
    (fmt::print(R"(,"{}":{})", values.first, values.second), ...);
    fmt::print("}}\n");
    (void)std::fflush(stdout);  // A killed worker has said all that it did.
  }
  static std::pair<const char*, std::uint64_t> field(const char* name, std::uint64_t value) {
    return {name, value};
  }

  // Reads the rows of one shard from its cursor on, until they are done or the shard is lost.
  void take(WorkerSession session) {
    const auto start = shard::decode_manifest_row_key(session.spec().start());
    const auto end = shard::decode_manifest_row_key(session.spec().end());
    if (!start || !end) {
      (void)std::move(session).park(now(), coord::ParkReason::kPoisoned, next_op());
      return;
    }
    Rows rest{start->row, end->row};
    if (const auto last = session.cursor().last_key())
      rest.from = shard::decode_manifest_row_key(*last)->row + 1;
    say("grant", session, field("from", rest.from), field("to", rest.to));
    while (rest.from + kChunkRows < rest.to) {
      if (!advance(session, start->manifest_id, rest)) return;
      keep(session);
      share(session, start->manifest_id, rest);
    }
    finish(std::move(session), start->manifest_id, rest);
  }

  [[nodiscard]] bool advance(WorkerSession& session, std::uint64_t manifest, Rows& rest) {
    const Rows chunk{rest.from, rest.from + kChunkRows};
    say("attempt", session, field("from", chunk.from), field("to", chunk.to));
    read(chunk);
    shard::KeyBuf key;
    shard::ManifestRowKey{manifest, chunk.to - 1}.encode_into(key);
    const auto moved = session.checkpoint(now(), shard::CursorUpdate::make(key.view()), next_op());
    if (!moved) return refused(session, chunk, code_name(moved.error()));
    say("accepted", session, field("from", chunk.from), field("to", chunk.to));
    rest.from = chunk.to;
    return true;
  }

  void finish(WorkerSession session, std::uint64_t manifest, const Rows& rest) {
    say("attempt", session, field("from", rest.from), field("to", rest.to));
    read(rest);
    shard::KeyBuf key;
    shard::ManifestRowKey{manifest, rest.to - 1}.encode_into(key);
    const coord::Lease lease = session.lease();
    const auto done =
        std::move(session).complete(now(), shard::CursorUpdate::make(key.view()), next_op());
    fmt::print(R"({{"event":"{}","shard":"{}","fence":{},"from":{},"to":{},"code":"{}"}})"
               "\n",
               done ? "accepted" : "rejected", lease.shard().raw(), lease.fence().raw(), rest.from,
               rest.to, done ? std::string_view("complete") : code_name(done.error().error));
    (void)std::fflush(stdout);
  }

  // Always false.
  bool refused(const WorkerSession& session, const Rows& chunk, std::string_view code) {
    fmt::print(R"({{"event":"rejected","shard":"{}","fence":{},"from":{},"to":{},"code":"{}"}})"
               "\n",
               session.lease().shard().raw(), session.lease().fence().raw(), chunk.from, chunk.to,
               code);
    (void)std::fflush(stdout);
    return false;
  }

  // Renews in good time. A refusal is left to the next checkpoint, which is refused too: whoever slept
  // through its lease shows that its writes change nothing.
  void keep(WorkerSession& session) {
    if (clock_.elapsed() < renew_at_) return;
    const coord::LogicalTime at = now();
    const auto renewed = session.renew(at);
    if (!renewed) return;
    const auto lasts = std::chrono::milliseconds(renewed->new_deadline.raw() - at.raw());
    renew_at_ = clock_.elapsed() + lasts / 8;
  }

  // Nothing is free, so that somebody idles: gives away the half that is farther off.
  void share(WorkerSession& session, std::uint64_t manifest, Rows& rest) {
    if (!session.capacity().is_saturated() || rest.to - rest.from < kSplitRowsMin) return;
    const std::uint64_t middle = rest.from + (rest.to - rest.from) / 2;
    shard::KeyBuf point;
    shard::ManifestRowKey{manifest, middle}.encode_into(point);
    shard::ShardArena arena(2, 4096);
    const auto plan = shard::plan_split_residual_with_hints(session.spec(), point.view(), arena);
    if (!plan) return;
    const auto split = session.split_residual(now(), plan->plan, next_op());
    if (!split) return;
    say("split", session, field("at", middle), field("to", rest.to));
    rest.to = middle;
  }

  // What a connector would do: fetch the row and digest it.
  void read(const Rows& chunk) {
    for (std::uint64_t row = chunk.from; row < chunk.to; ++row) {
      const int rounds = assignment_.slow.holds(row) ? kSlowRowRounds : kRowRounds;
      for (int round = 0; round < rounds; ++round)
        digest_ = base::derive_key("cadastre/example/row", digest_);
    }
  }

  coord::CoordinationFacade& backend_;
  const base::Clock& clock_;
  base::Random& random_;
  const Assignment assignment_;
  std::unique_ptr<coord::AcquireScratch> scratch_ = std::make_unique<coord::AcquireScratch>();
  base::Elapsed renew_at_{};
  base::Blake3Digest digest_{};
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Assignment> parse(std::span<char* const> words) {
  const auto run = number(words[3]);
  const auto worker = number(words[4]);
  if (!run || !worker) return std::nullopt;
  Assignment assignment{.tenant = coord::tenant_named(words[2]),
                        .run = coord::RunId::from_raw(*run),
                        .worker = coord::WorkerId::from_raw(*worker),
                        .slow = {}};
  if (words.size() == 5) return assignment;
  const std::string_view slow = words[6];
  const std::size_t dots = slow.find("..");
  if (std::string_view(words[5]) != "--slow" || dots == std::string_view::npos) return std::nullopt;
  const auto from = number(slow.substr(0, dots));
  const auto to = number(slow.substr(dots + 2));
  if (!from || !to) return std::nullopt;
  assignment.slow = {*from, *to};
  return assignment;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char* const> words(argv, static_cast<std::size_t>(argc));
  const auto assignment = words.size() == 5 || words.size() == 7 ? parse(words) : std::nullopt;
  if (!assignment) {
    fmt::print(stderr, "usage: row_worker BACKEND TENANT RUN WORKER [--slow FROM..TO]\n");
    return 2;
  }
  const base::SystemClock clock;
  base::OsSeededRandom random;
  const auto backend = node::open_coordination(words[1], {.hash_seed = random.next_u64()});
  if (!backend) {
    fmt::print(stderr, "{}\n", backend.error().detail);
    return EXIT_FAILURE;
  }
  return RowWorker(**backend, clock, random, *assignment).work();
}
