#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ring_buffer.h"
#include "bench/harness.h"
#include "bench/peers/string_keys.h"
#include "bench/report.h"
#include "bench/shard_bench.h"
#include "shard/hint.h"
#include "shard/hint_propagation.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/typed_keys.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kMask = kInputs - 1;

std::vector<std::uint64_t> make_numbers() {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> numbers(kInputs);
  for (auto& number : numbers)
    number = random();
  return numbers;
}

// Calls op(index) with indices below kInputs.
template <class Op>
auto repeated(Op op) {
  return [op](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      op(i & kMask);
  };
}

// One operation: encode a key and compare it with the one before.
template <class MakeKey>
Timing encode_and_compare(MakeKey make_key) {
  shard::KeyBuf even;
  shard::KeyBuf odd;
  make_key(kMask).encode_into(odd);
  return measure([&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      shard::KeyBuf& current = (i & 1) == 0 ? even : odd;
      const shard::KeyBuf& before = (i & 1) == 0 ? odd : even;
      make_key(i & kMask).encode_into(current);
      keep(base::less(before.view(), current.view()));
    }
  });
}

void add_rate(Report& report, const std::string& what, const Timing& timing) {
  report.add({.what = what,
              .unit = "M/s",
              .better = Better::kHigher,
              .ours = 1000 / timing.median_ns,
              .target = 50,
              .spread = timing.spread});
}

void ordered_encodings(Report& report, const std::vector<std::uint64_t>& numbers) {
  add_rate(report, "U64Key encode and compare",
           encode_and_compare([&](std::size_t i) { return shard::U64Key{numbers[i]}; }));
  add_rate(report, "I64Key encode and compare", encode_and_compare([&](std::size_t i) {
             return shard::I64Key{static_cast<std::int64_t>(numbers[i])};
           }));
  add_rate(report, "F64Key encode and compare", encode_and_compare([&](std::size_t i) {
             return shard::F64Key{static_cast<double>(numbers[i]) * 1e-3};
           }));
  add_rate(report, "ManifestRowKey encode and compare",
           encode_and_compare([&](std::size_t i) { return shard::ManifestRowKey{7, numbers[i]}; }));

  shard::KeyBuf even;
  shard::KeyBuf odd;
  const auto ours = [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      shard::KeyBuf& current = (i & 1) == 0 ? even : odd;
      const shard::KeyBuf& before = (i & 1) == 0 ? odd : even;
      shard::ManifestRowKey{7, numbers[i & kMask]}.encode_into(current);
      keep(base::less(before.view(), current.view()));
    }
  };
  std::array<std::string, 2> texts;
  const auto theirs = [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      std::string& current = texts[i & 1];
      current.clear();
      append_u64(current, 7);
      append_u64(current, numbers[i & kMask]);
      keep(texts[(i & 1) ^ 1] < current);
    }
  };
  report.add_duel("ManifestRowKey encode and compare", measure_against(ours, theirs), "std::string",
                  {});
}

void row_keys(Report& report, const std::vector<std::uint64_t>& numbers) {
  shard::KeyBuf out;
  std::vector<base::Bytes> keys;
  for (const std::uint64_t number : numbers) {
    shard::ManifestRowKey{7, number}.encode_into(out);
    keys.push_back(base::to_owned(out.view()));
  }
  report.add_time("ManifestRowKey encode", measure(repeated([&](std::size_t i) {
                    shard::ManifestRowKey{7, numbers[i]}.encode_into(out);
                    keep_memory(out.view().data());
                  })),
                  3);
  report.add_time(
      "ManifestRowKey decode",
      measure(repeated([&](std::size_t i) { keep(shard::decode_manifest_row_key(keys[i])->row); })),
      3);
}

struct Codec {
  std::vector<base::Bytes> prefixes;
  std::vector<base::Bytes> prefix_frames;
  std::vector<base::Bytes> manifest_frames;
  std::vector<base::Bytes> envelopes;
};

Codec make_codec(const std::vector<std::uint64_t>& numbers) {
  Codec codec;
  shard::MetadataBuf out;
  for (const auto& pair : make_pairs(32, Shape::kRandom)) {
    const auto prefix = shard::ShardHint::prefix(pair.a);
    codec.prefixes.push_back(pair.a);
    codec.prefix_frames.push_back(base::to_owned(*shard::encode_into(prefix, out)));
    codec.envelopes.push_back(
        base::to_owned(*shard::encode_into(shard::ShardMetadata{prefix, pair.b}, out)));
  }
  for (const std::uint64_t number : numbers) {
    const auto hint = shard::ShardHint::manifest({number, number / 2, number / 2 + 10});
    codec.manifest_frames.push_back(base::to_owned(*shard::encode_into(hint, out)));
  }
  return codec;
}

void hints(Report& report, const std::vector<std::uint64_t>& numbers) {
  const Codec codec = make_codec(numbers);
  shard::MetadataBuf out;
  const auto encode = [&](const shard::ShardHint& hint) {
    keep(shard::encode_into(hint, out).has_value());
    keep_memory(out.view().data());
  };
  const auto decode = [](const base::Bytes& frame) {
    keep(shard::decode_hint_frame(frame)->consumed);
  };
  report.add_time("hint encode, range",
                  measure(repeated([&](std::size_t) { encode(shard::ShardHint::range()); })), 10);
  report.add_time("hint encode, prefix 32 B", measure(repeated([&](std::size_t i) {
                    encode(shard::ShardHint::prefix(codec.prefixes[i]));
                  })),
                  10);
  report.add_time("hint encode, manifest", measure(repeated([&](std::size_t i) {
                    encode(shard::ShardHint::manifest({7, numbers[i] / 2, numbers[i] / 2 + 1}));
                  })),
                  10);
  report.add_time("hint decode, prefix 32 B",
                  measure(repeated([&](std::size_t i) { decode(codec.prefix_frames[i]); })), 10);
  report.add_time("hint decode, manifest",
                  measure(repeated([&](std::size_t i) { decode(codec.manifest_frames[i]); })), 10);
  report.add_time("envelope decode", measure(repeated([&](std::size_t i) {
                    keep(shard::decode_metadata_bytes(codec.envelopes[i])->connector_extra.size());
                  })),
                  12);
}

void propagation(Report& report, const std::vector<std::uint64_t>& numbers) {
  const auto manifest = shard::ShardHint::manifest({7, 0, ~std::uint64_t{0}});
  std::vector<std::pair<base::Bytes, base::Bytes>> rows;
  shard::KeyBuf key;
  for (const std::uint64_t number : numbers) {
    shard::ManifestRowKey{7, number / 2}.encode_into(key);
    rows.emplace_back(base::to_owned(key.view()), base::Bytes());
    shard::ManifestRowKey{7, number / 2 + 9}.encode_into(key);
    rows.back().second = base::to_owned(key.view());
  }
  report.add_time(
      "propagate, manifest", measure(repeated([&](std::size_t i) {
        keep(shard::propagate_hint_on_split(manifest, rows[i].first, rows[i].second).has_value());
      })),
      8);
  const auto prefix_bytes = base::to_owned(base::as_bytes("tenant/0017/src/"));
  const auto prefix = shard::ShardHint::prefix(prefix_bytes);
  std::vector<std::pair<base::Bytes, base::Bytes>> children;
  for (std::size_t i = 0; i < kInputs; ++i) {
    const std::string start = "tenant/0017/src/" + std::to_string(1000 + i);
    children.emplace_back(base::to_owned(base::as_bytes(start)),
                          base::to_owned(base::as_bytes(start + "x")));
  }
  report.add_time(
      "propagate, prefix", measure(repeated([&](std::size_t i) {
        keep(shard::propagate_hint_on_split(prefix, children[i].first, children[i].second)
                 .has_value());
      })),
      25);
}

void small_things(Report& report) {
  const auto pairs = make_pairs(32, Shape::kHalfShared);
  report.add_time("contains_key 32 B", measure(repeated([&](std::size_t i) {
                    const auto& range = pairs[i];
                    keep(shard::contains_key({range.a, range.b}, pairs[(i + 1) & kMask].a));
                  })),
                  6);
  struct Entry {
    std::array<std::uint64_t, 5> words;
  };
  base::RingBuffer<Entry, 16> ring;
  report.add_time("RingBuffer push_back_overwrite 40 B", measure(repeated([&](std::size_t i) {
                    keep(ring.push_back_overwrite(Entry{{i, i, i, i, i}}).has_value());
                  })),
                  4);
}

}  // namespace

void bench_codec(Report& report) {
  const auto numbers = make_numbers();
  ordered_encodings(report, numbers);
  row_keys(report, numbers);
  hints(report, numbers);
  propagation(report, numbers);
  small_things(report);
}

}  // namespace cadastre::bench
