// The forms for people, which a transcript cannot show while the only backend forgets with its
// process, and the answers that cannot be printed.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "cli/command_error.h"
#include "cli/coord_request.h"
#include "cli/coord_runs.h"
#include "cli/coord_session.h"
#include "cli/coord_shards.h"
#include "cli/coord_splits.h"
#include "cli/manifest_file.h"
#include "cli/options.h"
#include "coord/backend.h"
#include "coord/identity.h"
#include "coord/lease.h"
#include "coord/states.h"
#include "node/coordination.h"

namespace cadastre::cli {
namespace {

constexpr coord::RunId kRun = coord::RunId::from_raw(1);

base::Bytes bytes(const char* text) {
  return base::to_owned(base::as_bytes(text));
}

coord::OpId op(std::uint64_t raw) {
  return coord::OpId::from_raw(raw);
}

// The answer, or the error's code.
std::string told(const Result<std::string, CommandError>& answer) {
  return answer ? *answer : "error " + answer.error().code;
}

ManifestShard shard(std::uint64_t id, const char* start, const char* end) {
  ManifestShard made;
  made.id = coord::ShardId::from_raw(id);
  made.start = bytes(start);
  made.end = bytes(end);
  return made;
}

// Run 1 with shards 10 over [a, m) and 11 over [m, z), leases of 100.
class HumanAnswers : public testing::Test {
 protected:
  HumanAnswers()
      : backend_(*node::open_coordination("memory", {})),
        session_{.backend = *backend_, .form = {Format::kHuman, KeyForm::kText}} {
    EXPECT_EQ(told(create_run(session_, at(1), kRun, {.lease_duration = 100})),
              "run 1 is initializing");
    const std::vector<ManifestShard> shards{shard(10, "a", "m"), shard(11, "m", "z")};
    EXPECT_EQ(told(register_shards(session_, at(2), kRun, shards, op(1))),
              "run 1 is active, with 2 shards registered");
    EXPECT_EQ(told(register_shards(session_, at(2), kRun, shards, op(1))),
              "run 1 is active, with 2 shards registered (replayed)");
  }

  [[nodiscard]] static Caller at(std::uint64_t now) {
    return {tenant_named("acme"), coord::LogicalTime::from_raw(now)};
  }
  [[nodiscard]] static coord::Lease lease(std::uint64_t shard, std::uint64_t fence) {
    return *coord::Lease::presented({.tenant = tenant_named("acme"),
                                     .key = {kRun, coord::ShardId::from_raw(shard)},
                                     .owner = coord::WorkerId::from_raw(7),
                                     .fence = coord::FenceEpoch::from_raw(fence),
                                     .deadline = coord::LogicalTime::from_raw(110)});
  }
  [[nodiscard]] auto acquire(std::uint64_t now, std::uint64_t shard) {
    return acquire_shard(session_, at(now), {kRun, coord::ShardId::from_raw(shard)},
                         coord::WorkerId::from_raw(7));
  }

  std::unique_ptr<coord::CoordinationFacade> backend_;
  CoordSession session_;
};

TEST_F(HumanAnswers, ShowALeaseAndItsShard) {
  EXPECT_EQ(told(acquire(10, 10)),
            R"(lease     {"run":1,"shard":10,"worker":7,"fence":2,"deadline":110}
range     a to m
metadata  -
cursor    at the start
capacity  1 shard to claim, the next lease ends at 110)");
  const CursorRequest checkpoint{CursorOp::kCheckpoint, {bytes("d"), bytes("tok")}};
  EXPECT_EQ(told(move_cursor(session_, at(11), lease(10, 2), checkpoint, op(1))), "executed");
  EXPECT_EQ(told(move_cursor(session_, at(11), lease(10, 2), checkpoint, op(1))), "replayed");
  EXPECT_EQ(told(renew_lease(session_, at(20), lease(10, 2))),
            R"(lease     {"run":1,"shard":10,"worker":7,"fence":2,"deadline":120}
capacity  1 shard to claim, the next lease ends at 120)");
  EXPECT_EQ(told(acquire(120, 10)),
            R"(lease     {"run":1,"shard":10,"worker":7,"fence":3,"deadline":220}
range     a to m
metadata  -
cursor    at d, token 746f6b
capacity  1 shard to claim, the next lease ends at 220)");
}

TEST_F(HumanAnswers, ShowARun) {
  ASSERT_TRUE(acquire(10, 10));
  ASSERT_TRUE(
      move_cursor(session_, at(11), lease(10, 2), {CursorOp::kComplete, {bytes("l"), {}}}, op(1)));
  ASSERT_TRUE(acquire(12, 11));
  EXPECT_EQ(told(show_run(session_, at(13), kRun)),
            "run 1: active, still active\n"
            "progress   [##########..........] 1 of 2 done\n"
            "shards     2: 1 active (1 leased), 1 done, 0 split, 0 parked\n"
            "watermark  -\n"
            "leases     100, cursors completed, retries without bound\n"
            "created    1\n"
            "completed  -");
  EXPECT_EQ(told(end_run(session_, at(14), kRun, RunEnd::kCancel, op(2))), "run 1 is cancelled");
  EXPECT_EQ(told(end_run(session_, at(15), kRun, RunEnd::kCancel, op(2))),
            "run 1 is cancelled (replayed)");
  EXPECT_EQ(list_runs(session_, at(16), {}),
            "run  status     progress                            active  leased  parked  created\n"
            "1    cancelled  [##########..........] 1 of 2 done  1       1       0       1");
  EXPECT_EQ(told(collect_runs(session_, at(17), coord::LogicalTime::from_raw(15))),
            "1 run removed");
}

TEST_F(HumanAnswers, ShowShardsInATable) {
  ASSERT_TRUE(acquire(10, 10));
  ASSERT_TRUE(acquire(10, 11));
  ASSERT_EQ(
      told(park_shard(session_, at(11), lease(11, 2), coord::ParkReason::kTooManyErrors, op(1))),
      "executed");
  EXPECT_EQ(
      list_shards(session_, at(12), kRun, {}),
      "id  status                    start  end  last key  worker  fence  deadline  acquires  "
      "parent  spawned\n"
      "10  active                    a      m    -         7       2      110       1         "
      "-       0\n"
      "11  parked (too many errors)  m      z    -         -       2      -         1         "
      "-       0");
  EXPECT_EQ(told(unpark_shard(session_, at(13), {kRun, coord::ShardId::from_raw(11)}, op(2))),
            "executed, the fence is 3");
}

TEST_F(HumanAnswers, ShowSplits) {
  ASSERT_TRUE(acquire(10, 10));
  EXPECT_EQ(told(split_residual(session_, at(11), lease(10, 2), base::as_bytes("g"), op(2))),
            "executed: shard 14526408697267270017 takes the rest, this one keeps a to g");
  const std::vector<base::Bytes> points{bytes("c")};
  EXPECT_EQ(told(split_replace(session_, at(12), lease(10, 2), points, op(3))),
            "executed\n"
            "id                    start  end\n"
            "13583181051259054022  a      c\n"
            "11793577577867601637  c      g");
}

TEST_F(HumanAnswers, ListOneShardOnEachLineInJson) {
  session_.form.format = Format::kJson;
  EXPECT_EQ(
      told(list_shards(session_, at(3), kRun, {.filter = {}, .limit = 1})),
      R"({"id":10,"status":"active","start":"a","end":"m","last_key":null,"parent":null,"spawned":0,)"
      R"("worker":null,"fence":1,"deadline":null,"park_reason":null,"acquires":0})");
  const auto both = list_shards(session_, at(3), kRun, {});
  ASSERT_TRUE(both);
  EXPECT_NE(both->find("}\n{\"id\":11"), std::string::npos);
  const auto runs = list_runs(session_, at(3), {});
  ASSERT_TRUE(runs);
  EXPECT_TRUE(runs->starts_with(R"({"run":1,"status":"active")"));
}

// JSON never carries raw bytes.
TEST_F(HumanAnswers, AskForHexadecimalWhereAKeyIsNotText) {
  ASSERT_TRUE(acquire(10, 10));
  const CursorRequest raw{CursorOp::kCheckpoint, {bytes("b\xff"), {}}};
  ASSERT_TRUE(move_cursor(session_, at(11), lease(10, 2), raw, op(1)));
  session_.form.format = Format::kJson;
  EXPECT_EQ(show_run(session_, at(12), kRun).error().code, "not_utf8");
  EXPECT_EQ(list_shards(session_, at(12), kRun, {}).error().code, "not_utf8");
  session_.form.keys = KeyForm::kHex;
  const auto shown = show_run(session_, at(12), kRun);
  ASSERT_TRUE(shown);
  EXPECT_NE(shown->find(R"("watermark":"62ff")"), std::string::npos);
}

}  // namespace
}  // namespace cadastre::cli
