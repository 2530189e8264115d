// Bytes of another node's checkpoint become one here, or nothing does (L-70, L-74, L-76).

#include "server/checkpoint_staging.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "base/endian.h"
#include "server/checkpoint_testing.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

namespace fs = std::filesystem;
using log::SnapshotError;

// A disk of 80 bytes for each byte of the checkpoint, an eighth of which stays free.
std::uint64_t total_of_disk = 0;
std::uint64_t free_of_disk = 0;
std::optional<log::DiskSpace> small_disk(const fs::path& /*directory*/) {
  return log::DiskSpace{free_of_disk, total_of_disk};
}

class CheckpointStagingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    write_state(source());
    auto sealed = log::seal_checkpoint(source(), facts_of(kMade));
    ASSERT_TRUE(sealed) << sealed.error().detail;
    manifest = *sealed;
  }
  [[nodiscard]] fs::path source() const { return scratch.path() / "made"; }
  [[nodiscard]] fs::path target() const { return scratch.path() / "staged"; }
  [[nodiscard]] CheckpointStaging begin() const { return {target(), manifest}; }

  // Fetches until it is complete; `spoil` may change what comes. What was wrong, or nothing.
  using Spoil = std::function<void(const FileRange&, base::Bytes&)>;
  std::optional<SnapshotError> fetch(CheckpointStaging& staging, const Spoil& spoil = {}) {
    for (;;) {
      const auto missing = staging.next();
      if (!missing) return missing.error().code;
      if (!*missing) return std::nullopt;
      asked.push_back(**missing);
      base::Bytes bytes = read_range(source(), **missing);
      if (spoil) spoil(**missing, bytes);
      const auto taken = staging.take(bytes);
      if (!taken) return taken.error().code;
    }
  }
  // The first `count` ranges.
  void fetch_some(CheckpointStaging& staging, int count) {
    for (int i = 0; i < count; ++i) {
      const auto missing = staging.next();
      ASSERT_TRUE(missing && *missing);
      ASSERT_TRUE(staging.take(read_range(source(), **missing)));
    }
  }
  void expect_complete() const {
    const auto verified = log::verify_checkpoint(target());
    ASSERT_TRUE(verified) << verified.error().detail;
    EXPECT_EQ(*verified, manifest);
  }
  // Another list of files than the one that was sealed.
  void promise(base::Bytes list) {
    fs::remove(source() / "FILES");
    write_file(source() / "FILES", std::string(base::as_text(list)));
    manifest.list_bytes = static_cast<std::uint32_t>(list.size());
    manifest.list_hash = base::blake3(list);
  }

  const CheckpointScratch scratch;
  log::CheckpointManifest manifest;
  std::vector<FileRange> asked;
};

TEST_F(CheckpointStagingTest, FetchesEveryFileAndSealsThem) {
  CheckpointStaging staging = begin();
  EXPECT_EQ(fetch(staging), std::nullopt);
  expect_complete();
  EXPECT_EQ(asked.front().file, "FILES");
  for (const FileRange& range : asked)
    EXPECT_LE(range.bytes, kFetchBytesMax);
}

TEST_F(CheckpointStagingTest, IsNoCheckpointBeforeItsLastByte) {
  CheckpointStaging staging = begin();
  fetch_some(staging, 4);  // The list and all of the table; the short file is missing.
  EXPECT_FALSE(fs::exists(target() / "CHECKPOINT"));
}

TEST_F(CheckpointStagingTest, WhatIsCompleteIsNotFetchedAgain) {
  CheckpointStaging first = begin();
  EXPECT_EQ(fetch(first), std::nullopt);
  asked.clear();
  CheckpointStaging again = begin();
  EXPECT_EQ(fetch(again), std::nullopt);
  EXPECT_TRUE(asked.empty());
}

TEST_F(CheckpointStagingTest, GoesOnWhereAnEarlierAttemptEnded) {
  {
    CheckpointStaging first = begin();
    fetch_some(first, 3);
  }
  CheckpointStaging again = begin();
  EXPECT_EQ(fetch(again), std::nullopt);
  EXPECT_EQ(asked.front(),
            (FileRange{"000001.sst", 2 * kFetchBytesMax,
                       static_cast<std::uint32_t>(kTableBytes - 2 * kFetchBytesMax)}));
  EXPECT_EQ(asked.size(), 2U);
  expect_complete();
}

TEST_F(CheckpointStagingTest, WhatAnEarlierAttemptLeftWrongIsFetchedAnew) {
  const std::vector<std::string> leftovers = {
      std::string(2 * kFetchBytesMax, 'x'),  // Other bytes: pages that never reached the disk.
      std::string(kTableBytes, 'x'),         // The same, with its whole length.
      std::string(kTableBytes + 1, 'x'),     // Too long.
  };
  for (const std::string& leftover : leftovers) {
    fs::remove_all(target());
    fs::create_directory(target());
    write_file(target() / "000001.sst", leftover);
    write_file(target() / "FILES", "CDSL");
    write_file(target() / "000009.sst", "of another checkpoint");
    CheckpointStaging staging = begin();
    EXPECT_EQ(fetch(staging), std::nullopt);
    expect_complete();
  }
}

// ---- An attempt at another checkpoint (L-74) --------------------------------------------------------

class GivenUpTest : public CheckpointStagingTest {
 protected:
  void SetUp() override {
    CheckpointStagingTest::SetUp();
    fs::create_directory(given_up());
    fs::copy_file(source() / "FILES", given_up() / "FILES");
    // The source goes on: its table stays, under another name.
    fs::remove(source() / "FILES");
    fs::remove(source() / "CHECKPOINT");
    fs::copy_file(source() / "000001.sst", given_up() / "000001.sst");
    fs::rename(source() / "000001.sst", source() / "000007.sst");
    write_file(source() / "CURRENT", "MANIFEST-2\n");
    auto sealed = log::seal_checkpoint(
        source(), facts_of({kMade.group, kMade.node, log::CheckpointId{kMade.id.value() + 1}}));
    ASSERT_TRUE(sealed) << sealed.error().detail;
    manifest = *sealed;
  }
  [[nodiscard]] fs::path given_up() const { return scratch.path() / "given-up"; }
  [[nodiscard]] std::uint64_t table_bytes_asked() const {
    std::uint64_t bytes = 0;
    for (const FileRange& range : asked)
      if (range.file == "000007.sst") bytes += range.bytes;
    return bytes;
  }
  std::optional<SnapshotError> fetch_as_heir(const StagingRoom& room = {}) {
    CheckpointStaging staging(target(), manifest, room);
    staging.inherit({given_up()});
    return fetch(staging);
  }
};

TEST_F(GivenUpTest, LeavesTheFilesThatBothHave) {
  EXPECT_EQ(fetch_as_heir(), std::nullopt);
  expect_complete();
  EXPECT_EQ(table_bytes_asked(), 0U);
  EXPECT_FALSE(fs::exists(given_up()));
}

TEST_F(GivenUpTest, LeavesTheBeginningOfAFile) {
  fs::resize_file(given_up() / "000001.sst", kTableBytes - 10);
  EXPECT_EQ(fetch_as_heir(), std::nullopt);
  expect_complete();
  EXPECT_EQ(table_bytes_asked(), 10U);
}

TEST_F(GivenUpTest, IsNotTrusted) {
  write_file(given_up() / "000001.sst", std::string(kTableBytes, 'x'));
  EXPECT_EQ(fetch_as_heir(), std::nullopt);
  expect_complete();
  EXPECT_EQ(table_bytes_asked(), kTableBytes);
}

TEST_F(GivenUpTest, WithoutItsListLeavesNothing) {
  for (const char* const list : {"", "CDSL"}) {
    fs::remove_all(target());
    fs::create_directory(given_up());
    write_file(given_up() / "FILES", list);
    write_file(given_up() / "000001.sst", "some");
    EXPECT_EQ(fetch_as_heir(), std::nullopt);
    expect_complete();
    EXPECT_FALSE(fs::exists(given_up()));
  }
}

TEST_F(GivenUpTest, DoesNotTakeThePlaceOfWhatIsHere) {
  CheckpointStaging first = begin();
  fetch_some(first, 2);  // The list, and some of the first file.
  write_file(given_up() / "000001.sst", std::string(kTableBytes, 'x'));
  EXPECT_EQ(fetch_as_heir(), std::nullopt);
  expect_complete();
  EXPECT_EQ(table_bytes_asked(), kTableBytes - kFetchBytesMax);
}

TEST_F(GivenUpTest, WhatItLeavesNeedsNoRoomAgain) {  // L-50
  const StagingRoom room{.measure = &small_disk};
  total_of_disk = 80 * manifest.total_bytes;
  free_of_disk =
      log::critical_bound(room.settings, {0, total_of_disk}) + manifest.total_bytes - kTableBytes;
  EXPECT_EQ(fetch_as_heir(room), std::nullopt);
  expect_complete();
}

// An attempt that finds no room, and the next one after it.
TEST_F(GivenUpTest, LeavesToTheNextHeirWhatTheLastOneTookOver) {
  const StagingRoom room{.measure = &small_disk};
  total_of_disk = 80 * manifest.total_bytes;
  free_of_disk = log::critical_bound(room.settings, {0, total_of_disk});
  EXPECT_EQ(fetch_as_heir(room), SnapshotError::kStorage);
  EXPECT_FALSE(fs::exists(given_up()));
  fs::rename(target(), given_up());  // A newer checkpoint is wanted.
  EXPECT_EQ(fetch_as_heir(), std::nullopt);
  expect_complete();
  EXPECT_EQ(table_bytes_asked(), 0U);
}

TEST_F(GivenUpTest, GoesTooIfTheCheckpointIsHereAlready) {
  CheckpointStaging first = begin();
  EXPECT_EQ(fetch(first), std::nullopt);
  EXPECT_EQ(fetch_as_heir(), std::nullopt);
  EXPECT_FALSE(fs::exists(given_up()));
}

TEST_F(CheckpointStagingTest, AnotherCheckpointInItsPlaceIsReplaced) {
  write_state(target());
  ASSERT_TRUE(log::seal_checkpoint(target(), facts_of({})));
  CheckpointStaging staging = begin();
  EXPECT_EQ(fetch(staging), std::nullopt);
  expect_complete();
}

TEST_F(CheckpointStagingTest, AChangedByteOfAnyFileIsDamage) {
  for (const char* const file : {"FILES", "000001.sst", "CURRENT"}) {
    fs::remove_all(target());
    CheckpointStaging staging = begin();
    EXPECT_EQ(fetch(staging,
                    [&](const FileRange& range, base::Bytes& bytes) {
                      if (range.file == file) bytes.back() ^= std::byte{1};
                    }),
              SnapshotError::kDamaged)
        << file;
    EXPECT_FALSE(fs::exists(target() / "CHECKPOINT")) << file;
  }
}

TEST_F(CheckpointStagingTest, WhatIsRightInItselfIsDamageIfItIsNotTheManifests) {
  log::CheckpointManifest promised = manifest;
  fs::remove_all(source());
  write_state(source());
  write_file(source() / "CURRENT", "MANIFEST-2\n");
  ASSERT_TRUE(log::seal_checkpoint(source(), facts_of(kMade)));
  CheckpointStaging staging(target(), promised);
  EXPECT_EQ(fetch(staging), SnapshotError::kDamaged);
}

TEST_F(CheckpointStagingTest, MoreOrFewerBytesThanWereAskedForAreDamage) {
  for (const int change : {-1, 1}) {
    for (const char* const file : {"FILES", "000001.sst"}) {
      fs::remove_all(target());
      CheckpointStaging staging = begin();
      EXPECT_EQ(fetch(staging,
                      [&](const FileRange& range, base::Bytes& bytes) {
                        if (range.file == file)
                          bytes.resize(bytes.size() + static_cast<std::size_t>(change));
                      }),
                SnapshotError::kDamaged);
    }
  }
}

TEST_F(CheckpointStagingTest, AListThatLeavesItsDirectoryIsDamage) {  // L-70
  base::Bytes list = log::encode_file_list({{.name = "...escape", .bytes = 3}});
  const auto name = std::ranges::search(list, base::as_bytes("...escape"));
  ASSERT_FALSE(name.empty());
  std::ranges::copy(base::as_bytes("../escape"), name.begin());
  const std::size_t sum_at = list.size() - 4;
  base::store_le(list.data() + sum_at, base::crc32c(base::ByteView{list}.first(sum_at)));
  promise(list);
  manifest.total_bytes = 3;
  CheckpointStaging staging = begin();
  EXPECT_EQ(fetch(staging), SnapshotError::kDamaged);
  EXPECT_FALSE(fs::exists(scratch.path() / "escape"));
}

TEST_F(CheckpointStagingTest, AListThatContradictsItsManifestIsDamage) {
  struct Case {
    const char* what;
    std::string name;
    std::uint64_t bytes;
    std::uint64_t total;
  };
  for (const Case& wrong :
       {Case{"a file in the place of the list", "FILES", 3, 3},
        Case{"a file in the place of the manifest", "CHECKPOINT", 3, 3},
        Case{"longer than promised", "a", 4, 3}, Case{"shorter than promised", "a", 2, 3}}) {
    fs::remove_all(target());
    promise(log::encode_file_list(
        {{.name = wrong.name, .bytes = wrong.bytes, .hash = base::blake3(base::as_bytes("CDS"))}}));
    manifest.total_bytes = wrong.total;
    CheckpointStaging staging = begin();
    EXPECT_EQ(fetch(staging), SnapshotError::kDamaged) << wrong.what;
  }
}

TEST_F(CheckpointStagingTest, AListThatIsTooLongIsNotFetched) {
  manifest.list_bytes = log::kFileListBytesMax + 1;
  CheckpointStaging staging = begin();
  EXPECT_EQ(fetch(staging), SnapshotError::kDamaged);
  EXPECT_TRUE(asked.empty());
}

TEST_F(CheckpointStagingTest, WhatDoesNotFitTheDiskIsNotBegun) {
  const std::uint64_t huge = std::uint64_t{1} << 60;
  promise(log::encode_file_list({{.name = "a", .bytes = huge}}));
  manifest.total_bytes = huge;
  CheckpointStaging staging = begin();
  EXPECT_EQ(fetch(staging), SnapshotError::kStorage);
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(CheckpointStagingTest, ADiskThatRefusesIsNoDamage) {
  write_file(target(), "a file where the directory should be");
  CheckpointStaging staging = begin();
  EXPECT_EQ(fetch(staging), SnapshotError::kStorage);
}

TEST_F(CheckpointStagingTest, LeavesTheCriticalReserveOnTheDisk) {  // L-50
  const StagingRoom room{.measure = &small_disk};
  total_of_disk = 80 * manifest.total_bytes;
  const std::uint64_t reserve = log::critical_bound(room.settings, {0, total_of_disk});
  free_of_disk = reserve + manifest.total_bytes - 1;
  CheckpointStaging refused(target(), manifest, room);
  EXPECT_EQ(fetch(refused), SnapshotError::kStorage);
  free_of_disk = reserve + manifest.total_bytes;
  CheckpointStaging fits(target(), manifest, room);
  EXPECT_EQ(fetch(fits), std::nullopt);
  expect_complete();
}

TEST_F(CheckpointStagingTest, WhatIsHereAlreadyNeedsNoRoomAgain) {  // L-50, L-74
  {
    CheckpointStaging first = begin();
    fetch_some(first, 2);  // The list, and some of a file.
  }
  std::uint64_t here = 0;
  for (const auto& file : fs::directory_iterator(target()))
    if (file.path().filename() != "FILES") here += file.file_size();
  ASSERT_GT(here, 0U);
  const StagingRoom room{.measure = &small_disk};
  total_of_disk = 80 * manifest.total_bytes;
  const std::uint64_t reserve = log::critical_bound(room.settings, {0, total_of_disk});
  free_of_disk = reserve + manifest.total_bytes - here;
  CheckpointStaging again(target(), manifest, room);
  EXPECT_EQ(fetch(again), std::nullopt);
  expect_complete();
}

}  // namespace
}  // namespace cadastre::server
