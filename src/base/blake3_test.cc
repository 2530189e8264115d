#include "base/blake3.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace cadastre::base {
namespace {

constexpr std::string_view kContext = "BLAKE3 2019-12-27 16:29:52 test vectors context";

Bytes pattern(std::size_t bytes) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    out[i] = static_cast<std::byte>(i % 251);
  return out;
}

struct Vector {
  std::string mode;
  std::size_t length = 0;
  std::string digest;
};

std::vector<Vector> stored_vectors() {
  std::ifstream file(CADASTRE_SOURCE_DIR "/src/base/testdata/blake3.txt");
  std::vector<Vector> out;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    Vector vector;
    std::istringstream(line) >> vector.mode >> vector.length >> vector.digest;
    out.push_back(vector);
  }
  return out;
}

TEST(Blake3, GivesTheStoredDigests) {
  const auto vectors = stored_vectors();
  ASSERT_GE(vectors.size(), 24U);
  for (const auto& [mode, length, digest] : vectors) {
    const Bytes input = pattern(length);
    const auto actual = mode == "derive" ? derive_key(kContext, input) : blake3(input);
    EXPECT_EQ(to_hex(actual), digest) << mode << ' ' << length;
  }
}

TEST(Blake3, DoesNotCareHowTheInputIsCut) {
  const Bytes input = pattern(5000);
  for (const std::size_t piece : {1U, 63U, 64U, 65U, 1023U, 1024U, 1025U, 4999U}) {
    Blake3Hasher hasher;
    for (std::size_t at = 0; at < input.size(); at += piece) {
      hasher.update(ByteView(input).subspan(at, std::min(piece, input.size() - at)));
      hasher.update({});
    }
    EXPECT_EQ(hasher.finalize(), blake3(input)) << piece;
  }
}

TEST(Blake3, AHasherGoesOnAfterADigestAndItsCopyBranches) {
  const Bytes input = pattern(3000);
  Blake3Hasher hasher;
  hasher.update(ByteView(input).first(1500));
  EXPECT_EQ(hasher.finalize(), blake3(ByteView(input).first(1500)));
  const Blake3Hasher branch = hasher;
  hasher.update(ByteView(input).subspan(1500));
  EXPECT_EQ(hasher.finalize(), blake3(input));
  EXPECT_EQ(branch.finalize(), blake3(ByteView(input).first(1500)));
}

TEST(Blake3, ContextsAreIndependent) {
  const Bytes input = pattern(10);
  EXPECT_NE(derive_key("a", input), derive_key("b", input));
  EXPECT_NE(derive_key("", input), blake3(input));
}

// A directory of random files that goes away with the test.
class RandomFiles {
 public:
  explicit RandomFiles(unsigned seed) : directory_(testing::TempDir() + "cadastre_blake3_XXXXXX") {
    // NOLINTNEXTLINE(misc-include-cleaner): POSIX adds it to <cstdlib>.
    if (::mkdtemp(directory_.data()) == nullptr) ADD_FAILURE() << "no temporary directory";
    std::mt19937_64 random(seed);
    for (int i = 0; i < 24; ++i) {
      // Half of the lengths are within a few chunks, where the tree changes its shape often.
      Bytes bytes(random() % (i % 2 == 0 ? 5000 : 300'000));
      for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random());
      std::ofstream(path(contents_.size()), std::ios::binary) << as_text(bytes);
      contents_.push_back(std::move(bytes));
    }
  }
  RandomFiles(const RandomFiles&) = delete;
  RandomFiles& operator=(const RandomFiles&) = delete;
  ~RandomFiles() { std::filesystem::remove_all(directory_); }

  [[nodiscard]] const std::vector<Bytes>& contents() const { return contents_; }

  // One digest for each file, as the b3sum binary prints it.
  [[nodiscard]] std::vector<std::string> b3sum(const std::string& options) const {
    std::string command = "b3sum --no-names " + options;
    for (std::size_t i = 0; i < contents_.size(); ++i)
      command += ' ' + path(i);
    // NOLINTNEXTLINE(misc-include-cleaner): POSIX adds both to <cstdio>.
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::vector<std::string> out;
    std::array<char, 128> line{};
    while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
      out.emplace_back(line.data());
      out.back().pop_back();
    }
    return out;
  }

 private:
  [[nodiscard]] std::string path(std::size_t file) const {
    return directory_ + '/' + std::to_string(file);
  }

  std::string directory_;
  std::vector<Bytes> contents_;
};

TEST(Blake3, AContextHashesShortAndLongInputsAlike) {
  const Blake3Context context("cadastre/v1/test");
  Bytes bytes;
  for (int i = 0; i < 2100; ++i) {  // Across blocks of 64 and chunks of 1,024.
    ASSERT_EQ(context.hash(bytes), derive_key("cadastre/v1/test", bytes)) << i << " bytes";
    bytes.push_back(std::byte(i));
  }
  auto hasher = context.hasher();
  hasher.update(bytes);
  EXPECT_EQ(hasher.finalize(), context.hash(bytes));
}

TEST(Blake3, AgreesWithTheB3sumBinaryOnRandomFiles) {
  const RandomFiles files(20'200'109);
  const auto hashes = files.b3sum("");
  const auto keys = files.b3sum("--derive-key 'cadastre test context'");
  ASSERT_EQ(hashes.size(), files.contents().size());
  ASSERT_EQ(keys.size(), files.contents().size());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const Bytes& bytes = files.contents()[i];
    EXPECT_EQ(to_hex(blake3(bytes)), hashes[i]) << bytes.size() << " bytes";
    EXPECT_EQ(to_hex(derive_key("cadastre test context", bytes)), keys[i]) << bytes.size();
  }
}

}  // namespace
}  // namespace cadastre::base
