#include "shard/typed_keys.h"

#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/result.h"
#include "shard/key_encoding.h"
#include "shard/limits.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

static_assert(KeyEncoding<PathKey> && KeyEncoding<ManifestRowKey> && KeyEncoding<U32Key> &&
              KeyEncoding<U64Key> && KeyEncoding<I64Key> && KeyEncoding<F64Key> &&
              KeyEncoding<BytesKey> && FallibleKeyEncoding<BytesKey>);

std::string_view code_name(const PathKeyError& error) noexcept {
  switch (error.code) {
    case PathKeyError::Code::kPathEmpty: return "path_empty";
    case PathKeyError::Code::kPathTooLarge: return "path_too_large";
    case PathKeyError::Code::kPathNotUtf8: return "path_not_utf8";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const PathKeyError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case PathKeyError::Code::kPathEmpty: return out.text("a path is not empty").end();
    case PathKeyError::Code::kPathTooLarge:
      return out.text("path of ")
          .number(error.size)
          .text(" bytes exceeds the limit of ")
          .number(error.max)
          .end();
    case PathKeyError::Code::kPathNotUtf8:
      return out.text("path is not UTF-8 at byte ").number(error.size).end();
  }
  return out.end();
}

PathKey::PathKey(std::string_view path) noexcept : text_(path) {
  CAD_CHECK(!path.empty(), "a path key is not empty");
  CAD_CHECK(path.size() <= kMaxKeySize, "a path key is at most kMaxKeySize bytes");
}

Result<PathKey, PathKeyError> PathKey::try_make(std::string_view path) noexcept {
  using Code = PathKeyError::Code;
  if (path.empty()) return base::fail(PathKeyError{Code::kPathEmpty});
  if (path.size() > kMaxKeySize) {
    return base::fail(PathKeyError{Code::kPathTooLarge, path.size(), kMaxKeySize});
  }
  return PathKey(path, Trusted{});
}

Result<PathKey, PathKeyError> PathKey::try_make_utf8(std::string_view path) noexcept {
  const PathKey key = CAD_TRY(try_make(path));
  if (const auto offset = base::find_invalid_utf8(base::as_bytes(path))) {
    return base::fail(PathKeyError{PathKeyError::Code::kPathNotUtf8, *offset});
  }
  return key;
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
