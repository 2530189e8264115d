// The state machine and its snapshots: what is durable, what is refused, what time it is for whom.

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/blake3.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/result.h"
#include "coord/backend.h"
#include "coord/conformance/suite_testing.h"
#include "coord/errors.h"
#include "coord/identity.h"
#include "coord/limits.h"
#include "coord/replicated/command.h"
#include "coord/replicated/machine.h"
#include "coord/replicated/settings.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/replicated/snapshot_store.h"
#include "coord/replicated/state.h"
#include "coord/snapshot.h"
#include "log/limits.h"
#include "log/state_machine.h"
#include "log/types.h"
#include "shard/bytes_testing.h"
#include "tests/coord/replicated_node.h"

namespace cadastre::coord::replicated {
namespace {

using conformance::tenant_of;
using namespace conformance;  // NOLINT(google-build-using-namespace): the literals of the suite

class ReplicatedMachine : public testing::Test {
 protected:
  ReplicatedMachine() { EXPECT_TRUE(node_.start()) << node_.error(); }

  void create(const TenantId& tenant, LogicalTime now = 1_t) {
    ASSERT_TRUE(facade().create_run(now, tenant, kRun, {.lease_duration = 100}));
    const std::array roots{InitialShardInput{kShard, spec("a"_b, "m"_b)},
                           InitialShardInput{11_id, spec("m"_b, "z"_b)}};
    ASSERT_TRUE(facade().register_shards(now, tenant, kRun, roots, 1_op));
  }
  Lease take(LogicalTime now, ShardId id = kShard) {
    return facade()
        .acquire_and_restore_into(now, tenant_, {kRun, id}, 1_w, *scratch_)
        .value()
        .lease;
  }
  CoordinationFacade& facade() { return node_.facade(); }
  base::Bytes& snapshot() { return disk_.snapshots.content.at(std::string(kSnapshotName)); }

  const TenantId tenant_ = tenant_of(1);
  MemoryNodeDisk disk_;
  ReplicatedNode node_{disk_};
  std::unique_ptr<AcquireScratch> scratch_ = std::make_unique<AcquireScratch>();
};

// C-10.8 flush: the log is cut only up to the newest synced snapshot.
TEST_F(ReplicatedMachine, IsDurableOnlyAsFarAsItsSnapshot) {
  create(tenant_);
  EXPECT_EQ(node_.machine().durable(), log::Position{});
  disk_.snapshots.refuses = true;
  node_.flush();
  EXPECT_EQ(node_.machine().durable(), log::Position{});
  disk_.snapshots.refuses = false;
  node_.flush();
  EXPECT_EQ(node_.machine().durable(), node_.machine().applied());
  (void)take(2_t);
  EXPECT_NE(node_.machine().durable(), node_.machine().applied());
}

// F9
TEST_F(ReplicatedMachine, HoldsAfterAStartWhatItHeldBefore) {
  create(tenant_);
  (void)take(2_t);
  node_.flush();
  (void)take(3_t, 11_id);
  const Everything before = everything_of(node_.machine());
  const Settings settings = node_.machine().settings();
  ASSERT_TRUE(node_.start()) << node_.error();
  EXPECT_TRUE(everything_of(node_.machine()) == before);
  EXPECT_EQ(node_.machine().settings(), settings);
  EXPECT_EQ(node_.machine().largest_now(tenant_), 3_t);
}

// C-10.8 recovery: corruption refuses to open, wherever it is.
TEST_F(ReplicatedMachine, RefusesASnapshotWithAnyByteChanged) {
  create(tenant_);
  (void)take(2_t);
  node_.flush();
  node_.end();
  const base::Bytes whole = snapshot();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    snapshot()[at] ^= std::byte{1};
    EXPECT_FALSE(node_.start());
    EXPECT_FALSE(node_.error().empty());
    snapshot() = whole;
  }
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    snapshot().resize(size);
    EXPECT_FALSE(node_.start()) << size;
    snapshot() = whole;
  }
  EXPECT_TRUE(node_.start()) << node_.error();
}

// C-10.1, 5: a snapshot whose sum is right and whose records contradict each other.
TEST_F(ReplicatedMachine, RefusesRecordsThatDoNotNameEachOther) {
  create(tenant_);
  node_.flush();
  node_.end();
  const base::Bytes whole = snapshot();
  const auto content = decode_snapshot(whole);
  ASSERT_TRUE(content.has_value());
  const auto refused_without = [&](auto edit) {
    SnapshotContent edited = *content;
    edit(edited);
    memory::MemoryBackend records({});
    for (const RunRecord& run : edited.runs)
      records.load_run(run);
    for (const ShardDump& shard : edited.shards)
      ASSERT_TRUE(records.load_shard(shard).has_value());
    base::Bytes bytes = encode_snapshot(edited.head, records, edited.times);
    seal(bytes);
    const auto again = decode_snapshot(bytes);
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, SnapshotError::kDamaged);
  };
  refused_without([](SnapshotContent& edited) { edited.shards.pop_back(); });
  refused_without([](SnapshotContent& edited) {
    edited.shards.push_back(edited.shards.back());
    edited.shards.back().state.shard = 99_id;
  });
}

// A snapshot that is older than what the log was cut to, or that is gone, is damage and not an empty state.
TEST_F(ReplicatedMachine, RefusesAStateThatIsOlderThanItsLog) {
  create(tenant_);
  for (std::uint64_t i = 0; i <= log::kTruncateEntriesMin; ++i)
    (void)take(LogicalTime::from_raw(1000 * (i + 1)));
  node_.flush();
  node_.keep_house();
  node_.end();
  const base::Bytes whole = snapshot();
  disk_.snapshots.content.clear();
  EXPECT_FALSE(node_.start());
  disk_.snapshots.content.emplace(kSnapshotName, whole);
  EXPECT_TRUE(node_.start()) << node_.error();
}

// C-10.8 time: of each tenant its own.
TEST_F(ReplicatedMachine, KeepsTheLargestTimeOfEachTenant) {
  const TenantId other = tenant_of(2);
  create(tenant_, 10_t);
  create(other, 500_t);
  (void)take(700_t);
  (void)take(20_t, 11_id);
  EXPECT_EQ(node_.machine().largest_now(tenant_), 700_t);
  EXPECT_EQ(node_.machine().largest_now(other), 500_t);
  EXPECT_EQ(node_.machine().largest_now(tenant_of(3)), LogicalTime());
  // Whoever has no run leaves nothing behind.
  EXPECT_FALSE(facade().get_run_progress(9_t, tenant_of(3), kRun));
  EXPECT_FALSE(facade().complete_run(9_t, tenant_of(3), kRun, 1_op));
  EXPECT_EQ(node_.machine().largest_now(tenant_of(3)), LogicalTime());
  node_.flush();
  ASSERT_TRUE(node_.start());
  EXPECT_EQ(node_.machine().largest_now(tenant_), 700_t);
  EXPECT_EQ(node_.machine().largest_now(other), 500_t);
}

//
TEST_F(ReplicatedMachine, RefusesBeforeTheLogWhatNoEntryHolds) {
  ASSERT_TRUE(facade().create_run(1_t, tenant_, kRun, {.lease_duration = 100}));
  const log::Position before = node_.machine().applied();
  const base::Bytes metadata(kMaxMetadataSize);
  std::vector<base::Bytes> keys;
  for (std::uint32_t i = 0; i <= 2100; ++i)
    keys.push_back({std::byte(1 + i / 250), std::byte(1 + i % 250)});
  std::vector<InitialShardInput> rows;
  for (std::size_t i = 0; i < 2100; ++i)
    rows.push_back({ShardId::from_raw(i), spec(keys[i], keys[i + 1], metadata)});
  const auto answer = facade().register_shards(2_t, tenant_, kRun, rows, 1_op);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error(), RegistrationExhausted{"entry_bytes"});
  EXPECT_EQ(node_.machine().applied(), before);
  rows.resize(2000);
  EXPECT_TRUE(
      facade().register_shards(2_t, tenant_, kRun, rows, 1_op));  // 32 MiB and a slab to hold it.
}

TEST_F(ReplicatedMachine, RefusesACursorThatNoEntryHolds) {
  create(tenant_);
  const Lease lease = take(2_t);
  const base::Bytes token(log::kCommandBytesMax);
  const auto answer =
      facade().checkpoint(3_t, tenant_, lease, CursorUpdate::make("b"_b, token), 2_op);
  ASSERT_FALSE(answer.has_value());
  EXPECT_TRUE(answer.error().is<ResourceExhausted>());
  const base::Bytes smaller(kMaxTokenSize + 1);
  const auto judged =
      facade().checkpoint(3_t, tenant_, lease, CursorUpdate::make("b"_b, smaller), 2_op);
  EXPECT_EQ(judged.error(), (CursorTokenTooLarge{kMaxTokenSize + 1, kMaxTokenSize}));
}

TEST_F(ReplicatedMachine, NamesTheLengthOfAManifestThatIsTooLong) {
  ASSERT_TRUE(facade().create_run(1_t, tenant_, kRun, {.lease_duration = 100}));
  const std::vector<InitialShardInput> rows(kMaxInitialShards + 5);
  const auto answer = facade().register_shards(2_t, tenant_, kRun, rows, 1_op);
  ASSERT_FALSE(answer.has_value());
  const auto* const invalid = answer.error().get_if<ManifestInvalid>();
  ASSERT_NE(invalid, nullptr);
  EXPECT_EQ(invalid->reason.size, rows.size());
}

// one command and one entry for all of them.
TEST_F(ReplicatedMachine, RenewsManyLeasesWithOneEntry) {
  create(tenant_);
  const std::array leases{take(2_t), take(2_t, 11_id)};
  const log::Position before = node_.machine().applied();
  const auto renewed = facade().renew_many(3_t, tenant_, leases);
  ASSERT_TRUE(renewed.has_value());
  EXPECT_EQ(renewed->size(), 2U);
  EXPECT_EQ(node_.machine().applied().index, before.index + 1);
}

// The slab moves when a command might not fit; nobody sees it.
TEST(ReplicatedState, HoldsMoreThanItsFirstSlab) {
  MemoryNodeDisk disk;
  ReplicatedNode node(disk, {.record_bytes_max = std::uint64_t{40} << 20});
  ASSERT_TRUE(node.start());
  const TenantId tenant = tenant_of(1);
  ASSERT_TRUE(node.facade().create_run(1_t, tenant, kRun, {.lease_duration = 1'000'000}));
  std::vector<base::Bytes> keys;
  for (std::uint32_t i = 0; i <= 2000; ++i)
    keys.push_back({std::byte(1 + i / 250), std::byte(1 + i % 250)});
  std::vector<InitialShardInput> rows;
  for (std::size_t i = 0; i < 2000; ++i)
    rows.push_back({ShardId::from_raw(i), spec(keys[i], keys[i + 1])});
  ASSERT_TRUE(node.facade().register_shards(2_t, tenant, kRun, rows, 1_op));
  const auto scratch = std::make_unique<AcquireScratch>();
  const base::Bytes token(kMaxTokenSize, std::byte{7});
  std::size_t stored = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    const ShardKey key{kRun, ShardId::from_raw(i)};
    const auto acquired = node.facade().acquire_and_restore_into(3_t, tenant, key, 1_w, *scratch);
    ASSERT_TRUE(acquired.has_value());
    const auto answer = node.facade().checkpoint(4_t, tenant, acquired->lease,
                                                 CursorUpdate::make(keys[i], token), 2_op);
    if (answer) ++stored;
  }
  EXPECT_EQ(stored, 2000U);
  EXPECT_GT(node.machine().read([](const memory::MemoryBackend& records) {
    return records.slab_stats().live_bytes;
  }),
            std::uint32_t{16} << 20);
  node.machine().verify();
}

TEST_F(ReplicatedMachine, WritesACheckpointThatAStoreLoads) {
  create(tenant_);
  const auto home =
      std::filesystem::temp_directory_path() / ("coord_checkpoint_" + std::to_string(getpid()));
  std::filesystem::remove_all(home);
  const auto made = node_.machine().checkpoint({home});
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(*made, node_.machine().applied());
  const auto again = node_.machine().checkpoint({home});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, log::CheckpointError::kExists);
  PosixSnapshotFiles files(home);
  const auto loaded = SnapshotStore(files).load();
  ASSERT_TRUE(loaded && loaded->has_value());
  const auto content = decode_snapshot(**loaded);
  ASSERT_TRUE(content.has_value()) << content.error().detail;
  EXPECT_EQ(content->head.applied, *made);
  EXPECT_EQ(content->shards.size(), 2U);
  std::filesystem::remove_all(home);
}

// Tasks wait until the test runs them.
class Deferred final : public Background {
 public:
  void run(std::move_only_function<void()> task) override { tasks.push_back(std::move(task)); }

  std::vector<std::move_only_function<void()>> tasks;
};

class Silent final : public base::LogSink {
 public:
  void write(base::LogLevel /*level*/, std::string_view /*line*/) override {}
};

// Files of which one change fails, or is the last thing that happens.
class FailingFiles final : public SnapshotFiles {
 public:
  base::Result<std::optional<base::Bytes>, FileError> read(std::string_view name) override {
    return files.read(name);
  }
  base::Result<void, FileError> write_synced(std::string_view name, base::ByteView bytes) override {
    if (changes-- == 0) return base::fail(FileError::kFailed, "no space left");
    return files.write_synced(name, bytes);
  }
  base::Result<void, FileError> rename(std::string_view from, std::string_view to) override {
    if (changes-- == 0) return base::fail(FileError::kFailed, "no space left");
    return files.rename(from, to);
  }
  base::Result<void, FileError> sync_names() override {
    if (changes-- == 0) return base::fail(FileError::kFailed, "no space left");
    return {};
  }

  MemoryFiles files;
  int changes = -1;  // So many more succeed, and the next one fails; -1: all do.
};

// A checkpoint of node_, and a machine elsewhere that has nothing.
class ReplicatedInstall : public ReplicatedMachine {
 protected:
  ReplicatedInstall() {
    create(tenant_);
    std::filesystem::remove_all(home_);
    const auto made = node_.machine().checkpoint({home_});
    EXPECT_TRUE(made.has_value());
    staged_ = {home_, {.at = *made}};
  }
  ~ReplicatedInstall() override { std::filesystem::remove_all(home_); }

  std::unique_ptr<Machine> open() {
    auto opened = Machine::open({store_, background_, logger_}, 1);
    EXPECT_TRUE(opened.has_value());
    return *std::move(opened);
  }

  const std::filesystem::path home_ =
      std::filesystem::temp_directory_path() / ("coord_install_" + std::to_string(getpid()));
  log::StagedCheckpoint staged_;
  FailingFiles files_;
  SnapshotStore store_{files_};
  Deferred background_;
  base::ManualClock clock_;
  Silent sink_;
  const base::Logger logger_{sink_, clock_, base::LogForm::kText};
};

TEST_F(ReplicatedInstall, PutsACheckpointInPlaceOfTheState) {  // log.md 7.3, L-76
  const auto machine = open();
  for (int times = 0; times < 2; ++times) {  // Again does no harm.
    const auto installed = machine->install(staged_);
    ASSERT_TRUE(installed.has_value()) << installed.error().detail;
    EXPECT_EQ(machine->applied(), staged_.manifest.at);
    EXPECT_EQ(machine->durable(), staged_.manifest.at);
  }
  machine->verify();
  const auto later = open();  // Another process.
  EXPECT_EQ(later->applied(), staged_.manifest.at);
  EXPECT_TRUE(later->configured());
  EXPECT_EQ(later->largest_now(tenant_), node_.machine().largest_now(tenant_));
}

TEST_F(ReplicatedInstall, AFlushOfTheStateBeforeComesTooLate) {  // durable() never goes back
  const auto machine = open();
  machine->request_flush();
  ASSERT_TRUE(machine->install(staged_).has_value());
  for (auto& task : background_.tasks)
    task();
  EXPECT_EQ(machine->durable(), staged_.manifest.at);
  EXPECT_EQ(open()->applied(), staged_.manifest.at);
  background_.tasks.clear();
  machine->request_flush();
  ASSERT_EQ(background_.tasks.size(), 1U);  // The next flush is not held up.
}

TEST_F(ReplicatedInstall, WhereverTheDiskRefusesTheStateIsOldOrNew) {  // log.md R8
  int refused = 0;
  for (int change = 0; change < 3; ++change) {
    files_.files.content.clear();
    const auto machine = open();
    files_.changes = change;
    const auto installed = machine->install(staged_);
    files_.changes = -1;
    ASSERT_FALSE(installed.has_value()) << change;
    EXPECT_EQ(installed.error().code, log::InstallError::kStorage) << change;
    EXPECT_EQ(machine->applied(), log::Position{}) << change;
    EXPECT_EQ(machine->durable(), log::Position{}) << change;
    const auto later = open();
    const bool is_new = later->applied() == staged_.manifest.at;
    EXPECT_TRUE(is_new || later->applied() == log::Position{}) << change;
    EXPECT_TRUE(later->install(staged_).has_value()) << change;
    EXPECT_EQ(later->applied(), staged_.manifest.at) << change;
    ++refused;
  }
  EXPECT_EQ(refused, 3);
}

TEST_F(ReplicatedInstall, RefusesWhatTheManifestDoesNotSay) {
  const auto machine = open();
  log::StagedCheckpoint other = staged_;
  other.manifest.at.index = log::Index{999};
  EXPECT_EQ(machine->install(other).error().code, log::InstallError::kDamaged);
  std::filesystem::resize_file(home_ / kSnapshotName, 100);
  EXPECT_EQ(machine->install(staged_).error().code, log::InstallError::kDamaged);
  std::filesystem::remove(home_ / kSnapshotName);
  EXPECT_EQ(machine->install(staged_).error().code, log::InstallError::kDamaged);
  EXPECT_EQ(machine->applied(), log::Position{});
  EXPECT_TRUE(files_.files.content.empty());
}

// Damage before a checkpoint was sealed has the right hashes, and the sum of the file may be right, too.
TEST_F(ReplicatedInstall, ChecksWhatItWouldTakeAndChangesNothing) {  // log.md L-74
  const auto machine = open();
  const base::Bytes good = **PosixSnapshotFiles(home_).read(kSnapshotName);
  const auto edited = [&](std::size_t at, std::uint8_t value) {
    base::Bytes bytes(good.begin(), good.end() - sizeof(base::Blake3Digest));
    bytes[at] = std::byte{value};
    seal(bytes);
    return bytes;
  };
  base::Bytes flipped = good;
  flipped[good.size() / 2] ^= std::byte{1};
  struct Case {
    const char* what;
    base::Bytes bytes;
    std::uint64_t index;
    std::optional<log::InstallError> refused;
  };
  const std::uint64_t at = staged_.manifest.at.index.value();
  const std::vector<Case> cases = {
      {"as it was made", good, at, std::nullopt},
      {"of a newer release", edited(4, 2), at, log::InstallError::kNewer},
      {"a bit of it flipped", flipped, at, log::InstallError::kDamaged},
      {"sealed with a record of no kind", edited(78, 99), at, log::InstallError::kDamaged},
      {"cut short", base::Bytes(good.begin(), good.begin() + 100), at, log::InstallError::kDamaged},
      {"at another position", good, at + 1, log::InstallError::kDamaged},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    ASSERT_TRUE(PosixSnapshotFiles(home_).write_synced(kSnapshotName, each.bytes));
    log::StagedCheckpoint staged = staged_;
    staged.manifest.at.index = log::Index{each.index};
    const auto checked = machine->check(staged);
    ASSERT_EQ(checked.has_value(), !each.refused.has_value());
    if (each.refused) {
      EXPECT_EQ(checked.error().code, *each.refused) << checked.error().detail;
    }
    EXPECT_EQ(machine->applied(), log::Position{});
    EXPECT_TRUE(files_.files.content.empty());
  }
  std::filesystem::remove(home_ / kSnapshotName);
  EXPECT_EQ(machine->check(staged_).error().code, log::InstallError::kDamaged);
}

// Runs that ended long before their tenant's own time, and no others.
TEST_F(ReplicatedMachine, FindsTheRunsWhoseRetentionIsOver) {
  const TenantId other = tenant_of(2);
  create(tenant_, 10_t);
  create(other, 10_t);
  ASSERT_TRUE(facade().cancel_run(20_t, tenant_, kRun, 2_op));
  ASSERT_TRUE(facade().cancel_run(20_t, other, kRun, 2_op));
  ASSERT_TRUE(facade().create_run(71_t, tenant_, 2_run, {.lease_duration = 100}));
  EXPECT_TRUE(node_.machine().collectable(0, 10).empty());
  EXPECT_TRUE(node_.machine().collectable(51, 10).empty());
  const auto due = node_.machine().collectable(50, 10);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].tenant, tenant_);
  EXPECT_EQ(due[0].completed_before, 21_t);
}

}  // namespace
}  // namespace cadastre::coord::replicated
