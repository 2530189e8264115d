// stored(): a kv answer at the table's boundary, with its error translated (3.9).

#pragma once

#include <type_traits>
#include <utility>

#include "base/result.h"
#include "bitmap/error.h"
#include "kv/error.h"

namespace cadastre::bitmap {

template <class T>
[[nodiscard]] base::Result<T, Error> stored(base::Result<T, kv::Error> answer) {
  if (!answer) return base::fail(from_storage(answer.error()));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*answer);
  }
}

}  // namespace cadastre::bitmap
