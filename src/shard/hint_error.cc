// Names and texts of the hint codec's errors.

#include <string_view>

#include "shard/hint.h"
#include "shard/text_writer.h"
#include "shard/view_guard.h"

namespace cadastre::shard::inline CAD_SHARD_FLAVOUR {

std::string_view code_name(const HintEncodeError& error) noexcept {
  switch (error.code) {
    case HintEncodeError::Code::kInvertedManifestRows: return "inverted_manifest_rows";
    case HintEncodeError::Code::kPrefixTooLarge: return "prefix_too_large";
    case HintEncodeError::Code::kHintTooLarge: return "hint_too_large";
    case HintEncodeError::Code::kMetadataTooLarge: return "metadata_too_large";
  }
  return "unknown";
}

std::string_view code_name(const HintDecodeError& error) noexcept {
  switch (error.code) {
    case HintDecodeError::Code::kEmptyData: return "empty_data";
    case HintDecodeError::Code::kTruncatedPrefix: return "truncated_prefix";
    case HintDecodeError::Code::kTruncatedManifest: return "truncated_manifest";
    case HintDecodeError::Code::kInvertedManifestRows: return "inverted_manifest_rows";
    case HintDecodeError::Code::kUnknownTag: return "unknown_tag";
  }
  return "unknown";
}

std::string_view code_name(const MetadataDecodeError& error) noexcept {
  switch (error.reason) {
    case MetadataDecodeError::Reason::kShortLengthPrefix: return "short_length_prefix";
    case MetadataDecodeError::Reason::kLengthExceedsInput: return "length_exceeds_input";
    case MetadataDecodeError::Reason::kHint:
      return error.hint_error ? code_name(*error.hint_error) : "hint";
    case MetadataDecodeError::Reason::kTrailingHintBytes: return "trailing_hint_bytes";
  }
  return "unknown";
}

std::string_view code_name(const HintRangeError& error) noexcept {
  switch (error.code) {
    case HintRangeError::Code::kMetadataUndecodable:
      return error.metadata_error ? code_name(*error.metadata_error) : "metadata_undecodable";
    case HintRangeError::Code::kHintStartMismatch: return "hint_start_mismatch";
    case HintRangeError::Code::kHintEndMismatch: return "hint_end_mismatch";
    case HintRangeError::Code::kHintPrefixUnbounded: return "hint_prefix_unbounded";
  }
  return "unknown";
}

char* format_to(char* first, char* last, const HintEncodeError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case HintEncodeError::Code::kInvertedManifestRows:
      return out.text("start row ")
          .number(error.first)
          .text(" is not below end row ")
          .number(error.second)
          .end();
    case HintEncodeError::Code::kPrefixTooLarge: out.text("prefix of "); break;
    case HintEncodeError::Code::kHintTooLarge: out.text("hint of "); break;
    case HintEncodeError::Code::kMetadataTooLarge: out.text("metadata of "); break;
  }
  return out.number(error.first).text(" bytes exceeds the limit of ").number(error.second).end();
}

char* format_to(char* first, char* last, const HintDecodeError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case HintDecodeError::Code::kEmptyData: return out.text("the hint has no bytes").end();
    case HintDecodeError::Code::kTruncatedPrefix: out.text("prefix hint"); break;
    case HintDecodeError::Code::kTruncatedManifest: out.text("manifest hint"); break;
    case HintDecodeError::Code::kInvertedManifestRows:
      return out.text("start row ")
          .number(error.first)
          .text(" is not below end row ")
          .number(error.second)
          .end();
    case HintDecodeError::Code::kUnknownTag:
      return out.text("unknown hint tag ").number(error.first).end();
  }
  return out.text(" needs ").number(error.first).text(" bytes and has ").number(error.second).end();
}

char* format_to(char* first, char* last, const MetadataDecodeError& error) noexcept {
  TextWriter out(first, last);
  switch (error.reason) {
    case MetadataDecodeError::Reason::kShortLengthPrefix:
      return out.text("the envelope is shorter than its length field").end();
    case MetadataDecodeError::Reason::kLengthExceedsInput:
      return out.text("the envelope's hint is longer than the metadata").end();
    case MetadataDecodeError::Reason::kHint:
      out.text("the envelope's hint is malformed");
      if (error.hint_error) out.text(": ").error(*error.hint_error);
      return out.end();
    case MetadataDecodeError::Reason::kTrailingHintBytes:
      return out.text("the envelope's hint is shorter than its length field says").end();
  }
  return out.end();
}

char* format_to(char* first, char* last, const HintRangeError& error) noexcept {
  TextWriter out(first, last);
  switch (error.code) {
    case HintRangeError::Code::kMetadataUndecodable:
      out.text("the metadata does not decode");
      if (error.metadata_error) out.text(": ").error(*error.metadata_error);
      return out.end();
    case HintRangeError::Code::kHintStartMismatch:
      return out.text("the range does not begin where its hint says").end();
    case HintRangeError::Code::kHintEndMismatch:
      return out.text("the range does not end where its hint says").end();
    case HintRangeError::Code::kHintPrefixUnbounded:
      return out.text("no key is above every key with the hint's prefix").end();
  }
  return out.end();
}

}  // namespace cadastre::shard::inline CAD_SHARD_FLAVOUR
