#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <leveldb/comparator.h>
#include <leveldb/slice.h>

#include "base/bytes.h"
#include "bench/harness.h"
#include "bench/peers/bigint_keys.h"
#include "bench/peers/bytewise_keys.h"
#include "bench/peers/string_keys.h"
#include "bench/report.h"
#include "bench/shard_bench.h"
#include "shard/key_arith.h"
#include "shard/key_buf.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kMask = kInputs - 1;

void shape_pair(KeyPair& pair, Shape shape) {
  const std::size_t size = pair.a.size();
  switch (shape) {
    case Shape::kRandom: break;
    case Shape::kHalfShared: std::copy_n(pair.a.begin(), size / 2, pair.b.begin()); break;
    case Shape::kLastByte: std::copy_n(pair.a.begin(), size - 1, pair.b.begin()); break;
    case Shape::kUnequal: pair.a.resize(std::max<std::size_t>(1, size * 2 / 3)); break;
    case Shape::kCarryHeavy:
      std::ranges::fill(pair.a, std::byte{0xff});
      std::ranges::fill(pair.b, std::byte{0});
      pair.a[0] = std::byte{0x7f};
      pair.b[0] = std::byte{0x80};
      pair.b.back() = std::byte{2};
      break;
    case Shape::kFfRuns:
      std::fill(pair.a.begin() + static_cast<std::ptrdiff_t>(size / 2), pair.a.end(),
                std::byte{0xff});
      std::fill(pair.b.begin() + static_cast<std::ptrdiff_t>(size / 2), pair.b.end(),
                std::byte{0xff});
      break;
  }
}

// Calls op(pair) for pair after pair.
template <class Op>
auto over_pairs(const std::vector<KeyPair>& pairs, Op op) {
  return [&pairs, op](std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i)
      op(pairs[i & kMask]);
  };
}

struct Peers {
  shard::KeyBuf ours;
  PeerKey theirs;
  std::string text;
  BigintMidpoint bigint;
};

auto our_midpoint(const std::vector<KeyPair>& pairs, Peers& peers) {
  return over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(shard::byte_midpoint(pair.a, pair.b, peers.ours).has_value());
    keep_memory(peers.ours.view().data());
  });
}

auto bytewise(const std::vector<KeyPair>& pairs, Peers& peers) {
  return over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(bytewise_midpoint(pair.a, pair.b, peers.theirs));
    keep_memory(peers.theirs.bytes.data());
  });
}

auto by_string(const std::vector<KeyPair>& pairs, Peers& peers) {
  return over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(string_midpoint(base::as_text(pair.a), base::as_text(pair.b), peers.text));
    keep_memory(peers.text.data());
  });
}

auto by_bigint(const std::vector<KeyPair>& pairs, Peers& peers) {
  return over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(peers.bigint(pair.a, pair.b, peers.theirs));
    keep_memory(peers.theirs.bytes.data());
  });
}

auto by_leveldb_separator(const std::vector<KeyPair>& pairs, Peers& peers) {
  const leveldb::Comparator* comparator = leveldb::BytewiseComparator();
  return over_pairs(pairs, [&peers, comparator](const KeyPair& pair) {
    peers.text.assign(base::as_text(pair.a));
    const std::string_view limit = base::as_text(pair.b);
    comparator->FindShortestSeparator(&peers.text, leveldb::Slice(limit.data(), limit.size()));
    keep_memory(peers.text.data());
  });
}

auto our_balanced(const std::vector<KeyPair>& pairs, Peers& peers) {
  return over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(shard::balanced_split_point(pair.a, pair.b, peers.ours).has_value());
    keep_memory(peers.ours.view().data());
  });
}

void promised_midpoints(Report& report, Peers& peers) {
  const auto random_16 = make_pairs(16, Shape::kRandom);
  const auto random_64 = make_pairs(64, Shape::kRandom);
  const auto half_64 = make_pairs(64, Shape::kHalfShared);
  const auto random_4096 = make_pairs(4096, Shape::kRandom);
  report.add_duel("byte_midpoint 64 B",
                  measure_against(our_midpoint(random_64, peers), bytewise(random_64, peers)),
                  "byte-wise", 4);
  report.add_duel("byte_midpoint 64 B, half shared",
                  measure_against(our_midpoint(half_64, peers), bytewise(half_64, peers)),
                  "byte-wise", 4);
  report.add_duel("byte_midpoint 64 B",
                  measure_against(our_midpoint(random_64, peers), by_string(random_64, peers)),
                  "std::string", {});
  report.add_duel("byte_midpoint 64 B",
                  measure_against(our_midpoint(random_64, peers), by_bigint(random_64, peers)),
                  "GMP", {});
  report.add_duel(
      "balanced_split_point 64 B",
      measure_against(our_balanced(random_64, peers), by_leveldb_separator(random_64, peers)),
      "LevelDB separator", {});
  report.add_duel("byte_midpoint 4096 B",
                  measure_against(our_midpoint(random_4096, peers), by_bigint(random_4096, peers)),
                  "GMP", {});
  report.add_time("byte_midpoint 16 B", measure(our_midpoint(random_16, peers)), 40);
  report.add_time("byte_midpoint 64 B", measure(our_midpoint(random_64, peers)), 70);
  report.add_time("byte_midpoint 64 B, half shared", measure(our_midpoint(half_64, peers)), 50);
  report.add_time("byte_midpoint 4096 B", measure(our_midpoint(random_4096, peers)), 2500);
}

struct NamedShape {
  const char* name;
  Shape shape;
};

// What nothing is promised of, for the trend: every length and shape of 11.2.
void midpoint_matrix(Report& report, Peers& peers) {
  const std::vector<NamedShape> shapes = {
      {"random", Shape::kRandom},      {"half shared", Shape::kHalfShared},
      {"last byte", Shape::kLastByte}, {"unequal", Shape::kUnequal},
      {"carry", Shape::kCarryHeavy},   {"ff runs", Shape::kFfRuns}};
  for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{64}, std::size_t{256},
                                 std::size_t{1024}, std::size_t{4096}}) {
    for (const auto& shape : shapes) {
      const auto pairs = make_pairs(size, shape.shape);
      report.add_duel("byte_midpoint " + std::to_string(size) + " B, " + shape.name,
                      measure_against(our_midpoint(pairs, peers), bytewise(pairs, peers)),
                      "byte-wise", {});
    }
  }
}

void successors(Report& report, Peers& peers) {
  const auto pairs = make_pairs(64, Shape::kRandom);
  const auto ours = over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(shard::prefix_successor(pair.a, peers.ours).has_value());
    keep_memory(peers.ours.view().data());
  });
  const auto text = over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(string_prefix_successor(base::as_text(pair.a), peers.text));
    keep_memory(peers.text.data());
  });
  const leveldb::Comparator* comparator = leveldb::BytewiseComparator();
  const auto leveldb_successor = over_pairs(pairs, [&peers, comparator](const KeyPair& pair) {
    peers.text.assign(base::as_text(pair.a));
    comparator->FindShortSuccessor(&peers.text);
    keep_memory(peers.text.data());
  });
  const auto next = over_pairs(pairs, [&peers](const KeyPair& pair) {
    keep(shard::key_successor(pair.a, peers.ours).has_value());
    keep_memory(peers.ours.view().data());
  });
  report.add_duel("prefix_successor 64 B", measure_against(ours, text), "std::string", {});
  report.add_duel("prefix_successor 64 B", measure_against(ours, leveldb_successor),
                  "LevelDB short successor", {});
  report.add_time("prefix_successor 64 B", measure(ours), 10);
  report.add_time("key_successor 64 B", measure(next), 10);
}

}  // namespace

std::vector<KeyPair> make_pairs(std::size_t size, Shape shape) {
  std::mt19937_64 random(size * 31 + static_cast<std::size_t>(shape));
  std::vector<KeyPair> pairs(kInputs);
  for (KeyPair& pair : pairs) {
    pair.a.resize(size);
    pair.b.resize(size);
    for (std::byte& byte : pair.a)
      byte = static_cast<std::byte>(random() & 0xff);
    for (std::byte& byte : pair.b)
      byte = static_cast<std::byte>(random() & 0xff);
    shape_pair(pair, shape);
    if (!base::less(pair.a, pair.b)) std::swap(pair.a, pair.b);
  }
  return pairs;
}

void bench_arithmetic(Report& report) {
  Peers peers;
  promised_midpoints(report, peers);
  successors(report, peers);
  midpoint_matrix(report, peers);
}

}  // namespace cadastre::bench
