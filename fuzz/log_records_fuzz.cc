// Records of the log and whole logs: any bytes are refused or read, never a reason to stop.
//
// The first byte chooses: 0 a key and a value as they are; 1 a disk as it is; else records with right
// sums in frames with right sums, so that the rules between records are met.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "log/local/local_engine.h"
#include "log/recovery.h"
#include "log/storage/memory_storage.h"
#include "log/storage/records.h"

namespace cadastre::fuzz {
namespace {

constexpr log::NodeIdentity kIdentity{log::ClusterId{1}, log::NodeId{1}};
constexpr std::size_t kValueBytesMax = 256;

template <class Decoded>
void check_same(base::ByteView bytes, const Decoded& encoded) {
  CAD_CHECK(base::equal(bytes, encoded), "a record has one form");
}

void check_record(base::ByteView bytes) {
  if (const auto key = log::parse_group_key(bytes)) {
    const auto again = [&] {
      switch (key->kind) {
        case log::RecordKind::kEntry: return log::entry_key(key->group, key->index);
        case log::RecordKind::kConf: return log::conf_key(key->group, key->index);
        case log::RecordKind::kState:
        case log::RecordKind::kTruncated:
        case log::RecordKind::kInstall:
        case log::RecordKind::kGroup: break;
      }
      return log::group_key(key->group, key->kind);
    }();
    check_same(bytes, again.view());
  }
  const auto node = log::decode_node(bytes);
  if (node && node->format == log::kLogFormat) check_same(bytes, log::encode_node(*node));
  if (const auto state = log::decode_state(bytes)) check_same(bytes, log::encode_state(*state));
  if (const auto at = log::decode_truncated(bytes)) check_same(bytes, log::encode_truncated(*at));
  if (const auto conf = log::decode_conf(log::Index{1}, bytes))
    check_same(bytes, log::encode_conf(*conf));
  if (const auto install = log::decode_install(bytes))
    check_same(bytes, log::encode_install(*install));
  if (const auto engine = log::decode_group(bytes)) check_same(bytes, log::encode_group(*engine));
  if (const auto number = log::decode_set(bytes)) check_same(bytes, log::encode_set(*number));
  if (const auto entry = log::decode_entry(bytes)) {
    const auto head = log::encode_entry_head(
        {{entry->term, log::Index{1}}, entry->type, log::Body::copy_of(entry->body)});
    check_same(bytes.first(log::kEntryHeadBytes), head);
  }
  const std::size_t half = bytes.size() / 2;
  (void)log::unsealed(bytes.first(half), bytes.subspan(half));
}

// What recovery accepts can be read, opened and appended to.
void check_image(log::MemoryStorage& storage, const log::GroupImage& image) {
  CAD_CHECK(image.truncated.index <= image.last.index, "a log begins before it ends");
  CAD_CHECK(image.truncated.term <= image.last.term, "terms do not go back");
  CAD_CHECK(image.state.term >= image.last.term, "the state's term is the highest");
  CAD_CHECK(log::check_state(image, image.last).has_value(), "a state at the log's end opens");
  CAD_CHECK(log::term_at(image, image.last.index) == image.last.term, "the last term is known");
  if (image.truncated == image.last) return;
  const auto entries = storage.read(image.group, image.incarnation, image.truncated.index + 1,
                                    image.last.index, std::size_t{1} << 30);
  CAD_CHECK(entries.has_value(), "every entry reads");
  CAD_CHECK(entries->size() == log::entries_between(image.truncated.index, image.last.index),
            "a log has no hole");
  for (const log::Entry& entry : *entries)
    CAD_CHECK(log::term_at(image, entry.at.index) == entry.at.term, "terms are those of entries");
}

void check_disk(const base::Bytes& bytes) {
  log::MemoryDisk disk;
  disk.append(bytes);
  disk.sync();
  log::MemoryStorage storage(disk, kIdentity);
  const auto recovered = storage.recover();
  if (!recovered) return;
  for (const log::GroupImage& image : recovered->groups)
    check_image(storage, image);
  log::MemoryStorage again(disk, kIdentity);
  const auto twice = again.recover();
  CAD_CHECK(twice && twice->groups.size() == recovered->groups.size(), "recovery repeats itself");
}

void append_sized(base::Bytes& frame, std::uint8_t kind, base::ByteView a, base::ByteView b) {
  const std::size_t at = frame.size();
  frame.resize(at + 9);
  frame[at] = std::byte{kind};
  base::store_le(frame.data() + at + 1, static_cast<std::uint32_t>(a.size()));
  base::store_le(frame.data() + at + 5, static_cast<std::uint32_t>(b.size()));
  frame.insert(frame.end(), a.begin(), a.end());
  frame.insert(frame.end(), b.begin(), b.end());
}

base::Bytes sealed(const log::RecordKey& key, base::Bytes value) {
  const auto sum = log::record_sum(key.view(), value);
  value.insert(value.end(), sum.begin(), sum.end());
  return value;
}

// One record of a group with a small id: its key, and a value that may be right.
void append_record(base::Bytes& frame, Input& input) {
  const log::GroupKey group{log::GroupId{input.below(3)},
                            log::Incarnation{static_cast<std::uint32_t>(1 + input.below(2))}};
  const log::Position at{log::Term{input.number()}, log::Index{input.number()}};
  const auto put = [&](const log::RecordKey& key, base::Bytes value) {
    append_sized(frame, 1, key.view(), sealed(key, std::move(value)));
  };
  switch (input.below(7)) {
    case 0:
      return put(log::group_key(group, log::RecordKind::kGroup),
                 log::encode_group(log::EngineKind::kLocal));
    case 1:
      return put(log::group_key(group, log::RecordKind::kState),
                 log::encode_state({.state = {.term = log::Term{input.number()},
                                              .vote = {},
                                              .commit = log::Index{input.number()}},
                                    .last = at}));
    case 2:
      return put(log::group_key(group, log::RecordKind::kTruncated), log::encode_truncated(at));
    case 3: {
      const log::Entry entry{at, log::EntryType::kNormal, {}};
      const auto head = log::encode_entry_head(entry);
      base::Bytes value(head.begin(), head.end());
      const base::Bytes body = input.string(kValueBytesMax);
      value.insert(value.end(), body.begin(), body.end());
      return put(log::entry_key(group, at.index), std::move(value));
    }
    case 4: return put(log::set_key(), log::encode_set(log::SetNumber{input.number()}));
    case 5: {  // Any key and any value.
      const base::Bytes key = input.string(kValueBytesMax);
      return append_sized(frame, static_cast<std::uint8_t>(input.below(5)), key,
                          input.string(kValueBytesMax));
    }
    default:
      return append_sized(frame, 3, log::entry_key(group, at.index).view(),
                          log::entry_key(group, log::Index{input.number()}).view());
  }
}

base::Bytes framed(base::ByteView body) {
  base::Bytes frame(12);
  base::store_le(frame.data(), static_cast<std::uint32_t>(body.size()));
  base::store_le(frame.data() + 4, base::crc32c(body));
  base::store_le(frame.data() + 8, base::crc32c(base::ByteView{frame}.first(8)));
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

}  // namespace

void run_one(base::ByteView input) {
  if (input.empty()) return;
  const auto choice = std::to_integer<int>(input[0]);
  const base::ByteView rest = input.subspan(1);
  if (choice == 0) return check_record(rest);
  if (choice == 1) return check_disk(base::to_owned(rest));
  Input choices(rest);
  base::Bytes body;
  const log::RecordKey node = log::node_key();
  append_sized(body, 1, node.view(), sealed(node, log::encode_node({.identity = kIdentity})));
  while (!choices.done())
    append_record(body, choices);
  check_disk(framed(body));
}

}  // namespace cadastre::fuzz
