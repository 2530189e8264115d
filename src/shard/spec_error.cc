#include "shard/spec_error.h"

#include <string_view>

#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

std::string_view code_name(const SpecError& error) noexcept {
  switch (error.code) {
    case SpecError::Code::kKeyTooLarge: return "key_too_large";
    case SpecError::Code::kMetadataTooLarge: return "metadata_too_large";
    case SpecError::Code::kInvertedRange: return "inverted_range";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const SpecError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case SpecError::Code::kKeyTooLarge:
      if (error.which == SpecError::Bound::kStart) out.text("start ");
      if (error.which == SpecError::Bound::kEnd) out.text("end ");
      return out.text("key of ")
          .number(error.first)
          .text(" bytes exceeds the limit of ")
          .number(error.second)
          .end();
    case SpecError::Code::kMetadataTooLarge:
      return out.text("metadata of ")
          .number(error.first)
          .text(" bytes exceeds the limit of ")
          .number(error.second)
          .end();
    case SpecError::Code::kInvertedRange:
      return out.text("start (")
          .number(error.first)
          .text(" bytes) is not below end (")
          .number(error.second)
          .text(" bytes)")
          .end();
  }
  return out.end();
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
