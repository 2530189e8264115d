// Draws tuples of every element kind for properties, small enough to collide.

#pragma once

#include <bit>
#include <cstddef>
#include <utility>

#include "shard/property_testing.h"
#include "shard/tuple_key.h"
#include "shard/tuple_model_testing.h"

namespace cadastre::shard {

inline constexpr std::size_t kModelDepthMax = 3;

[[nodiscard]] ModelTuple any_tuple(std::size_t depth = 0);

// NOLINTNEXTLINE(misc-no-recursion): at most kModelDepthMax deep
[[nodiscard]] inline ModelElement any_element(std::size_t depth) {
  using Kind = TupleElement::Kind;
  ModelElement element;
  switch (dice(depth < kModelDepthMax ? 8 : 6)) {
    case 0: break;
    case 1:
      element.kind = Kind::kBytes;
      element.content = any_bytes(2);
      break;
    case 2:
      element.kind = Kind::kText;
      element.content = any_bytes(2);
      break;
    case 3:
      element.kind = Kind::kInteger;
      element.integer.magnitude = any_u64();
      element.integer.negative = element.integer.magnitude != 0 && dice(2) == 0;
      break;
    case 4:
      element.kind = Kind::kFloat64;
      element.float64 = std::bit_cast<double>(any_u64());
      break;
    case 5:
      element.kind = Kind::kBoolean;
      element.boolean = dice(2) == 0;
      break;
    default:
      element.kind = Kind::kTuple;
      element.elements = any_tuple(depth + 1);
      break;
  }
  return element;
}

// NOLINTNEXTLINE(misc-no-recursion): as above
[[nodiscard]] inline ModelTuple any_tuple(std::size_t depth) {
  ModelTuple tuple;
  const std::size_t size = dice(4);
  for (std::size_t i = 0; i < size; ++i)
    tuple.push_back(any_element(depth));
  return tuple;
}

// A tuple that shares a beginning with `tuple`, often all of it.
[[nodiscard]] inline ModelTuple tuple_near(const ModelTuple& tuple) {
  if (dice(4) == 0) return any_tuple();
  ModelTuple other = tuple;
  if (dice(2) == 0) other.resize(dice(tuple.size() + 1));
  for (ModelElement& element : any_tuple())
    other.push_back(std::move(element));
  // Strings that differ only behind a zero byte are what escaping is for.
  if (dice(2) == 0) {
    for (ModelElement& element : other)
      if (element.kind == TupleElement::Kind::kBytes) element.content.push_back(std::byte{0});
  }
  return other;
}

}  // namespace cadastre::shard
