// The operating system's snapshot files on a disk that crashes: what a sync did not cover is gone (C-10.8, F9).
//
// The binary is linked with its own fsync(2), which notes what is durable: of a file the bytes it has, of a directory
// the names it has. After a crash the directory holds those names with those bytes and nothing else.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "coord/replicated/snapshot_store.h"
#include "log/storage/directory_testing.h"

namespace cadastre::coord::replicated {
namespace {

namespace fs = std::filesystem;

ino_t file_at(const fs::path& path) {
  struct stat facts{};
  CAD_CHECK(::stat(path.c_str(), &facts) == 0, "a file of the test is there");
  return facts.st_ino;
}

// The durable state of one directory. What is durable stays under a second name, whatever happens to the first.
class CrashingDirectory {
 public:
  CrashingDirectory() {
    fs::create_directory(directory());
    fs::create_directory(kept());
    now = this;
  }
  CrashingDirectory(const CrashingDirectory&) = delete;
  CrashingDirectory& operator=(const CrashingDirectory&) = delete;
  ~CrashingDirectory() { now = nullptr; }

  [[nodiscard]] fs::path directory() const { return scratch_.path() / "coord"; }

  void synced_file(const struct stat& facts) {
    bytes_[facts.st_ino] = static_cast<std::uint64_t>(facts.st_size);
  }
  void synced_names() {
    names_.clear();
    for (const auto& entry : fs::directory_iterator(directory())) {
      const ino_t file = file_at(entry.path());
      names_[entry.path().filename().string()] = file;
      if (!fs::exists(kept() / fmt::to_string(file)))
        fs::create_hard_link(entry.path(), kept() / fmt::to_string(file));
    }
  }

  // Whether names that nobody synced happened to reach the disk.
  enum class Names : std::uint8_t {
    kLost,
    kWritten
  };
  void crash(Names names = Names::kLost) {
    if (names == Names::kWritten) synced_names();
    std::map<std::string, std::string> left;
    for (const auto& [name, file] : names_)
      left[name] = log::bytes_of(kept() / fmt::to_string(file)).substr(0, bytes_[file]);
    for (const fs::path& path : {directory(), kept()}) {
      fs::remove_all(path);
      fs::create_directory(path);
    }
    bytes_.clear();
    for (const auto& [name, bytes] : left) {
      std::ofstream(directory() / name, std::ios::binary) << bytes;
      bytes_[file_at(directory() / name)] = bytes.size();
    }
    synced_names();
  }

  static CrashingDirectory* now;  // that of the running test

 private:
  [[nodiscard]] fs::path kept() const { return scratch_.path() / "kept"; }

  log::ScratchDirectory scratch_;
  std::map<ino_t, std::uint64_t> bytes_;
  std::map<std::string, ino_t> names_;
};
CrashingDirectory* CrashingDirectory::now = nullptr;

using Names = CrashingDirectory::Names;

struct SnapshotFilesCrash : testing::Test {
  [[nodiscard]] std::optional<std::string> load() {
    const auto bytes = store.load().value();
    if (!bytes) return std::nullopt;
    return std::string(base::as_text(*bytes));
  }
  void save(std::string_view text) { ASSERT_TRUE(store.save(base::as_bytes(text))); }

  CrashingDirectory disk;
  PosixSnapshotFiles files{disk.directory()};
  SnapshotStore store{files};
};

TEST_F(SnapshotFilesCrash, WhatWasSavedIsThere) {
  save("one");
  disk.crash();
  EXPECT_EQ(load(), "one");
  save("another one");
  save("the third");
  disk.crash();
  EXPECT_EQ(load(), "the third");
}

// A rename may reach the disk before anybody syncs it: the bytes must have come first.
TEST_F(SnapshotFilesCrash, ANameNeverStandsForBytesThatAreNotThere) {
  save("one");
  ASSERT_TRUE(files.write_synced(kSnapshotNewName, base::as_bytes(std::string_view("two"))));
  ASSERT_TRUE(files.rename(kSnapshotNewName, kSnapshotName));
  disk.crash(Names::kWritten);
  EXPECT_EQ(load(), "two");
}

TEST_F(SnapshotFilesCrash, TheOldOneStaysUntilTheNewNameIsSynced) {
  save("one");
  ASSERT_TRUE(files.write_synced(kSnapshotNewName, base::as_bytes(std::string_view("two"))));
  ASSERT_TRUE(files.rename(kSnapshotNewName, kSnapshotName));
  disk.crash();
  EXPECT_EQ(load(), "one");
}

TEST_F(SnapshotFilesCrash, WhatACrashLeftOfANewOneIsOverwritten) {
  save("one");
  ASSERT_TRUE(files.write_synced(kSnapshotNewName, base::as_bytes(std::string_view("a long one"))));
  disk.crash(Names::kWritten);
  EXPECT_EQ(load(), "one");
  save("two");
  disk.crash();
  EXPECT_EQ(load(), "two");
}

}  // namespace
}  // namespace cadastre::coord::replicated

// What is linked in place of fsync(2). Nothing reaches the real disk.
extern "C" int __wrap_fsync(int descriptor);  // NOLINT: the linker makes this name
extern "C" int __wrap_fsync(int descriptor) {
  using cadastre::coord::replicated::CrashingDirectory;
  struct stat facts{};
  CAD_CHECK(::fstat(descriptor, &facts) == 0, "what is synced is open");
  CAD_CHECK(CrashingDirectory::now != nullptr, "syncs happen inside tests");
  if (S_ISDIR(facts.st_mode)) {
    CrashingDirectory::now->synced_names();
  } else {
    CrashingDirectory::now->synced_file(facts);
  }
  return 0;
}
