#include "log/read_rounds.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace cadastre::log {
namespace {

// Takes out whoever the rule names.
template <class Rule>
std::vector<ReadRounds::Reader> take_if(std::vector<ReadRounds::Reader>& readers, Rule rule) {
  std::vector<ReadRounds::Reader> taken;
  std::vector<ReadRounds::Reader> kept;
  for (ReadRounds::Reader& reader : readers)
    (rule(reader) ? taken : kept).push_back(std::move(reader));
  readers = std::move(kept);
  return taken;
}

}  // namespace

void ReadRounds::begin(std::uint64_t sequence, base::Elapsed now) {
  CAD_CHECK(due(), "a round has readers");
  rounds_.emplace(sequence, Round{now, std::exchange(waiting_, {})});
}

std::vector<ReadRounds::Reader> ReadRounds::answered(std::uint64_t sequence) {
  const auto found = rounds_.find(sequence);
  if (found == rounds_.end()) return {};
  std::vector<Reader> readers = std::move(found->second.readers);
  rounds_.erase(found);
  return readers;
}

void ReadRounds::wait_again(Round& round) {
  waiting_.insert(waiting_.begin(), std::make_move_iterator(round.readers.begin()),
                  std::make_move_iterator(round.readers.end()));
}

std::vector<ReadRounds::Reader> ReadRounds::expire(base::Elapsed round_most, base::Elapsed now) {
  while (!rounds_.empty() && now - rounds_.begin()->second.began >= round_most) {
    wait_again(rounds_.begin()->second);
    rounds_.erase(rounds_.begin());
  }
  return take_if(waiting_, [&](const Reader& reader) {
    return now - reader.came >= kReadAttemptsMax * round_most;
  });
}

std::vector<ReadRounds::Reader> ReadRounds::forget() {
  for (auto& [sequence, round] : rounds_)
    wait_again(round);
  rounds_.clear();
  return take_linearizable();
}

std::vector<ReadRounds::Reader> ReadRounds::take_linearizable() {
  return take_if(waiting_, [](const Reader& reader) { return reader.mode != ReadMode::kFollower; });
}

std::vector<ReadRounds::Reader> ReadRounds::take_all() {
  for (auto& [sequence, round] : rounds_)
    wait_again(round);
  rounds_.clear();
  return std::exchange(waiting_, {});
}

}  // namespace cadastre::log
