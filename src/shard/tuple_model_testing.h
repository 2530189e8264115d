// Tuples as plain owned trees, with the order that people mean: a model for TupleKey.

#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "shard/key_buf.h"
#include "shard/tuple_key.h"

namespace cadastre::shard {

struct ModelElement {
  using Kind = TupleElement::Kind;

  Kind kind = Kind::kNull;
  bool boolean = false;
  double float64 = 0;
  TupleInteger integer;
  base::Bytes content;                 // kBytes, kText
  std::vector<ModelElement> elements;  // kTuple

  // Floats by their bits, so that -0 is not +0 and a NaN equals itself.
  friend bool operator==(const ModelElement& a, const ModelElement& b) {
    return a.kind == b.kind && a.boolean == b.boolean && a.integer == b.integer &&
           std::bit_cast<std::uint64_t>(a.float64) == std::bit_cast<std::uint64_t>(b.float64) &&
           a.content == b.content && a.elements == b.elements;
  }
};

using ModelTuple = std::vector<ModelElement>;

// Null, bytes, text, tuples, integers, floats, booleans: in this order.
[[nodiscard]] constexpr int model_rank(TupleElement::Kind kind) noexcept {
  switch (kind) {
    case TupleElement::Kind::kNull: return 0;
    case TupleElement::Kind::kBytes: return 1;
    case TupleElement::Kind::kText: return 2;
    case TupleElement::Kind::kTuple: return 3;
    case TupleElement::Kind::kInteger: return 4;
    case TupleElement::Kind::kFloat64: return 5;
    case TupleElement::Kind::kBoolean: return 6;
  }
  return -1;
}

[[nodiscard]] constexpr std::strong_ordering compare_integers(TupleInteger a,
                                                              TupleInteger b) noexcept {
  if (a.negative != b.negative) return b.negative <=> a.negative;
  return a.negative ? b.magnitude <=> a.magnitude : a.magnitude <=> b.magnitude;
}

// IEEE 754 totalOrder: by sign, then by magnitude, which grows away from zero.
[[nodiscard]] constexpr std::strong_ordering compare_total(double a, double b) noexcept {
  const auto a_bits = std::bit_cast<std::uint64_t>(a);
  const auto b_bits = std::bit_cast<std::uint64_t>(b);
  const bool a_negative = a_bits >> 63 != 0;
  const bool b_negative = b_bits >> 63 != 0;
  if (a_negative != b_negative) return b_negative <=> a_negative;
  return a_negative ? b_bits <=> a_bits : a_bits <=> b_bits;
}

// Bounded by the depth of the tuples, which the tests keep small.
// NOLINTNEXTLINE(misc-no-recursion)
[[nodiscard]] inline std::strong_ordering compare_tuples(const ModelTuple& a, const ModelTuple& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    auto order = model_rank(a[i].kind) <=> model_rank(b[i].kind);
    if (order == 0) order = base::compare(a[i].content, b[i].content);
    if (order == 0) order = compare_tuples(a[i].elements, b[i].elements);
    if (order == 0) order = compare_integers(a[i].integer, b[i].integer);
    if (order == 0) order = compare_total(a[i].float64, b[i].float64);
    if (order == 0) order = a[i].boolean <=> b[i].boolean;
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

// Whether `tuple` has all of `head`'s elements and then at least one more.
[[nodiscard]] inline bool continues(const ModelTuple& tuple, const ModelTuple& head) {
  if (tuple.size() <= head.size()) return false;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (!(tuple[i] == head[i])) return false;
  }
  return true;
}

// The model as borrowed elements; keep both alive.
class BorrowedTuple {
 public:
  explicit BorrowedTuple(const ModelTuple& model) : elements_(borrow(model)) {}

  [[nodiscard]] TupleKey key() const noexcept { return {elements_}; }

 private:
  // NOLINTNEXTLINE(misc-no-recursion)
  std::span<const TupleElement> borrow(const ModelTuple& model) {
    std::vector<TupleElement> elements;
    for (const ModelElement& element : model) {
      TupleElement borrowed;
      borrowed.kind = element.kind;
      borrowed.boolean_value = element.boolean;
      borrowed.float_value = element.float64;
      borrowed.integer_value = element.integer;
      borrowed.content = element.content;
      if (element.kind == TupleElement::Kind::kTuple) borrowed.elements = borrow(element.elements);
      elements.push_back(borrowed);
    }
    return storage_.emplace_back(std::move(elements));
  }

  std::deque<std::vector<TupleElement>> storage_;
  std::span<const TupleElement> elements_;
};

// Nothing when it does not fit a KeyBuf.
[[nodiscard]] inline std::optional<base::Bytes> encode_model(const ModelTuple& model) {
  const BorrowedTuple borrowed(model);
  KeyBuf out;
  if (!borrowed.key().try_encode_into(out)) return std::nullopt;
  return base::to_owned(out.view());
}

[[nodiscard]] inline ModelElement model_of(const TupleToken& token, TupleElement::Kind kind) {
  ModelElement element;
  element.kind = kind;
  element.boolean = token.boolean_value;
  element.float64 = token.float_value;
  element.integer = token.integer_value;
  KeyBuf content;
  if (unescape_into(token.escaped, content)) element.content = base::to_owned(content.view());
  return element;
}

// The innermost open tuple becomes the last element of the one around it.
inline void close_tuple(const TupleToken& token, std::vector<ModelTuple>& open) {
  ModelElement element = model_of(token, TupleElement::Kind::kTuple);
  element.elements = std::move(open.back());
  open.pop_back();
  open.back().push_back(std::move(element));
}

// Reads a whole tuple through TupleReader; nothing when the reader refuses.
[[nodiscard]] inline std::optional<ModelTuple> decode_model(base::ByteView encoded) {
  using Kind = TupleElement::Kind;
  TupleReader reader(encoded);
  std::vector<ModelTuple> open(1);
  while (true) {
    const auto token = reader.next();
    if (!token) return std::nullopt;
    switch (token->kind) {
      case TupleToken::Kind::kEnd: return open.front();
      case TupleToken::Kind::kNull: open.back().push_back(model_of(*token, Kind::kNull)); break;
      case TupleToken::Kind::kBytes: open.back().push_back(model_of(*token, Kind::kBytes)); break;
      case TupleToken::Kind::kText: open.back().push_back(model_of(*token, Kind::kText)); break;
      case TupleToken::Kind::kInteger:
        open.back().push_back(model_of(*token, Kind::kInteger));
        break;
      case TupleToken::Kind::kFloat64:
        open.back().push_back(model_of(*token, Kind::kFloat64));
        break;
      case TupleToken::Kind::kBoolean:
        open.back().push_back(model_of(*token, Kind::kBoolean));
        break;
      case TupleToken::Kind::kBeginTuple: open.emplace_back(); break;
      case TupleToken::Kind::kEndTuple: close_tuple(*token, open); break;
    }
  }
}

}  // namespace cadastre::shard
