#include "tests/log/file_machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "tests/log/raw_log.h"

namespace cadastre::log {
namespace {

constexpr std::size_t kHeadBytes = 32;
constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kSumBytes = 4;

void sync_path(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CAD_CHECK(file >= 0, "a test can open its own file");
  CAD_CHECK(fsync(file) == 0, "a test has a disk that works");
  close(file);
}

}  // namespace

FileMachine::FileMachine(std::filesystem::path file, std::size_t flush_every)
    : file_(std::move(file)), flush_every_(flush_every) {
  if (std::filesystem::exists(file_)) load();
}

void FileMachine::load() {
  const std::string content = read_bytes(file_.string());
  const ByteView bytes = base::as_bytes(content);
  CAD_CHECK(bytes.size() >= kHeadBytes + kSumBytes, "a file that was renamed is whole");
  const std::size_t body = bytes.size() - kSumBytes;
  CAD_CHECK(base::load_le<std::uint32_t>(bytes.data() + body) == base::crc32c(bytes.first(body)),
            "a file that was renamed is whole");
  const auto word = [&](std::size_t at) {
    return base::load_le<std::uint64_t>(bytes.data() + at);
  };
  state_.applied = {Term{word(0)}, Index{word(8)}};
  state_.digest = word(16);
  CAD_CHECK(body == kHeadBytes + word(24) * kNumberBytes, "a file has its numbers");
  for (std::size_t at = kHeadBytes; at < body; at += kNumberBytes)
    state_.commands.push_back(content.substr(at, kNumberBytes));
  durable_ = state_.applied;
}

base::Result<void, ApplyError> FileMachine::apply(std::span<const EntryView> round,
                                                  ResultSink& results) {
  for (const EntryView& entry : round) {
    CAD_CHECK(entry.at.index == state_.applied.index + 1, "each index once, in order");
    for (const ByteView command : entry.commands) {
      CAD_CHECK(command.size() == kNumberBytes, "a command is a number");
      state_.execute(entry.at, command);
      results.result({});
    }
    state_.applied = entry.at;
  }
  if (flush_every_ != 0 && ++rounds_ % flush_every_ == 0) request_flush();
  return {};
}

void FileMachine::request_flush() {
  Bytes bytes(kHeadBytes);
  base::store_le(bytes.data(), state_.applied.term.value());
  base::store_le(bytes.data() + 8, state_.applied.index.value());
  base::store_le(bytes.data() + 16, state_.digest);
  base::store_le(bytes.data() + 24, std::uint64_t{state_.commands.size()});
  for (const std::string& command : state_.commands) {
    const ByteView number = base::as_bytes(command);
    bytes.insert(bytes.end(), number.begin(), number.end());
  }
  const std::uint32_t sum = base::crc32c(bytes);
  bytes.resize(bytes.size() + kSumBytes);
  base::store_le(bytes.data() + bytes.size() - kSumBytes, sum);

  const std::filesystem::path temporary = file_.string() + ".new";
  write_bytes(temporary.string(), std::string(base::as_text(bytes)));
  sync_path(temporary);
  std::filesystem::rename(temporary, file_);
  sync_path(file_.parent_path());
  durable_ = state_.applied;
}

base::Result<Position, CheckpointError> FileMachine::checkpoint(const CheckpointTarget& /*to*/) {
  return base::fail(CheckpointError::kStorage, "numbers have no checkpoints");
}

base::Result<void, InstallError> FileMachine::check(const StagedCheckpoint& /*staged*/) const {
  return base::fail(InstallError::kDamaged, "numbers have no checkpoints");
}

base::Result<void, InstallError> FileMachine::install(const StagedCheckpoint& /*from*/) {
  return base::fail(InstallError::kDamaged, "numbers have no checkpoints");
}

std::vector<std::uint64_t> FileMachine::numbers() const {
  return numbers_of(state_);
}

std::vector<std::uint64_t> numbers_of(const LedgerState& state) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(state.commands.size());
  for (const std::string& command : state.commands)
    numbers.push_back(base::load_le<std::uint64_t>(base::as_bytes(command).data()));
  return numbers;
}

}  // namespace cadastre::log
