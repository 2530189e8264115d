#include "client/pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "client/limits.h"
#include "coord/errors.h"

namespace cadastre::client {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Told = std::expected<Numbers, coord::InfraError>;
using Asked = Page<std::uint64_t>;

std::uint64_t itself(const std::uint64_t& number) {
  return number;
}

// The numbers 1 to `size`, in pages.
struct Shelf {
  std::uint64_t size = 0;
  std::vector<Asked> asked = {};

  Told page(const Asked& wanted) {
    asked.push_back(wanted);
    Numbers numbers;
    for (std::uint64_t i = wanted.after.value_or(0) + 1; i <= size && numbers.size() < wanted.limit;
         ++i)
      numbers.push_back(i);
    return numbers;
  }
};

template <class Answer>
Told fetch(std::size_t limit, std::optional<std::uint64_t> after, Answer answer) {
  std::optional<Told> came;
  fetch_pages<std::uint64_t, std::uint64_t, coord::InfraError>(
      {.limit = limit, .after = after, .id_of = itself},
      [answer](const Asked& page, auto told) { told(answer(page)); },
      [&came](Told told) { came = std::move(told); });
  return came.value();
}

TEST(FetchPages, TellsWhatIsWantedInOrder) {
  struct Case {
    const char* what;
    std::size_t limit;
    std::uint64_t size;
    std::size_t listed;
    std::size_t pages;
  };
  for (const Case& row :
       {Case{"nothing is there", 5'000, 0, 0, 1}, Case{"all on one page", 5'000, 999, 999, 1},
        Case{"a full page may be followed by an empty one", 5'000, 1'000, 1'000, 2},
        Case{"three pages", 5'000, 2'500, 2'500, 3},
        Case{"no page behind the last that is wanted", 2'000, 2'500, 2'000, 2},
        Case{"part of a page", 1'001, 2'500, 1'001, 2},
        Case{"nothing is wanted", 0, 2'500, 0, 1}}) {
    Shelf shelf{.size = row.size};
    const Told told =
        fetch(row.limit, {}, [&shelf](const Asked& page) { return shelf.page(page); });
    ASSERT_TRUE(told) << row.what;
    EXPECT_EQ(told->size(), row.listed) << row.what;
    EXPECT_TRUE(std::ranges::equal(*told, shelf.page({.limit = row.listed}).value())) << row.what;
    EXPECT_EQ(shelf.asked.size(), row.pages + 1) << row.what;
    for (std::size_t i = 0; i < row.pages; ++i) {
      EXPECT_GE(shelf.asked[i].limit, 1U) << row.what;
      EXPECT_LE(shelf.asked[i].limit, kListLimitMax) << row.what;
    }
  }
}

TEST(FetchPages, BeginsBehindWhatWasNamed) {
  Shelf shelf{.size = 1'500};
  const Told told = fetch(5'000, 300, [&shelf](const Asked& page) { return shelf.page(page); });
  EXPECT_EQ(told->front(), 301U);
  EXPECT_EQ(told->size(), 1'200U);
}

TEST(FetchPages, TellsNoHalfList) {
  Shelf shelf{.size = 2'500};
  const Told told = fetch(5'000, {}, [&shelf](const Asked& page) -> Told {
    if (shelf.asked.size() == 2) return std::unexpected(coord::transient("call", "away"));
    return shelf.page(page);
  });
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error(), coord::transient("call", "away"));
}

TEST(FetchPages, DoesNotAskWithoutEnd) {
  const Told told =
      fetch(1'000'000, {}, [](const Asked&) -> Told { return Numbers(kListLimitMax, 7); });
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().kind, coord::InfraError::Kind::kRefused);
}

TEST(FetchPages, TakesNoMoreThanIsWantedOfAPageThatIsTooLong) {
  const Told told = fetch(3, {}, [](const Asked&) -> Told { return Numbers{1, 2, 3, 4, 5}; });
  EXPECT_EQ(*told, (Numbers{1, 2, 3}));
}

}  // namespace
}  // namespace cadastre::client
