#include "sim/log/log_world_shape.h"

#include <array>

#include "base/random.h"
#include "log/limits.h"

namespace cadastre::sim {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

std::uint64_t mixed(std::uint64_t seed, std::uint64_t what) {
  return base::SeededRandom(seed * 0x9e3779b97f4a7c15 + what).next_u64();
}

namespace {

// Retention that a short run reaches.
log::Settings short_settings(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 1));
  log::Settings settings;
  settings.retention.truncate_every = milliseconds(100 + random.below(1000));
  settings.retention.truncate_entries_min = 5 + random.below(50);
  settings.retention.unflushed_age_max = milliseconds(500 + random.below(5000));
  settings.housekeeping_every = milliseconds(50 + random.below(500));
  return settings;
}

// Logs so short that whoever was away for a moment lacks their begin, and waits that a short run outlasts.
void expect_snapshots(log::Settings& settings, std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 8));
  log::RetentionSettings& retention = settings.retention;
  retention.truncate_entries_min = 1 + random.below(20);
  retention.unflushed_age_max = milliseconds(100 + random.below(2000));
  retention.leader_trail_entries = random.below(2) == 0 ? 0 : random.below(100);
  if (retention.leader_trail_entries == 0) retention.leader_trail_bytes = 0;
  if (random.below(2) == 0) retention.follower_trail_bytes = 0;
  if (random.below(3) == 0) retention.fetch_kept_bytes_max = 0;
  retention.peer_silent_after = milliseconds(random.below(3000));
  settings.snapshots = {.reused_for = milliseconds(50 + random.below(5000)),
                        .report_wait = milliseconds(500 + random.below(2500)),
                        .retry_after = milliseconds(20 + random.below(500)),
                        .taken_within = milliseconds(100 + random.below(2000))};
}

}  // namespace

std::uint64_t drift_ppm_max(const LogWorldOptions& options) {
  const bool trusted = options.lease_reads || options.registers == Registers::kOfNodes;
  return trusted ? 1'000 * log::kLeaseDriftPerMille : 300'000;
}

log::Settings settings_of(const LogWorldOptions& options, std::uint64_t node) {
  log::Settings settings = short_settings(options.seed + node);
  settings.raft.lease_reads = options.lease_reads;
  if (options.registers == Registers::kOfAll) expect_snapshots(settings, options.seed + node);
  return settings;
}

nanoseconds patience_of(const LogWorldOptions& options, std::uint64_t client) {
  if (options.registers == Registers::kOfNodes) return milliseconds(2000);
  return milliseconds(client % 3 == 0 ? 4000 : 700);
}

NetworkFaults faults_to_nodes(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 2));
  NetworkFaults faults;
  faults.control.drop_ppm = random.below(20'000);
  faults.control.reorder_ppm = random.below(20'000);
  faults.control.reorder_most = milliseconds(20);
  faults.control.reset_ppm = random.below(1'000);
  faults.control.delay.tail_ppm = random.below(10'000);
  faults.control.delay.tail_most = milliseconds(500);
  return faults;
}

NetworkFaults faults_of_voters(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 6));
  NetworkFaults faults = faults_to_nodes(seed);
  faults.control.duplicate_ppm = random.below(20'000);
  faults.control.delay.tail_most = milliseconds(1 + random.below(3000));
  faults.bulk = faults.control;
  return faults;
}

LogWorldOptions log_world_of(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 5));
  LogWorldOptions options;
  options.seed = seed;
  options.nodes = 1 + random.below(3);
  options.founders = options.nodes;
  options.groups = std::array<std::uint64_t, 4>{1, 2, 4, 16}[random.below(4)];
  options.clients = 2 + random.below(8);
  options.think_most = milliseconds(std::array<int, 3>{1, 20, 100}[random.below(3)]);
  return options;
}

LogWorldOptions raft_world_of(std::uint64_t seed) {
  base::SeededRandom random(mixed(seed, 7));
  LogWorldOptions options;
  options.seed = seed;
  options.registers = Registers::kOfAll;
  options.founders = random.below(4) == 0 ? 5 : 3;
  options.groups = std::array<std::uint64_t, 4>{1, 1, 2, 4}[random.below(4)];
  options.clients = 2 + random.below(6);
  options.think_most = milliseconds(std::array<int, 3>{5, 30, 100}[random.below(3)]);
  options.lease_reads = random.below(2) == 0;
  options.calm = 20 * log::RaftSettings{}.election_timeout();
  options.nodes = options.founders + random.below(3);
  // Rare worlds, by luck of their own: the rest of a seed's world stays as it is.
  base::SeededRandom rare(mixed(seed, 9));
  options.loses_disk = rare.below(6) == 0;
  if (rare.below(24) == 0) options.lasts = std::chrono::seconds(45);  // Room for the longest pause.
  const std::uint64_t crowd = rare.below(120);
  if (crowd < 3) options.groups = crowd == 0 ? 64 : 16;
  if (crowd < 3) options.lasts = std::chrono::seconds(8);
  return options;
}

}  // namespace cadastre::sim
