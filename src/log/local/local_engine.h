// LocalEngine: what is synced on this disk is committed (L-21 to L-23).
//
// Its term is the number of times the group was opened: it opens with an empty entry in the term after
// the log's last, so that a term fences the work of an earlier run. There are no votes, no peers and no
// ticks; the commit index is not stored, since after a restart every entry of the log is committed.

#pragma once

#include <deque>
#include <vector>

#include "log/engine.h"
#include "log/storage.h"

namespace cadastre::log {

class LocalEngine final : public Engine {
 public:
  // Everything that the image holds has been applied or will be by the caller: the engine hands out
  // only what comes after it.
  explicit LocalEngine(const GroupImage& image);

  [[nodiscard]] base::Result<Position, ProposeError> propose(Term term_or_any,
                                                             std::span<const Body> bodies) override;
  void read_index(const ReadContext& context) override;
  void tick() override {}

  [[nodiscard]] bool has_output() const override;
  [[nodiscard]] Output take_output() override;
  void on_persisted(OutputNumber upto) override;
  void on_applied(Index upto) override;
  void on_truncated(Position upto) override;

  [[nodiscard]] EngineStatus status() const override;
  [[nodiscard]] Replica* replica() noexcept override { return nullptr; }

 private:
  struct InFlight {
    OutputNumber number;
    std::vector<Entry> entries;
  };

  const Term term_;
  const Index term_start_;
  Index truncated_;
  Index last_;
  Index persisted_;  // Equals the commit index.
  Index applied_;
  OutputNumber next_output_{1};
  std::vector<Entry> appended_;     // Not yet in an output.
  std::deque<InFlight> in_flight_;  // In an output, not yet persisted.
  std::vector<Entry> committed_;    // Persisted, not yet handed out.
  std::vector<ReadState> reads_;
};

}  // namespace cadastre::log
