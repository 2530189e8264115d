#include "bitmap/container.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/container_convert.h"
#include "bitmap/container_edit.h"
#include "bitmap/container_ops.h"
#include "bitmap/container_testing.h"
#include "bitmap/faults.h"
#include "bitmap/limits.h"
#include "bitmap/value_model_testing.h"
#include "shard/hexrun_testing.h"

namespace cadastre::bitmap {
namespace {

using testing::OwnedContainer;
using testing::Shape;
using testing::shapes;
using testing::slots_of;

// Slots at and around the ends of runs and words, and those of the shape's own edges.
std::vector<std::uint16_t> probes(const model::Slots& slots) {
  std::vector<std::uint16_t> all{0, 1, 2, 62, 63, 64, 65, 127, 128, 4095, 32767, 65534, 65535};
  for (const std::uint16_t edge : {*slots.begin(), *slots.rbegin()}) {
    for (const int step : {-1, 0, 1})
      all.push_back(static_cast<std::uint16_t>(edge + step));
  }
  return all;
}

std::string bytes_shown(const ContainerView& container) {
  return shard::shown(container.bytes);
}

// 6.1: each kind at each cardinality.
TEST(Container, AnswersAsASetDoes) {
  for (const Shape& shape : shapes()) {
    for (const ContainerKind kind : testing::kinds_for(shape.slots)) {
      const OwnedContainer one(shape.slots, kind);
      SCOPED_TRACE(shape.name);
      const std::vector<std::uint16_t> sorted(shape.slots.begin(), shape.slots.end());
      EXPECT_TRUE(validate(one.view).has_value());
      EXPECT_EQ(min_slot(one.view), sorted.front());
      EXPECT_EQ(max_slot(one.view), sorted.back());
      EXPECT_EQ(count_runs(one.view), model::runs_of(shape.slots).size());
      EXPECT_EQ(slots_of(one.view), shape.slots);
      for (const std::uint16_t slot : probes(shape.slots)) {
        const auto behind = std::ranges::upper_bound(sorted, slot);
        EXPECT_EQ(rank(one.view, slot), behind - sorted.begin()) << slot;
        EXPECT_EQ(contains(one.view, slot), shape.slots.contains(slot)) << slot;
      }
      for (const std::size_t index : {std::size_t{0}, sorted.size() / 2, sorted.size() - 1})
        EXPECT_EQ(select(one.view, static_cast<std::uint32_t>(index)), sorted[index]);
      EXPECT_EQ(select(one.view, one.view.cardinality), std::nullopt);
    }
  }
}

// B-12
TEST(Container, CanonicalIsTheSmallest) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto kind = model::kind_of(shape.slots, model::RunUse::kWhereSmaller);
    const OwnedContainer wanted(shape.slots, kind);
    for (const ContainerKind from : testing::kinds_for(shape.slots)) {
      if (from == ContainerKind::kRun && model::runs_of(shape.slots).size() > 2047) continue;
      const OwnedContainer one(shape.slots, from);
      ContainerBuffer buffer;
      const ContainerView found = canonical(one.view, buffer);
      EXPECT_EQ(found.kind, kind);
      EXPECT_EQ(found.cardinality, shape.slots.size());
      EXPECT_EQ(bytes_shown(found), bytes_shown(wanted.view));
    }
  }
}

// B-12: ties prefer the array, then the bitset.
TEST(Container, TiesPreferArrayThenBitset) {
  EXPECT_EQ(canonical_kind(1, 1), ContainerKind::kArray);  // 2 and 6 bytes
  EXPECT_EQ(canonical_kind(3, 1), ContainerKind::kArray);  // 6 and 6 bytes
  EXPECT_EQ(canonical_kind(4, 1), ContainerKind::kRun);    // 8 and 6 bytes
  EXPECT_EQ(canonical_kind(4096, 2047), ContainerKind::kRun);
  EXPECT_EQ(canonical_kind(4096, 2048), ContainerKind::kArray);
  EXPECT_EQ(canonical_kind(4097, 2048), ContainerKind::kBitset);
  EXPECT_EQ(canonical_kind(65536, 1), ContainerKind::kRun);
}

// B-14: one slot in or out of a canonical container gives the canonical container.
TEST(Container, EditsStayCanonical) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    model::Slots after = shape.slots;
    const OwnedContainer one(after, model::kind_of(after, model::RunUse::kWhereSmaller));
    for (const std::uint16_t slot : probes(shape.slots)) {
      ContainerBuffer buffer;
      const bool is_new = after.insert(slot).second;
      if (!is_new) after.erase(slot);
      const ContainerView edited =
          is_new ? insert_slot(one.view, slot, buffer) : remove_slot(one.view, slot, buffer);
      ASSERT_EQ(edited.cardinality, after.size()) << slot;
      if (!after.empty()) {
        const OwnedContainer wanted(after, model::kind_of(after, model::RunUse::kWhereSmaller));
        ASSERT_EQ(edited.kind, wanted.view.kind) << slot;
        ASSERT_EQ(bytes_shown(edited), bytes_shown(wanted.view)) << slot;
      }
      if (is_new) {
        after.erase(slot);
      } else {
        after.insert(slot);
      }
    }
  }
}

using model::SlotList;

struct SetOperation {
  const char* name;
  ContainerView (*on_containers)(const ContainerView&,
                                 const ContainerView&,
                                 ContainerBuffer&) noexcept;
  SlotList (*on_sets)(const SlotList&, const SlotList&);
};

const std::vector<SetOperation>& set_operations() {
  static const std::vector<SetOperation> kAll = {
      {"unite", unite,
       [](const SlotList& a, const SlotList& b) {
         SlotList out;
         std::ranges::set_union(a, b, std::back_inserter(out));
         return out;
       }},
      {"intersect", intersect,
       [](const SlotList& a, const SlotList& b) {
         SlotList out;
         std::ranges::set_intersection(a, b, std::back_inserter(out));
         return out;
       }},
      {"subtract", subtract,
       [](const SlotList& a, const SlotList& b) {
         SlotList out;
         std::ranges::set_difference(a, b, std::back_inserter(out));
         return out;
       }},
      {"symmetric_difference", symmetric_difference,
       [](const SlotList& a, const SlotList& b) {
         SlotList out;
         std::ranges::set_symmetric_difference(a, b, std::back_inserter(out));
         return out;
       }},
  };
  return kAll;
}

std::vector<Shape> operands() {
  std::vector<Shape> all = {
      {"one", {77}},
      {"few", {1, 2, 3, 500, 65535}},
      {"array of odds", testing::spaced(3000, 1, 2)},
      {"array of evens", testing::spaced(3000, 0, 2)},
      {"full array", testing::spaced(4096, 5, 3)},
      {"bitset", testing::spaced(9000, 1, 7)},
      {"half", testing::spaced(32768, 0, 2)},
      {"range", testing::spaced(20000, 30000, 1)},
      {"short range", testing::spaced(100, 490, 1)},
      {"all", testing::spaced(65536, 0, 1)},
  };
  return all;
}

// The operands, each as every kind it can be.
struct Operand {
  std::string name;
  SlotList slots;
  std::unique_ptr<OwnedContainer> container;
};

std::vector<Operand> as_containers(const std::vector<Shape>& all) {
  std::vector<Operand> containers;
  for (const Shape& shape : all) {
    for (const ContainerKind kind : testing::kinds_for(shape.slots))
      containers.push_back({shape.name,
                            {shape.slots.begin(), shape.slots.end()},
                            std::make_unique<OwnedContainer>(shape.slots, kind)});
  }
  return containers;
}

TEST(ContainerOps, AnswerAsSetsDo) {
  const std::vector<Operand> containers = as_containers(operands());
  for (const SetOperation& operation : set_operations()) {
    for (const Operand& a : containers) {
      for (const Operand& b : containers) {
        SCOPED_TRACE(operation.name + (": " + a.name) + ", " + b.name);
        const SlotList wanted = operation.on_sets(a.slots, b.slots);
        ContainerBuffer buffer;
        const ContainerView found =
            operation.on_containers(a.container->view, b.container->view, buffer);
        ASSERT_EQ(found.cardinality, wanted.size());
        if (wanted.empty()) continue;
        ASSERT_TRUE(validate(found).has_value());
        ASSERT_EQ(found.chunk, testing::kSomeChunk);
        ASSERT_TRUE(base::equal(found.bytes, model::container(wanted, found.kind)));
      }
    }
  }
}

TEST(ContainerOps, CountIntersections) {
  const std::vector<Operand> containers = as_containers(operands());
  for (const Operand& a : containers) {
    for (const Operand& b : containers) {
      const auto wanted = set_operations()[1].on_sets(a.slots, b.slots).size();
      EXPECT_EQ(intersection_cardinality(a.container->view, b.container->view), wanted)
          << a.name << ", " << b.name;
      EXPECT_EQ(intersects(a.container->view, b.container->view), wanted > 0);
    }
  }
}

// B-28
TEST(Container, ValidateFindsWhatIsWrong) {
  struct Case {
    const char* what;
    ContainerKind kind;
    std::uint32_t cardinality;
    const char* bytes;
    ValueFault fault;
  };
  const std::vector<Case> cases = {
      {"a slot twice", ContainerKind::kArray, 2, "05000500", ValueFault::kUnorderedSlots},
      {"slots descend", ContainerKind::kArray, 3, "010007000600", ValueFault::kUnorderedSlots},
      {"a bit too few", ContainerKind::kBitset, 4097, "(ff*512)(00*7680)",
       ValueFault::kCardinalityDiffers},
      {"no runs", ContainerKind::kRun, 1, "0000", ValueFault::kEmptyContainer},
      {"runs touch", ContainerKind::kRun, 4, "02000100010003000100", ValueFault::kBadRuns},
      {"runs overlap", ContainerKind::kRun, 4, "02000100010002000100", ValueFault::kBadRuns},
      {"runs descend", ContainerKind::kRun, 4, "02000900010001000100", ValueFault::kBadRuns},
      {"a run leaves the chunk", ContainerKind::kRun, 2, "0100ffff0100", ValueFault::kBadRuns},
      {"runs of another sum", ContainerKind::kRun, 3, "010005000100",
       ValueFault::kCardinalityDiffers},
  };
  for (const Case& each : cases) {
    const base::Bytes bytes = shard::hex(each.bytes);
    const auto found = validate({0, each.cardinality, each.kind, bytes});
    ASSERT_FALSE(found.has_value()) << each.what;
    EXPECT_EQ(name(found.error().code), name(each.fault)) << each.what;
  }
}

// B-28: content that is not valid gives wrong answers and nothing worse (the sanitizers look on).
TEST(Container, DamageStaysInside) {
  base::Bytes ones(kContainerBytesMax, std::byte{0xff});
  base::Bytes runs(run_bytes(65535), std::byte{0xff});
  const std::vector<ContainerView> damaged = {
      {0, 4096, ContainerKind::kArray, ones},
      {0, 5000, ContainerKind::kBitset, ones},
      {0, 12, ContainerKind::kRun, runs},
      {0, 65536, ContainerKind::kRun, runs},
  };
  for (const ContainerView& a : damaged) {
    EXPECT_FALSE(validate(a).has_value());
    EXPECT_FALSE(contains(a, 0) && !contains(a, 65535));
    (void)select(a, 70);
    (void)rank(a, 65535);
    EXPECT_FALSE(slots_of(a).empty());
    for (const ContainerView& b : damaged) {
      for (const SetOperation& operation : set_operations()) {
        ContainerBuffer buffer;
        const ContainerView found = operation.on_containers(a, b, buffer);
        EXPECT_LE(found.bytes.size(), kContainerBytesMax);
        EXPECT_LE(found.cardinality, kSlotsPerChunk);
      }
    }
  }
}

TEST(SlotReader, ReadsInBlocksOfAnySize) {
  const model::Slots slots = testing::spaced(5000, 3, 1);
  for (const ContainerKind kind : {ContainerKind::kBitset, ContainerKind::kRun}) {
    const OwnedContainer one(slots, kind);
    for (const std::size_t block : {1U, 3U, 1024U, 5000U, 6000U}) {
      SlotReader reader(one.view);
      std::vector<std::uint16_t> buffer(block);
      std::vector<std::uint16_t> all;
      while (const std::size_t count = reader.read(buffer))
        all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
      EXPECT_TRUE(std::ranges::equal(all, slots)) << block;
    }
  }
}

}  // namespace
}  // namespace cadastre::bitmap
