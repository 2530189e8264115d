#include "node/backup_manifest.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/blake3.h"
#include "base/bytes.h"

namespace cadastre::node {
namespace {

const std::vector<BackupFile> kFiles{
    {base::blake3(base::as_bytes("one")), 3, "coord/snapshot"},
    {base::blake3(base::as_bytes("")), 0, "log/a name with blanks"},
};

TEST(BackupManifest, ReadsBackWhatItWrote) {
  EXPECT_EQ(*parse_backup_manifest(format_backup_manifest(kFiles)), kFiles);
  EXPECT_EQ(*parse_backup_manifest(format_backup_manifest({})), std::vector<BackupFile>());
}

TEST(BackupManifest, NoticesEveryFlippedBitAndEveryCut) {
  const std::string text = format_backup_manifest(kFiles);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(parse_backup_manifest(std::string_view(text).substr(0, i))) << i;
    for (const int bit : {1, 2, 4, 8, 16, 32, 64}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      const auto parsed = parse_backup_manifest(damaged);
      // Both cases of a hexadecimal digit mean the same.
      EXPECT_TRUE(!parsed || *parsed == kFiles) << i;
    }
  }
  EXPECT_FALSE(parse_backup_manifest(text + "\n"));
}

TEST(BackupManifest, NoPathLeavesTheDirectory) {
  for (const std::string_view path : {"a", "a/b", "a/..b", "...", "a b"})
    EXPECT_TRUE(is_plain_path(path)) << path;
  for (const std::string_view path :
       {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/.", "a\nb"})
    EXPECT_FALSE(is_plain_path(path)) << path;
  std::vector<BackupFile> files = kFiles;
  files[0].path = "../outside";
  EXPECT_FALSE(parse_backup_manifest(format_backup_manifest(files)));
}

TEST(BackupManifest, EachPathOccursOnceAndInOrder) {
  std::vector<BackupFile> files = kFiles;
  files[1].path = files[0].path;
  EXPECT_FALSE(parse_backup_manifest(format_backup_manifest(files)));
  files[1].path = "a";
  EXPECT_FALSE(parse_backup_manifest(format_backup_manifest(files)));
}

}  // namespace
}  // namespace cadastre::node
