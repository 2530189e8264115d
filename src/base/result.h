// Result: a value, or an error that says what the caller can do.
//
// Result<T, E> is std::expected. Where E is an enum, the error carries a sentence for people beside
// the code: Result<T, Code> is std::expected<T, Error<Code>>. Any other E is stored as it is; the
// plain structs of `shard` and the codecs allocate nothing on their error paths.
//
//   Result<Lease, AcquireError> acquire(...) {
//     auto record = CAD_TRY(read(shard));                  // passes on an error of the same type
//     if (held(record)) return fail(AcquireError::kHeldByOther, "until the lease ends");
//     return Lease{...};
//   }

#pragma once

#include <expected>
#include <string>
#include <type_traits>
#include <utility>

namespace cadastre::base {

// A code for programs and a detail for people. Two errors are equal when their codes are.
template <class Code>
  requires std::is_enum_v<Code>
struct Error {
  Code code;
  std::string detail;

  friend bool operator==(const Error& a, const Error& b) noexcept { return a.code == b.code; }
};

template <class E>
struct ErrorTypeOf {
  using Type = E;
};
template <class E>
  requires std::is_enum_v<E>
struct ErrorTypeOf<E> {
  using Type = Error<E>;
};

template <class T, class E>
using Result = std::expected<T, typename ErrorTypeOf<E>::Type>;

template <class Code>
  requires std::is_enum_v<Code>
[[nodiscard]] std::unexpected<Error<Code>> fail(Code code, std::string detail = {}) {
  return std::unexpected<Error<Code>>(Error<Code>{code, std::move(detail)});
}

template <class E>
  requires(!std::is_enum_v<E>)
[[nodiscard]] constexpr std::unexpected<E> fail(E error) noexcept {
  return std::unexpected<E>(std::move(error));
}

}  // namespace cadastre::base

// The value of a Result, or return its error from the enclosing function. Works for void and for
// move-only values.
#define CAD_TRY(expression)                                                                   \
  __extension__({                                                                             \
    auto&& cad_try_result = (expression);                                                     \
    if (!cad_try_result) [[unlikely]]                                                         \
      return std::unexpected(std::forward<decltype(cad_try_result)>(cad_try_result).error()); \
    *std::forward<decltype(cad_try_result)>(cad_try_result);                                  \
  })
