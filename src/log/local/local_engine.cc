#include "log/local/local_engine.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace cadastre::log {

LocalEngine::LocalEngine(const GroupImage& image)
    : term_(Term{image.state.term.value() + 1}),
      term_start_(image.last.index + 1),
      truncated_(image.truncated.index),
      last_(term_start_),
      persisted_(image.last.index),
      applied_(image.last.index) {
  appended_.push_back({.at = {term_, term_start_}, .type = EntryType::kNormal, .body = {}});
}

base::Result<Position, ProposeError> LocalEngine::propose(Term term_or_any,
                                                          std::span<const Body> bodies) {
  CAD_CHECK(!bodies.empty(), "a proposal has a body");
  if (term_or_any != kAnyTerm && term_or_any != term_) {
    return base::fail(ProposeError::kNotLeader, "the group is in term " + to_string(term_));
  }
  const Position first{term_, last_ + 1};
  for (const Body& body : bodies) {
    last_ = last_ + 1;
    appended_.push_back({.at = {term_, last_}, .type = EntryType::kNormal, .body = body});
  }
  return first;
}

void LocalEngine::read_index(const ReadContext& context) {
  reads_.push_back({context, persisted_});
}

bool LocalEngine::has_output() const {
  return !appended_.empty() || !committed_.empty() || !reads_.empty();
}

Output LocalEngine::take_output() {
  Output output;
  output.number = next_output_;
  next_output_ = OutputNumber{next_output_.value() + 1};
  output.committed = std::exchange(committed_, {});
  output.reads = std::exchange(reads_, {});
  if (!appended_.empty()) {
    output.must_sync = true;
    output.state = HardState{.term = term_, .vote = {}, .commit = {}};
    output.entries = appended_;
    in_flight_.push_back({output.number, std::exchange(appended_, {})});
  }
  return output;
}

void LocalEngine::on_persisted(OutputNumber upto) {
  while (!in_flight_.empty() && in_flight_.front().number <= upto) {
    std::vector<Entry>& entries = in_flight_.front().entries;
    persisted_ = entries.back().at.index;
    committed_.insert(committed_.end(), std::make_move_iterator(entries.begin()),
                      std::make_move_iterator(entries.end()));
    in_flight_.pop_front();
  }
}

void LocalEngine::on_applied(Index upto) {
  CAD_CHECK(upto >= applied_, "what is applied never goes back");
  CAD_CHECK(upto <= persisted_, "only what is persisted is applied");
  applied_ = upto;
}

void LocalEngine::on_truncated(Position upto) {
  CAD_CHECK(upto.index >= truncated_, "truncation never goes back");
  CAD_CHECK(upto.index <= applied_, "only what is applied is truncated");
  truncated_ = upto.index;
}

EngineStatus LocalEngine::status() const {
  return {.role = Role::kLeader,
          .term = term_,
          .leader = {},
          .term_start = term_start_,
          .last = last_,
          .persisted = persisted_,
          .committed = persisted_};
}

}  // namespace cadastre::log
