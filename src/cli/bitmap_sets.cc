#include "cli/bitmap_sets.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/compact.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/key_cursor.h"
#include "bitmap/limits.h"
#include "bitmap/set_ops.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "cli/bitmap_answer.h"
#include "cli/bitmap_error.h"
#include "cli/bitmap_session.h"
#include "cli/command_error.h"
#include "cli/limits.h"

namespace cadastre::cli {
namespace {

using base::ByteView;
using bitmap::Id;
using bitmap::Stream;
using bitmap::TableReader;
using bitmap::TableWriter;

using Answer = Result<std::string, CommandError>;
using Done = Result<void, bitmap::Error>;

// The ids of a page, and the one behind them.
Result<IdsView, bitmap::Error> take_page(Stream stream, const IdPage& page) {
  const std::size_t limit = std::min(page.limit, kIdsLimitMax);
  const Stream behind = bitmap::within(std::move(stream), {page.from, bitmap::kIdMax});
  IdsView view;
  CAD_TRY(bitmap::for_each(*behind, [&](std::span<const Id> block) {
    const std::size_t taken = std::min(block.size(), limit - view.ids.size());
    view.ids.insert(view.ids.end(), block.begin(),
                    block.begin() + static_cast<std::ptrdiff_t>(taken));
    if (taken < block.size()) view.next = block[taken];
    return !view.next;
  }));
  return view;
}

Stream fold(SetKind kind, std::vector<Stream> operands) {
  switch (kind) {
    case SetKind::kAnd: return bitmap::all_of(std::move(operands));
    case SetKind::kOr: return bitmap::any_of(std::move(operands));
    case SetKind::kAndNot: {
      Stream first = std::move(operands.front());
      operands.erase(operands.begin());
      return bitmap::minus(std::move(first), bitmap::any_of(std::move(operands)));
    }
    case SetKind::kXor: break;
  }
  Stream sum = std::move(operands.front());
  for (Stream& operand : std::span(operands).subspan(1))
    sum = bitmap::either(std::move(sum), std::move(operand));
  return sum;
}

Result<Stream, bitmap::Error> combine(const TableReader& reader, const SetRequest& request) {
  std::vector<Stream> operands;
  operands.reserve(request.keys.size());
  for (const base::Bytes& key : request.keys)
    operands.push_back(CAD_TRY(reader.stream(key)));
  return fold(request.kind, std::move(operands));
}

}  // namespace

Result<void, CommandError> check_set_key(ByteView key) {
  if (key.size() <= bitmap::kBaseKeyBytesMax) return {};
  return base::fail(from_bitmap(bitmap::misuse(bitmap::Misuse::kKeyTooLong)));
}

Answer add_ids(BitmapSession& session, ByteView key, std::span<const Id> ids) {
  CAD_TRY(check_set_key(key));
  std::uint64_t changed = 0;
  CAD_TRY(session.write(AbsentTable::kMade, [&](TableWriter& writer) -> Done {
    changed = CAD_TRY(writer.insert_many(key, ids));
    return {};
  }));
  return added_answer(changed, session.form());
}

Answer remove_ids(BitmapSession& session, ByteView key, std::span<const Id> ids) {
  CAD_TRY(check_set_key(key));
  std::uint64_t changed = 0;
  CAD_TRY(session.write(AbsentTable::kSkipped, [&](TableWriter& writer) -> Done {
    changed = CAD_TRY(writer.remove_many(key, ids));
    return {};
  }));
  return removed_answer(changed, session.form());
}

Answer contains_id(BitmapSession& session, ByteView key, Id id) {
  CAD_TRY(check_set_key(key));
  bool found = false;
  CAD_TRY(session.read([&](const TableReader& reader) -> Done {
    found = CAD_TRY(reader.contains(key, id));
    return {};
  }));
  return contains_answer(found, session.form());
}

Answer count_ids(BitmapSession& session, ByteView key) {
  CAD_TRY(check_set_key(key));
  std::uint64_t count = 0;
  CAD_TRY(session.read([&](const TableReader& reader) -> Done {
    count = CAD_TRY(reader.cardinality(key));
    return {};
  }));
  return count_answer(count, session.form());
}

Answer get_ids(BitmapSession& session, ByteView key, const IdPage& page) {
  CAD_TRY(check_set_key(key));
  IdsView view;
  CAD_TRY(session.read([&](const TableReader& reader) -> Done {
    view = CAD_TRY(take_page(CAD_TRY(reader.stream(key)), page));
    return {};
  }));
  return ids_answer(view, session.form());
}

Answer combine_sets(BitmapSession& session, const SetRequest& request) {
  if (request.keys.size() > bitmap::kOperandsMax) {
    return base::fail(from_bitmap(bitmap::misuse(bitmap::Misuse::kTooManyOperands)));
  }
  for (const base::Bytes& key : request.keys)
    CAD_TRY(check_set_key(key));
  std::uint64_t count = 0;
  IdsView view;
  CAD_TRY(session.read([&](const TableReader& reader) -> Done {
    Stream stream = CAD_TRY(combine(reader, request));
    if (request.wanted == Wanted::kCount) {
      count = CAD_TRY(bitmap::count(*stream));
    } else {
      view = CAD_TRY(take_page(std::move(stream), request.page));
    }
    return {};
  }));
  if (request.wanted == Wanted::kCount) return count_answer(count, session.form());
  return combined_answer(view, session.form());
}

Answer compact_set(BitmapSession& session, ByteView key) {
  CAD_TRY(check_set_key(key));
  SegmentsView segments;
  std::optional<bitmap::CompactCursor> from;
  do {  // Each part a transaction of its own, unless there is one.
    bitmap::CompactReport part;
    CAD_TRY(session.write(AbsentTable::kSkipped, [&](TableWriter& writer) -> Done {
      part = CAD_TRY(writer.compact(key, {}, from));
      return {};
    }));
    segments.before += part.segments_before;
    segments.after += part.segments_after;
    from = part.next;
  } while (from);
  return compacted_answer(segments, session.form());
}

Answer erase_set(BitmapSession& session, ByteView key) {
  CAD_TRY(check_set_key(key));
  bool existed = false;
  CAD_TRY(session.write(AbsentTable::kSkipped, [&](TableWriter& writer) -> Done {
    existed = CAD_TRY(writer.erase_key(key));
    return {};
  }));
  return erased_answer(existed, session.form());
}

Answer list_keys(BitmapSession& session, const KeyPage& page) {
  CAD_TRY(check_set_key(page.prefix));
  if (page.after) CAD_TRY(check_set_key(*page.after));
  const std::size_t limit = std::min(page.limit, kKeysLimitMax);
  KeysView view;
  CAD_TRY(session.read([&](const TableReader& reader) -> Done {
    auto cursor = CAD_TRY(
        reader.keys(page.prefix, page.after ? std::optional<ByteView>(*page.after) : std::nullopt));
    view = {};
    while (auto key = CAD_TRY(cursor.next())) {
      view.is_cut = view.keys.size() == limit;
      if (view.is_cut) break;
      view.keys.push_back(*std::move(key));
    }
    return {};
  }));
  return keys_answer(view, session.form(), session.mode());
}

}  // namespace cadastre::cli
