// Histogram: how often, by powers of two. Recorded from any thread without a lock; a reading may miss
// what is being recorded.

#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cadastre::log {

class Histogram {
 public:
  static constexpr std::size_t kBuckets =
      48;  // Bucket b counts values in [2^(b-1), 2^b); 0 counts zeros.

  void record(std::uint64_t value) noexcept {
    const auto bucket = static_cast<std::size_t>(std::bit_width(value));
    counts_[bucket < kBuckets ? bucket : kBuckets - 1].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  struct Reading {
    std::array<std::uint64_t, kBuckets> counts{};
    std::uint64_t sum = 0;

    [[nodiscard]] std::uint64_t count() const noexcept {
      std::uint64_t all = 0;
      for (const std::uint64_t some : counts)
        all += some;
      return all;
    }
    [[nodiscard]] double mean() const noexcept {
      const std::uint64_t all = count();
      return all == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(all);
    }
  };

  [[nodiscard]] Reading read() const noexcept {
    Reading reading;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
      reading.counts[bucket] = counts_[bucket].load(std::memory_order_relaxed);
    reading.sum = sum_.load(std::memory_order_relaxed);
    return reading;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

}  // namespace cadastre::log
