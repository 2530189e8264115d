// A process with a log, to be killed (kill_test.cc). victim_protocol.h says what it does.

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/endian.h"
#include "base/logger.h"
#include "base/threads_testing.h"
#include "log/group.h"
#include "node/local_log.h"
#include "tests/log/file_machine.h"
#include "tests/log/victim_protocol.h"

namespace cadastre::log {
namespace {

constexpr std::ptrdiff_t kOutstanding = 64;  // Of one submitter.
constexpr std::size_t kFlushEvery = 20;

// To a pipe, at once: what was written stays there when the process is killed.
void tell(std::uint64_t word) {
  std::array<std::byte, sizeof word> bytes;
  base::store_le(bytes.data(), word);
  const ssize_t told = write(STDOUT_FILENO, bytes.data(), bytes.size());
  CAD_CHECK(told == static_cast<ssize_t>(bytes.size()), "the parent listens");
}

class Victim {
 public:
  explicit Victim(const std::filesystem::path& directory) {
    auto opened = node::LocalLog::open({.directory = directory / "log"}, clock_, logger_);
    CAD_CHECK(opened.has_value(), opened.error().detail.c_str());
    log_ = std::move(*opened);
    for (std::uint64_t i = 1; i <= kVictimGroups; ++i) {
      machines_.push_back(std::make_unique<FileMachine>(directory / ("state." + std::to_string(i)),
                                                        kFlushEvery + i));
      auto group = log_->host().open_group({.group = GroupId{i}, .machine = *machines_.back()});
      CAD_CHECK(group.has_value(), group.error().detail.c_str());
      groups_.push_back(*group);
    }
  }

  [[noreturn]] void work(std::uint64_t life) {
    base::run_in_threads(static_cast<int>(kVictimSubmitters), [&](int submitter) {
      submit(life, static_cast<std::uint64_t>(submitter));
    });
    std::abort();  // Submitters go on for ever.
  }

  void verify() {
    CAD_CHECK(log_->stop(std::chrono::seconds(30)), "a log that nobody uses stops");
    for (std::uint64_t i = 0; i < kVictimGroups; ++i) {
      const std::vector<std::uint64_t> numbers = machines_[i]->numbers();
      tell(i + 1);
      tell(groups_[i]->status().term.value());
      tell(machines_[i]->digest());
      tell(numbers.size());
      for (const std::uint64_t number : numbers)
        tell(number);
    }
  }

 private:
  void submit(std::uint64_t life, std::uint64_t submitter) {
    std::counting_semaphore<kOutstanding> room(kOutstanding);
    for (std::uint64_t count = 0;; ++count) {
      room.acquire();
      const VictimNumber number{life, submitter, count};
      std::array<std::byte, sizeof(std::uint64_t)> command;
      base::store_le(command.data(), number.value());
      std::array proposals{Proposal{command, [&room, number](const Answer& answer) {
                                      CAD_CHECK(answer.has_value(), "nobody stops this log");
                                      tell(number.value());
                                      room.release();
                                    }}};
      groups_[number.group() - 1]->propose(proposals, Class::kUser);
    }
  }

  const base::SystemClock clock_;
  const std::unique_ptr<base::LogSink> sink_ = base::stderr_log_sink();
  const base::Logger logger_{*sink_, clock_, base::LogForm::kText};
  std::vector<std::unique_ptr<FileMachine>> machines_;
  std::unique_ptr<node::LocalLog> log_;
  std::vector<Group*> groups_;
};

}  // namespace
}  // namespace cadastre::log

int main(int count, char** words) {
  CAD_CHECK(count == 4, "log_victim work|verify DIRECTORY LIFE");
  cadastre::log::Victim victim(words[2]);
  if (std::string_view(words[1]) == "work") victim.work(std::stoull(words[3]));
  victim.verify();
  return 0;
}
