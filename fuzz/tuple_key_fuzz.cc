// Tuple keys: any bytes either are refused or are exactly what writing their tokens gives; any two
// lists of elements encode in their logical order, and the children of one are found by its range.
//
// Input: the bytes to read as a tuple; the same bytes again as choices of two lists.

#include "shard/tuple_key.h"

#include <algorithm>
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
#include "base/check.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"

namespace cadastre::fuzz {
namespace {

using base::Bytes;
using base::ByteView;
using shard::TupleElement;
using shard::TupleToken;

// Strings that no KeyBuf holds are left out: then the input is too long for one, too.
void write_string(const TupleToken& token, shard::TupleWriter& out) {
  shard::KeyBuf content;
  const bool fits = shard::unescape_into(token.escaped, content);
  if (!fits) {
    CAD_CHECK(token.escaped.size() > shard::kKeyBufCapacity, "what is short fits");
    return;
  }
  if (token.kind == TupleToken::Kind::kText) {
    out.text(base::as_text(content.view()));
  } else {
    out.bytes(content.view());
  }
}

void write_token(const TupleToken& token, shard::TupleWriter& out) {
  switch (token.kind) {
    case TupleToken::Kind::kEnd: break;
    case TupleToken::Kind::kNull: out.null(); break;
    case TupleToken::Kind::kBytes:
    case TupleToken::Kind::kText: write_string(token, out); break;
    case TupleToken::Kind::kBeginTuple: out.begin_tuple(); break;
    case TupleToken::Kind::kEndTuple: out.end_tuple(); break;
    case TupleToken::Kind::kInteger: out.integer(token.integer_value); break;
    case TupleToken::Kind::kFloat64: out.float64(token.float_value); break;
    case TupleToken::Kind::kBoolean: out.boolean(token.boolean_value); break;
  }
}

// Reads to the end, or to the first error, and writes what it reads.
std::optional<shard::TupleError> rewrite(ByteView input, shard::TupleWriter& out) {
  shard::TupleReader reader(input);
  while (true) {
    const auto token = reader.next();
    CAD_CHECK(reader.depth() <= shard::kTupleDepthMax, "depth is bounded");
    if (!token) return token.error();
    if (token->kind == TupleToken::Kind::kEnd) return std::nullopt;
    write_token(*token, out);
  }
}

void check_bytes(ByteView input) {
  shard::KeyBuf buffer;
  shard::TupleWriter writer(buffer);
  const auto error = rewrite(input, writer);
  const auto valid = shard::validate_tuple(input);
  CAD_CHECK(valid.has_value() == !error, "what can be read to its end is valid");
  if (error) {
    CAD_CHECK(valid.error() == *error, "validation fails where reading does");
    CAD_CHECK(error->offset <= input.size(), "an error points into the input");
    return;
  }
  if (input.size() > shard::kKeyBufCapacity) return;
  CAD_CHECK(writer.ok(), "what was read can be written");
  CAD_CHECK(base::equal(buffer.view(), input), "and is written as it was: one form for each tuple");
}

// A tree of elements. The deques keep what the views point to where it is.
class Forest {
 public:
  // About `budget` elements in all, down to `depth` levels below this one.
  std::span<const TupleElement> any_list(Input& in, std::size_t depth) {
    std::vector<TupleElement> elements;
    for (std::size_t left = in.below(5); left > 0 && budget_ > 0; --left) {
      --budget_;
      elements.push_back(any_element(in, depth));
    }
    return lists_.emplace_back(std::move(elements));
  }

 private:
  TupleElement any_element(Input& in, std::size_t depth) {
    switch (in.below(8)) {
      case 0: return TupleElement::null();
      case 1: return TupleElement::bytes(strings_.emplace_back(in.string(kStringMax)));
      case 2:
        return TupleElement::text(base::as_text(strings_.emplace_back(in.string(kStringMax))));
      case 3: return TupleElement::boolean(in.below(2) == 1);
      case 4: return TupleElement::float64(std::bit_cast<double>(in.number()));
      case 5: {
        const bool negative = in.below(2) == 1;
        const std::uint64_t magnitude = in.number();
        return TupleElement::integer({negative && magnitude != 0, magnitude});
      }
      case 6: return chain(in);
      default:
        return depth == 0 ? TupleElement::null() : TupleElement::tuple(any_list(in, depth - 1));
    }
  }

  // Tuples in tuples, around the limit.
  TupleElement chain(Input& in) {
    TupleElement element = TupleElement::tuple({});
    for (std::size_t left = in.below(10); left > 0; --left) {
      const std::vector<TupleElement> one{element};
      element = TupleElement::tuple(lists_.emplace_back(one));
    }
    return element;
  }

  static constexpr std::size_t kStringMax = 4200;

  std::size_t budget_ = 40;
  std::deque<Bytes> strings_;
  std::deque<std::vector<TupleElement>> lists_;
};

using Elements = std::span<const TupleElement>;

// What the encoding of a list takes, or nothing if it nests deeper than is allowed.
std::optional<std::size_t> expected_size(Elements list, std::size_t depth);

std::optional<std::size_t> expected_size(const TupleElement& element, std::size_t depth) {
  switch (element.kind) {
    case TupleElement::Kind::kNull: return depth == 0 ? 1 : 2;
    case TupleElement::Kind::kBytes:
    case TupleElement::Kind::kText:
      return 2 + element.content.size() +
             static_cast<std::size_t>(std::ranges::count(element.content, std::byte{0}));
    case TupleElement::Kind::kInteger: {
      std::size_t size = 1;
      for (auto rest = element.integer_value.magnitude; rest != 0; rest >>= 8)
        ++size;
      return size;
    }
    case TupleElement::Kind::kFloat64: return 9;
    case TupleElement::Kind::kBoolean: return 1;
    case TupleElement::Kind::kTuple: {
      if (depth == 8) return std::nullopt;
      const auto inner = expected_size(element.elements, depth + 1);
      return inner ? std::optional(2 + *inner) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> expected_size(Elements list, std::size_t depth) {
  std::size_t sum = 0;
  for (const TupleElement& element : list) {
    const auto size = expected_size(element, depth);
    if (!size) return std::nullopt;
    sum += *size;
  }
  return sum;
}

// Null, bytes, text, tuples, integers, floats, booleans.
int rank(TupleElement::Kind kind) {
  switch (kind) {
    case TupleElement::Kind::kNull: return 0;
    case TupleElement::Kind::kBytes: return 1;
    case TupleElement::Kind::kText: return 2;
    case TupleElement::Kind::kTuple: return 3;
    case TupleElement::Kind::kInteger: return 4;
    case TupleElement::Kind::kFloat64: return 5;
    case TupleElement::Kind::kBoolean: return 6;
  }
  return 7;
}

std::strong_ordering compare_integers(shard::TupleInteger a, shard::TupleInteger b) {
  if (a.negative != b.negative) return b.negative <=> a.negative;
  return a.negative ? b.magnitude <=> a.magnitude : a.magnitude <=> b.magnitude;
}

// IEEE totalOrder: by sign, then by magnitude bits, which fall for negative numbers.
std::strong_ordering compare_floats(double a, double b) {
  const auto split = [](double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return shard::TupleInteger{bits >> 63 != 0, bits & ~(std::uint64_t{1} << 63)};
  };
  return compare_integers(split(a), split(b));
}

std::strong_ordering compare_lists(Elements a, Elements b);

std::strong_ordering compare_elements(const TupleElement& a, const TupleElement& b) {
  if (a.kind != b.kind) return rank(a.kind) <=> rank(b.kind);
  switch (a.kind) {
    case TupleElement::Kind::kNull: break;
    case TupleElement::Kind::kBytes:
    case TupleElement::Kind::kText:
      return std::lexicographical_compare_three_way(a.content.begin(), a.content.end(),
                                                    b.content.begin(), b.content.end());
    case TupleElement::Kind::kTuple: return compare_lists(a.elements, b.elements);
    case TupleElement::Kind::kInteger: return compare_integers(a.integer_value, b.integer_value);
    case TupleElement::Kind::kFloat64: return compare_floats(a.float_value, b.float_value);
    case TupleElement::Kind::kBoolean: return a.boolean_value <=> b.boolean_value;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compare_lists(Elements a, Elements b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const auto order = compare_elements(a[i], b[i]);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

// The encoding, after checking that it exists exactly when it should and reads back.
std::optional<Bytes> encode(Elements list) {
  shard::KeyBuf buffer;
  const bool encoded = shard::TupleKey{list}.try_encode_into(buffer);
  const auto size = expected_size(list, 0);
  CAD_CHECK(encoded == (size && *size <= shard::kKeyBufCapacity),
            "a tuple encodes exactly if it fits");
  CAD_CHECK(buffer.size() == (encoded ? *size : 0), "to the size it takes, or to nothing");
  if (!encoded) return std::nullopt;
  check_bytes(buffer.view());
  CAD_CHECK(shard::validate_tuple(buffer.view()).has_value(), "what was encoded is valid");
  return base::to_owned(buffer.view());
}

void check_children(Elements parent, Elements other, const Bytes& key) {
  shard::TupleRangeScratch scratch;
  const auto range = shard::tuple_children_range({parent}, scratch);
  if (!range) return;
  const bool child =
      parent.size() < other.size() && compare_lists(parent, other.first(parent.size())) == 0;
  CAD_CHECK(shard::contains_key(*range, key) == child, "a range of children holds exactly them");
}

void check_lists(Input in) {
  Forest forest;
  const Elements a = forest.any_list(in, 4);
  std::vector<TupleElement> longer;
  if (in.below(2) == 0) longer.assign(a.begin(), a.end());
  const Elements tail = forest.any_list(in, 4);
  longer.insert(longer.end(), tail.begin(), tail.end());
  const Elements b = longer;

  const auto a_key = encode(a);
  const auto b_key = encode(b);
  if (!a_key || !b_key) return;
  CAD_CHECK((*a_key <=> *b_key) == compare_lists(a, b), "bytes order as the tuples do");
  check_children(a, b, *b_key);
  check_children(b, a, *a_key);
}

}  // namespace

void run_one(ByteView input) {
  check_bytes(input);
  check_lists(Input(input));
}

}  // namespace cadastre::fuzz
