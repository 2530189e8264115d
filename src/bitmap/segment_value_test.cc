// the same walk through the SegmentValue seam for the product's value and for the test value.

#include "bitmap/segment_value.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "bitmap/cut_plan.h"
#include "bitmap/fixed_set_testing.h"
#include "bitmap/ids.h"
#include "bitmap/segment_edit.h"
#include "bitmap/segment_form.h"

namespace cadastre::bitmap {
namespace {

template <class Value>
class SegmentValues : public ::testing::Test {};
using Values = ::testing::Types<RoaringValue, testing::FixedSetValue>;
TYPED_TEST_SUITE(SegmentValues, Values);

template <SegmentValue Value>
std::set<std::uint64_t> members(base::ByteView value) {
  const auto view = Value::View::open(value, ReadCheck::kChecksum);
  EXPECT_TRUE(view.has_value());
  EXPECT_TRUE(view->check_contents().has_value());
  std::set<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < view->cardinality(); ++i)
    ids.insert(view->select(i)->value());
  return ids;
}

TYPED_TEST(SegmentValues, GrowIsCutAndIsJoinedAgain) {
  typename TypeParam::Edit edit;
  std::set<std::uint64_t> model{3};
  ASSERT_EQ(edit.insert(Id{3}), Effect::kChanged);
  base::Bytes value = base::to_owned(edit.emit());
  for (std::uint64_t i = 1; i < 600; ++i) {
    const Id id{i * 7919 % 1000 * 30011};
    const bool is_new = model.insert(id.value()).second;
    const auto effect = edit.load_and_insert(value, id);
    ASSERT_TRUE(effect.has_value());
    ASSERT_EQ(*effect, is_new ? Effect::kChanged : Effect::kUnchanged);
    if (is_new) value = base::to_owned(edit.emit());
  }
  EXPECT_EQ(members<TypeParam>(value), model);

  ASSERT_TRUE(edit.load(value).has_value());
  EXPECT_EQ(edit.size_bytes(), value.size());
  const std::size_t limit = value.size() * 2 / 3;
  const CutPlan plan = edit.plan(limit, {});
  ASSERT_EQ(plan.parts.size(), 2U);
  const Id fence = plan.parts[1].fence;
  const base::Bytes left = base::to_owned(edit.emit(plan.parts[0].containers));
  const base::Bytes right = base::to_owned(edit.emit(plan.parts[1].containers));
  for (const std::uint64_t id : members<TypeParam>(left))
    EXPECT_LT(id, fence.value());
  for (const std::uint64_t id : members<TypeParam>(right))
    EXPECT_GE(id, fence.value());

  const auto right_view = TypeParam::View::open(right, ReadCheck::kChecksum);
  ASSERT_TRUE(edit.load(left).has_value());
  ASSERT_TRUE(edit.append_containers(*right_view).has_value());
  EXPECT_TRUE(base::equal(edit.emit(), value));
  const auto left_view = TypeParam::View::open(left, ReadCheck::kChecksum);
  ASSERT_TRUE(edit.load(right).has_value());
  ASSERT_TRUE(edit.prepend_containers(*left_view).has_value());
  EXPECT_TRUE(base::equal(edit.emit(), value));
}

TYPED_TEST(SegmentValues, ShrinkToNothing) {
  typename TypeParam::Edit edit;
  const std::vector<Id> ids{Id{1}, Id{2}, Id{70000}, Id{70001}, Id{5000000}};
  ASSERT_EQ(edit.merge(ids, SetOp::kAdd), Effect::kChanged);
  base::Bytes value = base::to_owned(edit.emit());
  EXPECT_EQ(*edit.load_and_merge(value, IdRange{Id{2}, Id{70000}}, SetOp::kRemove),
            Effect::kChanged);
  EXPECT_EQ(edit.cardinality(), 3U);
  EXPECT_EQ(edit.loaded_cardinality(), 5U);
  value = base::to_owned(edit.emit());
  for (const std::uint64_t id : {1U, 70001U}) {
    ASSERT_EQ(*edit.load_and_remove(value, Id{id}), Effect::kChanged);
    value = base::to_owned(edit.emit());
  }
  EXPECT_EQ(members<TypeParam>(value), std::set<std::uint64_t>{5000000});
  EXPECT_EQ(*edit.load_and_remove(value, Id{5000000}), Effect::kEmptied);
  EXPECT_TRUE(edit.empty());
}

}  // namespace
}  // namespace cadastre::bitmap
