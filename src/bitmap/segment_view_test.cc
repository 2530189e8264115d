#include "bitmap/segment_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/container.h"
#include "bitmap/container_testing.h"
#include "bitmap/faults.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"
#include "bitmap/segment_form.h"
#include "bitmap/segment_testing.h"
#include "bitmap/value_model_testing.h"
#include "shard/hexrun_testing.h"

namespace cadastre::bitmap {
namespace {

using model::Ids;
using model::RunUse;
using shard::hex;

void expect_refused(const base::Bytes& value,
                    ValueFault fault,
                    ReadCheck check = ReadCheck::kChecksum) {
  const auto view = SegmentView::open(value, check);
  ASSERT_FALSE(view.has_value()) << shard::shown(value);
  EXPECT_EQ(name(view.error().code), name(fault)) << shard::shown(value);
}

// Every way to store a set: canonical or not, with and without a checksum.
std::vector<base::Bytes> encodings(const Ids& ids) {
  std::vector<base::Bytes> all;
  for (const RunUse use : {RunUse::kWhereSmaller, RunUse::kNever, RunUse::kAlways}) {
    const base::Bytes payload = model::portable(ids, use);
    all.push_back(model::unsealed(1, payload));
    all.push_back(model::sealed(1, payload));
  }
  if (ids.size() <= kPackedIdsMax) {
    all.push_back(model::unsealed(2, model::packed(ids)));
    all.push_back(model::sealed(2, model::packed(ids)));
  }
  return all;
}

void expect_point_reads(const SegmentView& view, const Ids& ids) {
  const std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
  EXPECT_EQ(view.cardinality(), sorted.size());
  EXPECT_EQ(view.min().value(), sorted.front());
  EXPECT_EQ(view.max().value(), sorted.back());
  for (const std::uint64_t id : testing::probes(ids)) {
    EXPECT_EQ(view.contains(Id{id}), ids.contains(id)) << id;
    const auto behind = std::ranges::upper_bound(sorted, id);
    EXPECT_EQ(view.rank(Id{id}), behind - sorted.begin()) << id;
  }
  for (const std::size_t index : {std::size_t{0}, sorted.size() / 3, sorted.size() - 1})
    EXPECT_EQ(view.select(index), Id{sorted[index]});
  EXPECT_EQ(view.select(sorted.size()), std::nullopt);
}

void expect_walks(const SegmentView& view, const Ids& ids) {
  EXPECT_TRUE(testing::ids_of(view) == ids);
  EXPECT_TRUE(view.check_contents().has_value());
  std::vector<std::uint64_t> chunks;
  for (auto it = view.begin(); it != view.end(); ++it) {
    EXPECT_TRUE(chunks.empty() || chunks.back() < (*it).chunk);
    chunks.push_back((*it).chunk);
  }
  EXPECT_EQ(view.container_count(), chunks.size());
  ContainerBuffer buffer;
  for (std::size_t i = 0; i < chunks.size(); i += 1 + chunks.size() / 9) {
    const auto here = view.seek(chunks[i]);
    ASSERT_FALSE(here == view.end());
    EXPECT_EQ((*here).chunk, chunks[i]);
    const auto behind = view.seek(chunks[i] + 1);
    EXPECT_EQ(behind == view.end(), i + 1 == chunks.size());
    if (i + 1 < chunks.size()) {
      EXPECT_EQ((*behind).chunk, chunks[i + 1]);
    }
    EXPECT_EQ(view.floor(chunks[i], buffer)->chunk, chunks[i]);
    EXPECT_EQ(view.floor(chunks[i], buffer)->cardinality, (*here).cardinality);
    const bool has_lower = i > 0;
    const auto lower = chunks[i] == 0 ? std::nullopt : view.floor(chunks[i] - 1, buffer);
    EXPECT_EQ(lower.has_value(), has_lower);
    if (has_lower) {
      EXPECT_EQ(lower->chunk, chunks[i - 1]);
    }
  }
}

// 6.1: all forms of all kinds of sets, read where they lie.
TEST(SegmentView, AnswersAsASetDoes) {
  for (const auto& [what, ids] : testing::sets()) {
    SCOPED_TRACE(what);
    for (const base::Bytes& value : encodings(ids)) {
      for (const ReadCheck check : {ReadCheck::kChecksum, ReadCheck::kStructure}) {
        const auto view = SegmentView::open(value, check);
        ASSERT_TRUE(view.has_value()) << name(view.error().code);
        expect_point_reads(*view, ids);
      }
      expect_walks(*SegmentView::open(value), ids);
    }
  }
}

// 6.1: every container that a bitmap can have.
TEST(SegmentView, ABitmapOf65536Containers) {
  Ids ids;
  for (std::uint64_t chunk = 0; chunk < 65536; ++chunk)
    ids.insert(ids.end(), chunk << 16 | (chunk & 0xff));
  for (const RunUse use : {RunUse::kNever, RunUse::kAlways}) {
    const base::Bytes value = model::sealed(1, model::portable(ids, use));
    const auto view = SegmentView::open(value);
    ASSERT_TRUE(view.has_value()) << name(view.error().code);
    EXPECT_EQ(view->container_count(), 65536U);
    EXPECT_EQ(view->cardinality(), 65536U);
    EXPECT_TRUE(view->contains(Id{0xffff00ff}));
    EXPECT_FALSE(view->contains(Id{0xffff00fe}));
    EXPECT_EQ(view->select(65535), Id{0xffff00ff});
  }
}

// An iterator may be copied: each copy shows its own bytes.
TEST(SegmentView, CopiesOfAnIteratorAreIndependent) {
  const base::Bytes value = model::unsealed(2, model::packed({1, 70000, 70001, 200000}));
  const SegmentView view = *SegmentView::open(value);
  auto first = view.begin();
  const auto copy = first;
  ++first;
  EXPECT_EQ(slot_at((*copy).bytes, 0), 1);
  EXPECT_EQ(testing::slots_of(*first), (model::Slots{4464, 4465}));
}

// B-15, 6.1: every single-bit change and every truncation of a sealed value is found before parsing.
TEST(SegmentView, NoticesEveryFlippedBitAndEveryTruncation) {
  for (const auto& [what, ids] : testing::sets()) {
    if (ids.size() > 2000) continue;
    const base::Bytes packed = model::sealed(2, model::packed(ids));
    for (const base::Bytes& good :
         {packed, model::sealed(1, model::portable(ids, RunUse::kWhereSmaller))}) {
      SCOPED_TRACE(what);
      const std::size_t bits = good.size() * 8;
      const std::size_t step = 1 + bits / 5000 * 7;
      for (std::size_t bit = 0; bit < bits; bit += bit < 512 ? 1 : step) {
        base::Bytes bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        const auto view = SegmentView::open(bad);
        ASSERT_FALSE(view.has_value()) << bit;
        // Another first byte is another form, which may have no checksum.
        if (bit >= 8) {
          ASSERT_EQ(view.error().code, ValueFault::kBadChecksum) << bit;
        }
      }
      for (std::size_t size = 1; size < good.size(); size += size < 64 ? 1 : 13) {
        expect_refused(base::Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)),
                       ValueFault::kBadChecksum);
      }
    }
  }
}

// 6.4: truncations without a checksum are found by the structure.
TEST(SegmentView, NoticesTruncationByStructure) {
  const Ids ids{1, 2, 3, 70000, 1ULL << 40};
  for (const base::Bytes& good : encodings(ids)) {
    for (std::size_t size = 0; size < good.size(); ++size) {
      const base::Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(SegmentView::open(cut, ReadCheck::kStructure).has_value()) << size;
    }
    base::Bytes longer = good;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(SegmentView::open(longer, ReadCheck::kStructure).has_value());
  }
}

// only the structure is looked at; a wrong checksum does not matter then.
TEST(SegmentView, StructureAloneIgnoresTheChecksum) {
  base::Bytes value = model::sealed(2, model::packed({42}));
  value.back() ^= std::byte{1};
  expect_refused(value, ValueFault::kBadChecksum);
  const auto view = SegmentView::open(value, ReadCheck::kStructure);
  ASSERT_TRUE(view.has_value());
  EXPECT_TRUE(view->contains(Id{42}));
  EXPECT_TRUE(view->is_sealed());
  expect_refused(hex("82000100"), ValueFault::kTruncated, ReadCheck::kStructure);
}

// B-15
TEST(SegmentView, KnowsFourForms) {
  expect_refused({}, ValueFault::kEmpty);
  for (unsigned form = 0; form < 256; ++form) {
    if (form == 1 || form == 2 || form == 0x81 || form == 0x82) continue;
    base::Bytes value = model::unsealed(2, model::packed({42}));
    value[0] = static_cast<std::byte>(form);
    expect_refused(value, ValueFault::kBadForm);
  }
}

struct Refusal {
  const char* what;
  std::string bytes;
  ValueFault fault;
};

// B-28, 2.4
TEST(SegmentView, RefusesPackedIdsThatAreNone) {
  const std::vector<Refusal> cases = {
      {"no header", "020001002a", ValueFault::kTruncated},
      {"no ids", "0200000000000000000000000000", ValueFault::kBadCount},
      {"a width for one id", "02010100 0a00000000000000", ValueFault::kBadWidth},
      {"no width for two", "02000200 0a00000000000000", ValueFault::kBadWidth},
      {"nine bytes", "02090200 0a00000000000000 010000000000000001", ValueFault::kBadWidth},
      {"a byte more than needed", "02020200 0a00000000000000 0100", ValueFault::kBadWidth},
      {"the first id twice", "02010200 0a00000000000000 00", ValueFault::kBadWidth},
      {"a difference cut short", "02020200 0a00000000000000 01", ValueFault::kTruncated},
      {"bytes behind", "02010200 0a00000000000000 0101", ValueFault::kTrailingBytes},
      {"ids past the last", "02010200 ffffffffffffffff 01", ValueFault::kUnorderedSlots},
  };
  for (const Refusal& each : cases) {
    SCOPED_TRACE(each.what);
    expect_refused(hex(testing::without_spaces(each.bytes)), each.fault);
  }
}

// B-28: the order of ids is for check_contents.
TEST(SegmentView, UnorderedIdsAreFoundByCheckContents) {
  const base::Bytes value =
      hex("0201040005000000000000000903"
          "0a");
  const auto view = SegmentView::open(value);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->check_contents().error().code, ValueFault::kUnorderedSlots);
}

// B-28, 2.3; 6.4's kept regressions are among them.
TEST(SegmentView, RefusesPortableBytesThatAreNone) {
  const std::string one_map = "01 0100000000000000 00000000 ";
  const std::vector<Refusal> cases = {
      {"no count", "01 01000000", ValueFault::kTruncated},
      {"no maps", "01 0000000000000000", ValueFault::kBadCount},
      {"2^64 - 1 maps", "01 ffffffffffffffff 00000000 3a300000 01000000 0000 0000 10000000 2a00",
       ValueFault::kTruncated},
      {"no high", "01 0100000000000000 0000", ValueFault::kTruncated},
      {"no cookie", one_map + "3a30", ValueFault::kTruncated},
      {"another cookie", one_map + "39300000 01000000 0000 0000 10000000 2a00",
       ValueFault::kBadCookie},
      {"a plain cookie with a count", one_map + "3a300100 01000000 0000 0000 10000000 2a00",
       ValueFault::kBadCookie},
      {"no containers", one_map + "3a300000 00000000", ValueFault::kBadCount},
      {"65537 containers", one_map + "3a300000 01000100 0000 0000 10000000 2a00",
       ValueFault::kBadCount},
      {"no room for headers", one_map + "3a300000 02000000 0000 0000 10000000 2a00",
       ValueFault::kTruncated},
      {"an offset before", one_map + "3a300000 01000000 0000 0000 0e000000 2a00",
       ValueFault::kBadOffset},
      {"an offset behind", one_map + "3a300000 01000000 0000 0000 12000000 2a00",
       ValueFault::kBadOffset},
      {"a container cut short", one_map + "3a300000 01000000 0000 0100 10000000 2a00",
       ValueFault::kTruncated},
      {"a bitset cut short", one_map + "3a300000 01000000 0000 0010 10000000 (ff*8191)",
       ValueFault::kTruncated},
      {"trailing bytes", one_map + "3a300000 01000000 0000 0000 10000000 2a00 00",
       ValueFault::kTrailingBytes},
      {"a key twice", one_map + "3a300000 02000000 0500 0000 0500 0000 18000000 1a000000 2a00 2b00",
       ValueFault::kUnorderedKey},
      {"a high twice",
       "01 0200000000000000 00000000 3a300000 01000000 0000 0000 10000000 2a00 "
       "00000000 3a300000 01000000 0000 0000 10000000 2a00",
       ValueFault::kUnorderedHigh},
      {"highs descend",
       "01 0200000000000000 01000000 3a300000 01000000 0000 0000 10000000 2a00 "
       "00000000 3a300000 01000000 0000 0000 10000000 2a00",
       ValueFault::kUnorderedHigh},
      {"no runs", one_map + "3b300000 01 0000 0000 0000", ValueFault::kEmptyContainer},
      {"no count of runs", one_map + "3b300000 01 0000 0000 00", ValueFault::kTruncated},
      {"runs cut short", one_map + "3b300000 01 0000 0000 0100 0000 00", ValueFault::kTruncated},
  };
  for (const Refusal& each : cases) {
    SCOPED_TRACE(each.what);
    expect_refused(hex(testing::without_spaces(each.bytes)), each.fault);
  }
}

// B-28: what the slots are is for check_contents, and point reads stay inside.
TEST(SegmentView, BadSlotsAreFoundByCheckContents) {
  const base::Bytes value = hex(testing::without_spaces(
      "01 0100000000000000 00000000 3a300000 01000000 0000 0100 10000000 0900 0300"));
  const auto view = SegmentView::open(value);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->check_contents().error().code, ValueFault::kUnorderedSlots);
  (void)view->contains(Id{3});
  (void)view->rank(Id{9});
}

}  // namespace
}  // namespace cadastre::bitmap
