#include "log/storage/wal_scan.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

constexpr std::uint64_t kSetBytesMax = 1U << 20U;

// Writes the format of the header's table, by its words.
class WalWriter {
 public:
  WalWriter& batch(std::uint64_t sequence, std::uint32_t count, std::size_t body_bytes) {
    std::string payload(kWalBatchHeaderBytes + body_bytes, 'x');
    const auto to = reinterpret_cast<std::byte*>(payload.data());
    base::store_le(to, sequence);
    base::store_le(to + sizeof sequence, count);
    return record(payload);
  }

  WalWriter& record(std::string payload) {
    for (bool is_first = true;; is_first = false) {
      std::size_t left = kWalBlockBytes - bytes_.size() % kWalBlockBytes;
      if (left < kWalHeaderBytes) {
        bytes_.append(left, '\0');
        left = kWalBlockBytes;
      }
      const std::size_t size = std::min(payload.size(), left - kWalHeaderBytes);
      const bool is_last = size == payload.size();
      const char type = is_first ? (is_last ? '\1' : '\2') : (is_last ? '\4' : '\3');
      part(type, payload.substr(0, size));
      payload.erase(0, size);
      if (is_last) return *this;
    }
  }

  WalWriter& part(char type, const std::string& payload) {
    const std::string summed = type + payload;
    std::string header(kWalHeaderBytes - 1, '\0');
    const auto to = reinterpret_cast<std::byte*>(header.data());
    base::store_le(to, std::rotr(base::crc32c(base::as_bytes(summed)), 15) + 0xa282ead8U);
    base::store_le(to + 4, static_cast<std::uint16_t>(payload.size()));
    bytes_ += header + summed;
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What RocksDB 7.8.3 wrote for Put("a", "b") as its first operation.
constexpr std::string_view kGolden = "d31c3ec71100010100000000000000010000000101610162";

struct Judged {
  std::vector<std::string> files;

  [[nodiscard]] base::Result<WalTail, WalDamage> operator()(
      std::uint64_t set_bytes_max = kSetBytesMax) const {
    std::vector<base::ByteView> views;
    views.reserve(files.size());
    for (const std::string& file : files)
      views.push_back(base::as_bytes(file));
    return judge_wals(views, set_bytes_max);
  }
};

std::string three_sets() {
  return WalWriter().batch(1, 0, 0).batch(1, 2, 50).batch(3, 4, 50).batch(7, 1, 50).bytes();
}

TEST(WalScan, ReadsWhatRocksDbWrote) {
  const auto bytes = base::from_hex(kGolden);
  ASSERT_TRUE(bytes.has_value());
  const WalScan scan = scan_wal(*bytes, 0);
  EXPECT_FALSE(scan.fault.has_value());
  EXPECT_EQ(scan.batches, 1U);
  EXPECT_EQ(scan.next_sequence, 2U);
}

TEST(WalScan, FollowsBatchesThroughBlocks) {
  const std::string file = WalWriter().batch(1, 2, 40000).batch(3, 1, 70000).bytes();
  const WalScan scan = scan_wal(base::as_bytes(file), 1);
  EXPECT_FALSE(scan.fault.has_value());
  EXPECT_EQ(scan.batches, 2U);
  EXPECT_EQ(scan.bytes, file.size());
  EXPECT_EQ(scan.next_sequence, 4U);
}

TEST(WalScan, GathersABatchHeaderThatABlockDivides) {
  for (std::size_t left = 0; left < 30; ++left) {
    const std::size_t body = kWalBlockBytes - left - kWalEmptyBatchBytes;
    const std::string file = WalWriter().batch(1, 1, body).batch(2, 5, 9).bytes();
    const WalScan scan = scan_wal(base::as_bytes(file), 0);
    EXPECT_FALSE(scan.fault.has_value()) << left;
    EXPECT_EQ(scan.next_sequence, 7U) << left;
  }
}

TEST(WalScan, NamesTheFaultAndItsPlace) {
  const std::string good = WalWriter().batch(1, 1, 5).bytes();
  const auto fault_of = [&](const std::string& behind) {
    const std::string file = good + behind;
    const WalScan scan = scan_wal(base::as_bytes(file), 0);
    EXPECT_TRUE(scan.fault && scan.fault->offset == good.size());
    return scan.fault ? std::string(name(scan.fault->kind)) : "none";
  };
  const std::string next = WalWriter().batch(2, 1, 5).bytes();
  EXPECT_EQ(fault_of(next.substr(0, 3)), "short");
  EXPECT_EQ(fault_of(next.substr(0, 20)), "short");
  EXPECT_EQ(fault_of(WalWriter().part('\2', "the rest is missing").bytes()), "short");
  EXPECT_EQ(fault_of(std::string("\1\1\1\1\xff\xff\1", 7) + next), "length");
  EXPECT_EQ(fault_of(std::string("\1\1\1\1\1\0\1x", 8)), "checksum");
  EXPECT_EQ(fault_of(std::string(40, '\0')), "type");
  EXPECT_EQ(fault_of(WalWriter().part('\5', "recycled").bytes()), "type");
  EXPECT_EQ(fault_of(WalWriter().part('\3', "no first part").bytes()), "part");
  EXPECT_EQ(fault_of(WalWriter().part('\2', "no last part").bytes() + next), "part");
  EXPECT_EQ(fault_of(WalWriter().part('\1', "small").bytes()), "batch");
  EXPECT_EQ(fault_of(WalWriter().batch(3, 1, 5).bytes()), "sequence");
}

TEST(JudgeWals, TakesEveryCutOfTheLastSetForTorn) {  // L-24
  const std::string file = three_sets();
  const std::size_t begin = file.size() - kWalEmptyBatchBytes - 50;
  for (std::size_t at = begin + 1; at < file.size(); ++at) {
    const auto tail = Judged{{file.substr(0, at)}}();
    ASSERT_TRUE(tail && tail->torn) << at;
    EXPECT_EQ(tail->ends, std::vector<std::uint64_t>{begin});
    EXPECT_EQ(tail->batches, 3U);
  }
}

TEST(JudgeWals, TakesEveryOtherBitForDamage) {  // L-48
  const std::string file = three_sets();
  const std::size_t last = file.size() - kWalEmptyBatchBytes - 50;
  for (std::size_t bit = 0; bit < last * 8; ++bit) {
    std::string flipped = file;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(Judged{{flipped}}().has_value()) << bit;
  }
}

TEST(JudgeWals, WantsEarlierFilesWhole) {
  const std::string next = WalWriter().batch(8, 1, 50).bytes();
  EXPECT_TRUE(Judged({{three_sets(), next}})().has_value());
  std::string torn = three_sets();
  torn.pop_back();
  const auto judged = Judged{{torn, next}}();
  ASSERT_FALSE(judged.has_value());
  EXPECT_EQ(judged.error().file, 0U);
}

TEST(JudgeWals, LetsAnEmptyFileFollowATornOne) {
  std::string torn = three_sets();
  torn.pop_back();
  const std::string empty = WalWriter().batch(7, 0, 0).bytes();
  for (const std::string& behind : {std::string(), empty, empty.substr(0, 4)}) {
    const auto tail = Judged{{torn, behind}}();
    ASSERT_TRUE(tail && tail->torn);
    EXPECT_EQ(tail->torn->file, 0U);
    EXPECT_EQ(tail->ends.size(), 2U);
  }
}

TEST(JudgeWals, LetsFlushedFilesBeMissingBetweenOthers) {
  const std::string later = WalWriter().batch(100, 1, 50).bytes();
  EXPECT_TRUE(Judged({{three_sets(), later}})().has_value());
  EXPECT_FALSE(Judged({{later, three_sets()}})().has_value());
}

TEST(JudgeWals, TakesMoreThanASetForDamage) {
  std::string file = three_sets();
  file.append(1000, '\0');
  EXPECT_TRUE(Judged{{file}}(1000).has_value());
  EXPECT_FALSE(Judged{{file}}(999).has_value());
}

TEST(JudgeWals, TakesNoFilesForAnEmptyLog) {
  const auto tail = Judged{{}}();
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->batches, 0U);
}

TEST(JudgeManifest, CutsTheTailAndRefusesDamageBeforeIt) {
  const std::string whole = WalWriter().record("edit 1").record("edit 2").record("3").bytes();
  const std::size_t begin = whole.size() - kWalHeaderBytes - 1;
  EXPECT_EQ(judge_manifest(base::as_bytes(whole)), whole.size());
  for (std::size_t at = begin; at < whole.size(); ++at) {
    std::string zeros = whole;
    std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(at), zeros.end(), '\0');
    EXPECT_EQ(judge_manifest(base::as_bytes(zeros)), begin) << at;
  }
  for (std::size_t at = 0; at < begin; ++at) {
    std::string spoiled = whole;
    spoiled[at] = static_cast<char>(spoiled[at] + 1);
    EXPECT_FALSE(judge_manifest(base::as_bytes(spoiled)).has_value()) << at;
  }
}

}  // namespace
}  // namespace cadastre::log
