// Checkpoints for tests: a state's files, and a pool and a timer that run when they are told to.

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <stdlib.h>

#include "base/bytes.h"
#include "base/check.h"
#include "client/timer.h"
#include "log/checkpoint_disk.h"
#include "log/checkpoint_files.h"
#include "server/bulk_pool.h"
#include "server/checkpoint_staging.h"

namespace cadastre::server {

// A directory of its own, gone with its test.
class CheckpointScratch {
 public:
  CheckpointScratch() {
    std::string name =
        (std::filesystem::temp_directory_path() / "cadastre-checkpoints-XXXXXX").string();
    CAD_CHECK(mkdtemp(name.data()) != nullptr, "a test can make a directory");
    path_ = name;
  }
  CheckpointScratch(const CheckpointScratch&) = delete;
  CheckpointScratch& operator=(const CheckpointScratch&) = delete;
  ~CheckpointScratch() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr log::CheckpointName kMade{log::GroupId{3}, log::NodeId{1}, log::CheckpointId{9}};
inline constexpr std::size_t kTableBytes = 700'000;

inline log::CheckpointFacts facts_of(const log::CheckpointName& name) {
  return {.cluster = log::ClusterId{7},
          .group = name.group,
          .at = {log::Term{2}, log::Index{40}},
          .node = name.node,
          .id = name.id};
}

inline void write_file(const std::filesystem::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

// What a state machine writes: a table of three ranges, a short file and an empty one.
inline void write_state(const std::filesystem::path& directory) {
  std::filesystem::create_directory(directory);
  std::string table(kTableBytes, 's');
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = static_cast<char>('a' + i % 23);
  write_file(directory / "000001.sst", table);
  write_file(directory / "CURRENT", "MANIFEST-1\n");
  write_file(directory / "EMPTY", "");
}

inline base::Bytes read_range(const std::filesystem::path& directory, const FileRange& range) {
  const auto in = log::DiskFile::open(directory / range.file, 0);
  CAD_CHECK(in.has_value(), "a test's range is of a file that is there");
  auto bytes = in->read_at(range.offset, range.bytes);
  CAD_CHECK(bytes.has_value(), "a test's files can be read");
  return *std::move(bytes);
}

class QueuedPool final : public BulkPool {
 public:
  void run(std::move_only_function<void()> task) override { tasks_.push_back(std::move(task)); }
  // Until nothing waits.
  void run_all() {
    while (step()) {}
  }
  // As another of its threads might: the newest before the others.
  void run_newest() {
    auto task = std::move(tasks_.back());
    tasks_.pop_back();
    task();
  }
  bool step() {
    if (tasks_.empty()) return false;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }

 private:
  std::deque<std::move_only_function<void()>> tasks_;
};

class QueuedTimer final : public client::Timer {
 public:
  void after(std::chrono::milliseconds delay, std::move_only_function<void()> task) override {
    delays.push_back(delay);
    tasks_.push_back(std::move(task));
  }
  // What waits now, whatever its delay.
  void fire() {
    for (auto& task : std::exchange(tasks_, {}))
      task();
  }

  std::vector<std::chrono::milliseconds> delays;

 private:
  std::vector<std::move_only_function<void()>> tasks_;
};

}  // namespace cadastre::server
