#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "bench/harness.h"
#include "bench/peers/string_keys.h"
#include "bench/report.h"
#include "bench/shard_bench.h"
#include "shard/key_buf.h"
#include "shard/key_range.h"
#include "shard/limits.h"
#include "shard/manifest.h"
#include "shard/prealloc_builder.h"
#include "shard/shard_arena.h"
#include "shard/shard_id.h"
#include "shard/shard_spec.h"
#include "shard/split_coverage.h"
#include "shard/split_points.h"

namespace cadastre::bench {
namespace {

constexpr double kMicrosecond = 1e3;
constexpr double kMillisecond = 1e6;

// Ascending 16-byte keys, count + 1 of them, with a head that all share.
std::vector<base::Bytes> make_bounds(std::size_t count) {
  std::vector<base::Bytes> bounds;
  for (std::size_t i = 0; i <= count; ++i) {
    std::string text = std::to_string(1'000'000'000 + i * 7919);
    text.insert(0, "shard/");
    bounds.push_back(base::to_owned(base::as_bytes(text)));
  }
  return bounds;
}

void even_plans(Report& report) {
  constexpr std::uint64_t kShards = 1'000'000;
  const shard::KeyRange range{base::as_bytes("a"), base::as_bytes("z")};
  std::vector<std::byte> out((kShards - 1) * shard::even_split_width(range, kShards).value_or(0));
  const auto ours = [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      keep(shard::even_split_points(range, kShards, out)->size());
  };
  const auto theirs = [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      keep(string_split_points("a", "z", kShards).size());
  };
  report.add_scaled("even_split_points, 1,000,000 shards", "ms", kMillisecond, measure(ours), 100);
  report.add_duel("even_split_points, 1,000,000 shards", measure_against(ours, theirs),
                  "std::string", {});

  const auto long_start = base::Bytes(64, std::byte{0x11});
  const auto long_end = base::Bytes(64, std::byte{0xee});
  const shard::KeyRange wide{long_start, long_end};
  std::vector<std::byte> wide_out((kShards - 1) * 64);
  report.add_scaled("even_split_points, 1,000,000 shards, 64 B", "ms", kMillisecond,
                    measure([&](std::uint64_t iterations) {
                      for (std::uint64_t i = 0; i < iterations; ++i) {
                        keep(shard::even_split_points(wide, kShards, wide_out)->size());
                      }
                    }),
                    100);
}

void arena(Report& report) {
  const auto pairs = make_pairs(32, Shape::kRandom);
  shard::ShardArena arena(16, 4096);
  report.add_time("ShardArena alloc and free, 3 x 32 B", measure([&](std::uint64_t iterations) {
                    for (std::uint64_t i = 0; i < iterations; ++i) {
                      const auto& pair = pairs[i & (kInputs - 1)];
                      const auto handle =
                          arena.alloc(shard::ShardSpecRef::unchecked(pair.a, pair.b, pair.a));
                      keep(arena.free(*handle));
                    }
                  }),
                  80);
}

void coverage(Report& report) {
  const auto bounds = make_bounds(256);
  for (const std::size_t count : {std::size_t{2}, std::size_t{256}}) {
    std::vector<shard::ShardSpecRef> children;
    children.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      children.push_back(shard::ShardSpecRef::unchecked(bounds[i], bounds[i + 1]));
    std::mt19937_64 random(count);
    std::ranges::shuffle(children, random);
    const shard::KeyRange parent{bounds[0], bounds[count]};
    const auto timing = measure([&](std::uint64_t iterations) {
      for (std::uint64_t i = 0; i < iterations; ++i)
        keep(shard::validate_split_coverage(parent, children).has_value());
    });
    if (count == 2) {
      report.add_time("coverage, 2 children", timing, 60);
    } else {
      report.add_scaled("coverage, 256 children, shuffled", "us", kMicrosecond, timing, 12);
    }
  }
}

void manifests(Report& report) {
  const auto bounds = make_bounds(shard::kMaxInitialShards);
  std::vector<shard::InitialShardInput> rows;
  rows.reserve(shard::kMaxInitialShards);
  for (std::size_t i = 0; i < shard::kMaxInitialShards; ++i) {
    rows.push_back(
        {shard::ShardId::from_raw(i), shard::ShardSpecRef::unchecked(bounds[i], bounds[i + 1])});
  }
  std::vector<std::uint32_t> scratch(rows.size());
  const auto validate = [&](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      keep(shard::validate_manifest(rows, scratch).has_value());
  };
  report.add_scaled("validate_manifest, 10,000 entries in order", "ms", kMillisecond,
                    measure(validate), 3);
  std::mt19937_64 random(3);
  std::ranges::shuffle(rows, random);
  report.add_scaled("validate_manifest, 10,000 entries shuffled", "ms", kMillisecond,
                    measure(validate), 3);
}

void builder(Report& report) {
  constexpr std::size_t kEntries = 1024;
  using Builder = shard::PreallocShardBuilder<kEntries>;
  const auto bounds = make_bounds(kEntries);
  shard::ShardArena arena(kEntries,
                          static_cast<std::uint32_t>(shard::arena_bytes_for(kEntries, 16, 32)));
  const auto builder = std::make_unique<Builder>(arena);
  const auto rows = std::make_unique<Builder::Rows>();
  if (!builder->init(kEntries)) return;
  report.add_scaled("builder, 1,024 entries staged and built", "ms", kMillisecond,
                    measure([&](std::uint64_t iterations) {
                      for (std::uint64_t i = 0; i < iterations; ++i) {
                        for (std::size_t k = 0; k < kEntries; ++k)
                          keep(builder->add_range({bounds[k], bounds[k + 1]}, {}).has_value());
                        keep(builder->build_inputs(*rows).has_value());
                        builder->reset();
                      }
                    }),
                    1);
}

}  // namespace

void bench_planning(Report& report) {
  even_plans(report);
  arena(report);
  coverage(report);
  manifests(report);
  builder(report);
}

}  // namespace cadastre::bench
