// RaftNode: the shim with a disk and a state machine that keep what a crash would leave, for tests.
//
// Outputs are taken by pump(). What an output wants persisted waits in memory until sync();
// crash_and_restart() forgets it. Messages of a leader leave at once, all others after the sync of
// their output and of all before it.
// Committed entries are applied at once and the state machine is as durable as the disk.
//
// One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cadastre_raft.h>

namespace cadastre::log {

struct ReadyFree {
  void operator()(cad_ready* ready) const noexcept { cad_ready_free(ready); }
};
struct EntriesFree {
  void operator()(cad_entries* entries) const noexcept { cad_entries_free(entries); }
};
struct RaftFree {
  void operator()(cad_raft* raft) const noexcept { cad_raft_destroy(raft); }
};
using ReadyHandle = std::unique_ptr<cad_ready, ReadyFree>;
using EntriesHandle = std::unique_ptr<cad_entries, EntriesFree>;
using RaftHandle = std::unique_ptr<cad_raft, RaftFree>;

[[nodiscard]] std::string_view text_of(cad_slice slice);
[[nodiscard]] cad_slice slice_of(std::string_view text);

struct TestEntry {
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  std::uint32_t type = 0;
  std::string data;
  std::string context;

  bool operator==(const TestEntry&) const = default;
  [[nodiscard]] cad_entry view() const;
};
[[nodiscard]] std::vector<TestEntry> entries_of(const cad_entry* views, std::size_t count);
[[nodiscard]] std::vector<TestEntry> entries_of(const cad_entries* handle);
[[nodiscard]] EntriesHandle handle_of(const std::vector<TestEntry>& entries);

struct TestConf {
  std::vector<std::uint64_t> voters, learners, voters_outgoing, learners_next;

  bool operator==(const TestConf&) const = default;
  [[nodiscard]] cad_conf_state view() const;
};
[[nodiscard]] TestConf conf_of(const cad_conf_state& view);

// What a crash leaves. Entries are those above the truncated position; `state` has every applied
// entry as "term data" by index, and `applied` is its end.
struct TestDisk {
  cad_hard_state hard{};
  TestConf conf;
  std::uint64_t conf_index = 0;
  std::uint64_t truncated_index = 0;
  std::uint64_t truncated_term = 0;
  std::vector<TestEntry> entries;
  std::map<std::uint64_t, std::string> state;
  std::uint64_t applied = 0;

  [[nodiscard]] std::uint64_t last() const { return truncated_index + entries.size(); }
  [[nodiscard]] std::uint64_t term_at(std::uint64_t index) const;  // 0: not there
};

// The founding image: truncated at (1, 1), entries start at 2 (L-85).
[[nodiscard]] TestDisk founding_disk(std::vector<std::uint64_t> voters);

struct Mail {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t type = 0;
  std::uint64_t index = 0;
  std::string bytes;

  bool operator==(const Mail&) const = default;
};

enum class Syncing {
  kAtOnce,    // pump() persists what it takes
  kByRequest  // only sync() does
};

struct TestSettings {
  std::uint64_t group = 7;
  std::uint64_t seed = 1;
  std::uint32_t election_tick = 10;
  std::uint32_t heartbeat_tick = 2;
  std::uint32_t pre_vote = 1;
  std::uint32_t check_quorum = 1;
  std::uint32_t max_inflight_msgs = 32;
  std::uint64_t max_size_per_msg = 1U << 20U;
  std::uint64_t max_uncommitted_size = 32U << 20U;
  std::uint64_t max_committed_size_per_ready = 1U << 20U;
  std::size_t tail_entries = SIZE_MAX;  // how many of the newest the shim starts with, if it may
  Syncing syncing = Syncing::kAtOnce;
};

// A cad_config over a disk, with all that it points to.
class TestConfig {
 public:
  TestConfig(std::uint64_t id, const TestSettings& settings, TestDisk disk);
  TestConfig(const TestConfig&) = delete;
  TestConfig& operator=(const TestConfig&) = delete;
  TestConfig(TestConfig&&) = delete;
  TestConfig& operator=(TestConfig&&) = delete;
  ~TestConfig() = default;

  cad_config config{};
  std::vector<cad_entry> tail;
  std::vector<std::uint64_t> starts;

 private:
  TestDisk disk_;
};

class RaftNode {
 public:
  RaftNode(std::uint64_t id, const TestSettings& settings, TestDisk disk);
  RaftNode(const RaftNode&) = delete;
  RaftNode& operator=(const RaftNode&) = delete;
  RaftNode(RaftNode&&) = delete;
  RaftNode& operator=(RaftNode&&) = delete;
  ~RaftNode() = default;

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] cad_raft* raft() const { return raft_.get(); }  // null once removed
  [[nodiscard]] cad_status status() const;
  [[nodiscard]] bool leads() const { return status().role == CAD_ROLE_LEADER; }
  [[nodiscard]] std::vector<cad_progress> progress() const;
  [[nodiscard]] const TestDisk& disk() const { return disk_; }

  void crash_and_restart();
  // Takes outputs until there are none, and persists them if that is the setting.
  void pump();
  // Takes one output, which waits for sync().
  void take_one();
  // Persists the oldest `outputs` that wait, and pumps.
  void sync(std::size_t outputs = SIZE_MAX);
  [[nodiscard]] std::size_t waiting() const { return writes_.size(); }

  cad_result step(const std::string& bytes);
  cad_result propose(std::string_view body);
  cad_result propose_conf(std::vector<cad_conf_op> ops, std::uint32_t transition = 0);
  void tick(int times = 1);
  void campaign();
  void read_index(std::string_view context);
  // Drops the log up to the applied index.
  void truncate_to_applied();

  [[nodiscard]] std::vector<Mail> take_mail() { return std::exchange(mail_, {}); }
  [[nodiscard]] std::vector<cad_want> take_wants();
  void answer(const cad_want& want);

  struct Read {
    std::uint64_t index = 0;
    std::string context;
  };
  std::vector<Read> reads;                // answered
  std::vector<TestEntry> committed;       // handed out since the last restart
  std::vector<std::uint64_t> sync_reads;  // first indexes asked for through callbacks.read
  std::vector<std::string> log;           // lines, "level text"
  int outputs_without_sync = 0;
  std::size_t entries_replaced = 0;  // on disk, by those of a later leader

 private:
  struct Write {
    std::uint64_t number = 0;
    bool has_hard = false;
    bool has_snapshot = false;
    cad_hard_state hard{};
    TestDisk snapshot;  // the fields that a snapshot sets
    std::vector<TestEntry> entries;
    std::vector<Mail> held;
  };

  static cad_result read(void* self,
                         std::uint64_t low,
                         std::uint64_t high,
                         std::uint64_t bytes_max,
                         cad_entries** out) noexcept;
  static void write_log(void* self, std::uint32_t level, cad_slice text) noexcept;

  void open();
  void persist(const Write& write);
  void apply(const std::vector<TestEntry>& run);
  void apply_conf(const TestEntry& entry);
  void add_mail(const cad_message* messages, std::size_t count, std::vector<Mail>& to) const;

  std::uint64_t id_;
  TestSettings settings_;
  TestDisk disk_;
  RaftHandle raft_;
  std::deque<Write> writes_;
  std::vector<Mail> mail_;
};

// The state of a state machine as bytes, and back.
[[nodiscard]] std::string encode_state(const std::map<std::uint64_t, std::string>& state);
[[nodiscard]] std::map<std::uint64_t, std::string> decode_state(std::string_view bytes);

}  // namespace cadastre::log
