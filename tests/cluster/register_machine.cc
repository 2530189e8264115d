#include "tests/cluster/register_machine.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/xxh3.h"
#include "log/entry.h"
#include "log/state_machine.h"
#include "log/types.h"

namespace cadastre::cluster {
namespace {

constexpr std::size_t kHeadBytes = 32;
constexpr std::size_t kRegisterBytes = 16;
constexpr std::size_t kSumBytes = 4;

std::uint64_t roll(std::uint64_t digest, log::Position at, base::ByteView bytes) {
  std::array<std::byte, 24> head;
  base::store_le(head.data(), digest);
  base::store_le(head.data() + 8, at.term.value());
  base::store_le(head.data() + 16, at.index.value());
  return base::xxh3_64(bytes, base::xxh3_64(head));
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

// All of it, synced. False: the disk has no room, or does not work.
bool write_synced(const std::filesystem::path& path, base::ByteView bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const ssize_t written = write(file, bytes.data(), bytes.size());
  const bool good = written == static_cast<ssize_t>(bytes.size()) && fsync(file) == 0;
  return (close(file) == 0) && good;
}

bool sync_directory(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool good = fsync(file) == 0;
  return (close(file) == 0) && good;
}

}  // namespace

RegisterMachine::RegisterMachine(Files files, log::NodeId node)
    : files_(std::move(files)),
      node_(node),
      reports_(open(files_.reports.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  CAD_CHECK(reports_ >= 0, "reports have a disk that works");
  if (std::filesystem::exists(files_.state)) load();
  report(fmt::format("n{} restored {} #{:x}\n", node_.value(), applied_.index.value(), digest_));
}

RegisterMachine::~RegisterMachine() {
  close(reports_);
}

void RegisterMachine::load() {
  std::ifstream in(files_.state, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(in), {});
  const base::ByteView bytes = base::as_bytes(content);
  CAD_CHECK(bytes.size() >= kHeadBytes + kSumBytes, "a file that was renamed is whole");
  const std::size_t body = bytes.size() - kSumBytes;
  CAD_CHECK(base::load_le<std::uint32_t>(bytes.data() + body) == base::crc32c(bytes.first(body)),
            "a file that was renamed is whole");
  const auto word = [&](std::size_t at) {
    return base::load_le<std::uint64_t>(bytes.data() + at);
  };
  applied_ = {log::Term{word(0)}, log::Index{word(8)}};
  digest_ = word(16);
  CAD_CHECK(body == kHeadBytes + word(24) * kRegisterBytes, "a file has its registers");
  const base::MutexLock lock(mutex_);
  for (std::size_t at = kHeadBytes; at < body; at += kRegisterBytes)
    registers_.emplace(word(at), word(at + 8));
  durable_ = applied_;
}

std::string RegisterMachine::execute(std::string_view command) {
  const auto words = words_of(command);
  if (words.size() < 3) return "error";
  const auto key = number_of(words[1]);
  const auto value = number_of(words.back());
  if (!key || !value) return "error";
  if (words[0] == "put" && words.size() == 3) {
    registers_[*key] = *value;
    return "ok";
  }
  if (words[0] != "cas" || words.size() != 4) return "error";
  const auto found = registers_.find(*key);
  const std::string current = found == registers_.end() ? "nil" : std::to_string(found->second);
  if (current != words[2]) return "kept";
  registers_[*key] = *value;
  return "swapped";
}

base::Result<void, log::ApplyError> RegisterMachine::apply(std::span<const log::EntryView> round,
                                                           log::ResultSink& results) {
  std::string told;
  {
    const base::MutexLock lock(mutex_);
    for (const log::EntryView& entry : round) {
      for (const base::ByteView command : entry.commands) {
        const std::string answer = execute(base::as_text(command));
        const base::ByteView bytes = base::as_bytes(answer);
        results.result(base::Bytes(bytes.begin(), bytes.end()));
        digest_ = roll(digest_, entry.at, command);
        digest_ = roll(digest_, entry.at, bytes);
      }
      digest_ = roll(digest_, entry.at, {});
      applied_ = entry.at;
      told += fmt::format("n{} applied {} #{:x}\n", node_.value(), applied_.index.value(), digest_);
    }
  }
  report(told);
  return {};
}

void RegisterMachine::report(std::string_view text) const {
  const ssize_t told = write(reports_, text.data(), text.size());
  CAD_CHECK(told == static_cast<ssize_t>(text.size()), "reports have a disk that works");
}

base::Bytes RegisterMachine::encoded() const {
  const base::MutexLock lock(mutex_);
  base::Bytes bytes(kHeadBytes + registers_.size() * kRegisterBytes + kSumBytes);
  std::byte* out = bytes.data();
  const auto put = [&out](std::uint64_t word) {
    base::store_le(out, word);
    out += sizeof word;
  };
  for (const std::uint64_t word :
       {applied_.term.value(), applied_.index.value(), digest_, std::uint64_t{registers_.size()}})
    put(word);
  for (const auto& [key, value] : registers_) {
    put(key);
    put(value);
  }
  base::store_le(out, base::crc32c(base::ByteView(bytes).first(bytes.size() - kSumBytes)));
  return bytes;
}

void RegisterMachine::request_flush() {
  const std::filesystem::path temporary = files_.state.string() + ".new";
  if (!write_synced(temporary, encoded())) return;
  std::error_code code;
  std::filesystem::rename(temporary, files_.state, code);
  if (!code && sync_directory(files_.state.parent_path())) durable_ = applied_;
}

base::Result<log::Position, log::CheckpointError> RegisterMachine::checkpoint(
    const log::CheckpointTarget& /*to*/) {
  return base::fail(log::CheckpointError::kStorage, "registers have no checkpoints");
}

base::Result<void, log::InstallError> RegisterMachine::check(
    const log::StagedCheckpoint& /*staged*/) const {
  return base::fail(log::InstallError::kStorage, "registers have no checkpoints");
}

base::Result<void, log::InstallError> RegisterMachine::install(
    const log::StagedCheckpoint& /*from*/) {
  return base::fail(log::InstallError::kStorage, "registers have no checkpoints");
}

std::optional<std::uint64_t> RegisterMachine::read(std::uint64_t key) const {
  const base::MutexLock lock(mutex_);
  const auto found = registers_.find(key);
  if (found == registers_.end()) return std::nullopt;
  return found->second;
}

}  // namespace cadastre::cluster
