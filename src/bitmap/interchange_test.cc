// Interchange (6.5): files that other implementations wrote are read, and ours are the stored ones, which
// the others have read (tests/interchange/check). What a file must hold is worked out from the rules in
// tests/interchange/sets.txt, never from a file.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <roaring/roaring.h>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/bitmap_database.h"
#include "bitmap/error.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/segment_view.h"
#include "bitmap/table_model_testing.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "bitmap/value_model_testing.h"
#include "kv/memory_testing.h"

namespace cadastre::bitmap {
namespace {

namespace fs = std::filesystem;
using model::Ids;
using testing::must;
using Sets = std::map<std::string, Ids>;

const fs::path kFolder = CADASTRE_SOURCE_DIR "/tests/interchange";
const fs::path kFiles = kFolder / "files";
const std::vector<std::string> kMakers = {"croaring-0.2.66", "go",   "java",
                                          "pyroaring",       "rust", "rust-0.10"};
constexpr std::size_t kSets = 8;

// ---- The sets ----------------------------------------------------------------------------------

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void apply_rule(Ids& ids, const std::string& rule, std::istringstream& words) {
  std::uint64_t first = 0;
  std::uint64_t step = 0;
  std::uint64_t count = 0;
  if (rule == "random" && words >> first >> count) {
    for (; count > 0; --count)
      ids.insert(splitmix64(first));
  } else if (rule == "add" && words >> first >> step >> count) {
    for (; count > 0; --count, first += step)
      ids.insert(ids.end(), first);
  } else if (rule == "remove" && words >> first >> step >> count) {
    for (; count > 0; --count, first += step)
      ids.erase(first);
  } else {
    EXPECT_EQ(rule, "optimise");  // Says nothing about members.
  }
}

Sets read_sets() {
  Sets sets;
  Ids* ids = nullptr;
  std::ifstream file(kFolder / "sets.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string rule;
    if (!(words >> rule) || rule == "#") continue;
    if (rule == "set") {
      std::string name;
      words >> name;
      ids = &sets[name];
    } else {
      apply_rule(*ids, rule, words);
    }
  }
  EXPECT_EQ(sets.size(), kSets);
  return sets;
}

// ---- Files and members -------------------------------------------------------------------------

base::Bytes read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  const std::string content(std::istreambuf_iterator<char>(file), {});
  return base::to_owned(base::as_bytes(content));
}

base::Bytes file_of(const std::string& maker, const std::string& name) {
  return read_file(kFiles / maker / (name + ".bin"));
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) names.insert(entry.path().stem());
  }
  return names;
}

Bitmap bitmap_of(const Ids& ids) {
  Bitmap bitmap;
  for (const std::uint64_t id : ids)
    bitmap.add(Id{id});
  return bitmap;
}

Bitmap bitmap_from(const base::Bytes& portable) {
  auto bitmap = Bitmap::from_portable(portable);
  if (bitmap) return *std::move(bitmap);
  ADD_FAILURE() << name(bitmap.error().code);
  return {};
}

bool has_exactly(const Bitmap& bitmap, const Ids& ids) {
  return bitmap.cardinality() == ids.size() &&
         std::ranges::equal(bitmap, ids, {}, [](Id id) { return id.value(); });
}

// Runs `check` on every set as every other implementation wrote it.
void for_each_foreign_file(const auto& check) {
  const Sets sets = read_sets();
  for (const std::string& maker : kMakers) {
    EXPECT_EQ(names_in(kFiles / maker).size(), kSets) << maker;
    for (const auto& [name, ids] : sets) {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, maker + "/" + name);
      check(maker, name, ids);
    }
  }
}

std::string our_name(const std::string& set, Runs runs) {
  return runs == Runs::kAllowed ? set : set + ".noruns";
}

// ---- What others wrote -------------------------------------------------------------------------

TEST(Interchange, FilesOfOthersHoldTheirMembers) {
  for_each_foreign_file([](const std::string& maker, const std::string& name, const Ids& ids) {
    const Bitmap bitmap = bitmap_from(file_of(maker, name));
    EXPECT_TRUE(has_exactly(bitmap, ids));
    EXPECT_TRUE(bitmap == bitmap_of(ids));  // B-32: no trace of an empty inner bitmap.
  });
}

TEST(Interchange, FilesOfOthersGoIntoATable) {
  constexpr DatabaseConfig kTinySegments{.new_tables = {.segment_bytes_max = 1024}};
  constexpr std::size_t kBytesMax = 1 << 20;
  const auto database = must(BitmapDatabase::open(kv::open_memory_store(), kTinySegments));
  for_each_foreign_file([&](const std::string& maker, const std::string& name, const Ids& ids) {
    const base::Bytes key = base::to_owned(base::as_bytes(name));
    const Bitmap foreign = bitmap_from(file_of(maker, name));
    must(database->write(maker, [&](TableWriter& table) -> Result<void, Error> {
      EXPECT_EQ(CAD_TRY(table.unite(key, foreign)), ids.size());
      return {};
    }));
    must(database->read(maker, [&](const TableReader& table) -> Result<void, Error> {
      EXPECT_TRUE(has_exactly(CAD_TRY(table.get(key, kBytesMax)), ids));
      EXPECT_TRUE(CAD_TRY(table.verify(key, 10)).empty());
      return {};
    }));
  });
}

// The libraries agree on every byte, except: roaring-rs 0.10 has no run containers to write, and CRoaring
// 0.2.66 keeps an inner bitmap after its last member was removed.
TEST(Interchange, LibrariesDifferOnlyWhereStated) {
  for_each_foreign_file([](const std::string& maker, const std::string& name, const Ids& ids) {
    const Runs runs = maker == "rust-0.10" ? Runs::kNone : Runs::kAllowed;
    const bool is_empty_map_kept = maker == "croaring-0.2.66" && name == "emptied";
    EXPECT_EQ(file_of(maker, name) == bitmap_of(ids).to_portable(runs), !is_empty_map_kept);
  });
}

// A cut anywhere is noticed.
TEST(Interchange, PrefixesAreRefused) {
  for_each_foreign_file([](const std::string& maker, const std::string& name, const Ids&) {
    const base::Bytes whole = file_of(maker, name);
    const std::size_t step = whole.size() < 1000 ? 1 : 97;
    for (std::size_t size = 0; size < whole.size(); size += step) {
      const base::Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(Bitmap::from_portable(cut).has_value()) << size;
    }
  });
}

struct OddCase {
  std::string_view what;
  std::string_view file;
  ValueFault fault;
};

TEST(Interchange, RefusesWhatIsNotPortable) {
  const std::vector<OddCase> cases = {
      {"Java's form from before the portable one", "java/legacy/top", ValueFault::kBadCookie},
      {"Java's portable form of a map of signed longs", "java/signed/top",
       ValueFault::kUnorderedHigh},
      {"Java's Roaring64Bitmap, a radix tree", "java/art/top", ValueFault::kBadCookie},
      {"a byte too many, which all others ignore", "odd/trailing", ValueFault::kTrailingBytes},
      {"a byte too few", "odd/truncated", ValueFault::kTruncated},
      {"an upper half twice: the last wins elsewhere", "odd/repeated_high",
       ValueFault::kUnorderedHigh},
      {"upper halves that descend", "odd/descending_high", ValueFault::kUnorderedHigh},
  };
  for (const OddCase& odd : cases) {
    const auto bitmap = Bitmap::from_portable(file_of("", std::string(odd.file)));
    ASSERT_FALSE(bitmap.has_value()) << odd.what;
    EXPECT_EQ(name(bitmap.error().code), name(odd.fault)) << odd.what;
  }
}

// B-32: dropped in exchange, refused in a stored segment.
TEST(Interchange, EmptyInnerBitmapsAreForExchangeOnly) {
  const std::map<std::string, Ids> cases = {
      {"odd/empty_maps", {(std::uint64_t{1} << 32) + 5}},
      {"croaring-0.2.66/emptied", read_sets().at("emptied")},
  };
  for (const auto& [file, ids] : cases) {
    const base::Bytes portable = file_of("", file);
    EXPECT_TRUE(has_exactly(bitmap_from(portable), ids)) << file;
    base::Bytes segment = {std::byte{0x01}};
    segment.insert(segment.end(), portable.begin(), portable.end());
    EXPECT_FALSE(SegmentView::open(segment).has_value()) << file;
  }
}

// ---- What we write -----------------------------------------------------------------------------

// A difference leaves the new bytes in a file, to be looked at and stored.
void expect_stored(const base::Bytes& ours, const std::string& name) {
  const fs::path stored = kFiles / "cadastre" / (name + ".bin");
  if (fs::exists(stored) && read_file(stored) == ours) return;
  const fs::path folder = fs::path(::testing::TempDir()) / "cadastre_interchange";
  fs::create_directories(folder);
  std::ofstream file(folder / stored.filename(), std::ios::binary);
  file.write(reinterpret_cast<const char*>(ours.data()), static_cast<std::streamsize>(ours.size()));
  ADD_FAILURE() << name << " is written otherwise than stored; see " << folder;
}

TEST(Interchange, OursAreTheStoredBytes) {
  std::set<std::string> names;
  for (const auto& [set, ids] : read_sets()) {
    for (const Runs runs : {Runs::kAllowed, Runs::kNone}) {
      const std::string name = our_name(set, runs);
      names.insert(name);
      expect_stored(bitmap_of(ids).to_portable(runs), name);
    }
  }
  EXPECT_EQ(names_in(kFiles / "cadastre"), names);
}

// By way of a foreign file too: bytes depend on the set alone.
TEST(Interchange, ForeignSetsLeaveAsTheStoredBytes) {
  for_each_foreign_file([](const std::string& maker, const std::string& name, const Ids&) {
    const Bitmap foreign = bitmap_from(file_of(maker, name));
    for (const Runs runs : {Runs::kAllowed, Runs::kNone})
      EXPECT_TRUE(foreign.to_portable(runs) == file_of("cadastre", our_name(name, runs)));
  });
}

struct RoaringFree {
  void operator()(roaring_bitmap_t* bitmap) const noexcept { roaring_bitmap_free(bitmap); }
};
using Roaring = std::unique_ptr<roaring_bitmap_t, RoaringFree>;

template <typename Number>
Number take(std::string_view& from) {
  Number number = 0;
  if (from.size() < sizeof(number)) {
    ADD_FAILURE() << "the bytes end too early";
    return number;
  }
  std::memcpy(&number, from.data(), sizeof(number));
  from.remove_prefix(sizeof(number));
  return number;
}

// A reader of the outer layer for well-formed files, with CRoaring for the inner bitmaps.
Ids read_with_croaring(const base::Bytes& bytes) {
  std::string_view left(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Ids ids;
  for (auto maps = take<std::uint64_t>(left); maps > 0; --maps) {
    const std::uint64_t high = take<std::uint32_t>(left);
    const std::string aligned(left);
    const Roaring inner(roaring_bitmap_portable_deserialize_safe(aligned.data(), aligned.size()));
    if (inner == nullptr) {
      ADD_FAILURE() << "CRoaring refuses the bitmap of " << high;
      return ids;
    }
    left.remove_prefix(roaring_bitmap_portable_deserialize_size(aligned.data(), aligned.size()));
    std::vector<std::uint32_t> lows(roaring_bitmap_get_cardinality(inner.get()));
    roaring_bitmap_to_uint32_array(inner.get(), lows.data());
    for (const std::uint32_t low : lows)
      ids.insert(ids.end(), high << 32 | low);
  }
  EXPECT_TRUE(left.empty());
  return ids;
}

TEST(Interchange, CRoaringReadsOurs) {
  for (const auto& [set, ids] : read_sets()) {
    for (const Runs runs : {Runs::kAllowed, Runs::kNone})
      EXPECT_TRUE(read_with_croaring(file_of("cadastre", our_name(set, runs))) == ids) << set;
  }
}

// Older Rust readers refuse the cookie of run containers, whatever stands behind it.
TEST(Interchange, NoRunsMeansNoRunCookie) {
  constexpr std::uint16_t kCookieRuns = 12347;
  for (const std::string_view set : {"runs", "mixed"}) {
    for (const Runs runs : {Runs::kAllowed, Runs::kNone}) {
      const base::Bytes bytes = file_of("cadastre", our_name(std::string(set), runs));
      std::string_view left(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      take<std::uint64_t>(left);
      take<std::uint32_t>(left);
      EXPECT_EQ(take<std::uint16_t>(left) == kCookieRuns, runs == Runs::kAllowed) << set;
    }
  }
}

}  // namespace
}  // namespace cadastre::bitmap
