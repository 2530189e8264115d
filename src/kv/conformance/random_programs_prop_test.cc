// Random programs on both backends against std::map: the same answers after every step, in the
// transaction, after its end, and in a reader that was there before.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/bytes.h"
#include "kv/kv.h"
#include "kv/lmdb_testing.h"
#include "kv/memory_testing.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace cadastre::kv::conformance {
namespace {

enum class Verb : std::uint8_t {
  kPut,
  kPutLarge,  // Beyond a page: stored outside the tree's leaves.
  kErase,
  kEraseRange,
  kGet,
  kFloor,
  kCeiling,
  kWalk,
  kCommit,
  kAbort,
};
constexpr int kVerbs = 10;
constexpr int kStepsMax = 40;
constexpr std::size_t kLargeBytes = 5'000;

struct Step {
  Verb verb = Verb::kPut;
  std::string key;
  std::string other;  // The other end of a range.
  int number = 0;     // A value, or how far to walk and which way.
};

int dice(int sides) {
  return *rc::gen::inRange(0, sides);
}

// Few bytes and mostly short: keys meet, nest and touch. Now and then one of the greatest length.
std::string any_key() {
  constexpr std::string_view kBytes(
      "\x00\x01"
      "a\xff",
      4);
  const int kind = dice(20);
  std::string key(kind == 0 ? 511U : 1U + static_cast<std::size_t>(kind % 3), 'a');
  for (std::size_t i = 0; i < std::min<std::size_t>(key.size(), 3); ++i)
    key[i] = kBytes[static_cast<std::size_t>(dice(static_cast<int>(kBytes.size())))];
  return key;
}

std::vector<Step> any_program() {
  std::vector<Step> steps(static_cast<std::size_t>(dice(kStepsMax)));
  for (Step& step : steps)
    step = {static_cast<Verb>(dice(kVerbs)), any_key(), any_key(), dice(9) - 4};
  return steps;
}

using Model = std::map<std::string, std::string>;  // Compares bytes as unsigned.

std::string shown_at(const Model& model, Model::const_iterator at) {
  return at == model.end() ? "nothing" : at->first + "=" + at->second;
}

// So many entries on from the first one not below `key`, or back if negative: what is met.
std::vector<std::string> walk_in(const Model& model, const std::string& key, int steps) {
  auto at = model.lower_bound(key);
  std::vector<std::string> met = {shown_at(model, at)};
  for (; steps > 0 && at != model.end(); --steps)
    met.push_back(shown_at(model, ++at));
  for (; steps < 0; ++steps) {
    if (at == model.begin()) {
      met.emplace_back("nothing");
      break;
    }
    met.push_back(shown_at(model, --at));
  }
  return met;
}

std::vector<std::string> walk_in(Reader& reader, const std::string& key, int steps) {
  const auto cursor = reader.cursor().value();
  std::vector<std::string> met = {shown(cursor->seek_ceiling(base::as_bytes(key)))};
  for (; steps > 0 && met.back() != "nothing"; --steps)
    met.push_back(shown(cursor->next()));
  for (; steps < 0; ++steps) {
    met.push_back(shown(cursor->prev()));
    if (met.back() == "nothing") break;
  }
  return met;
}

std::vector<std::string> contents_of(const Model& model) {
  std::vector<std::string> entries;
  for (auto at = model.begin(); at != model.end(); ++at)
    entries.push_back(shown_at(model, at));
  return entries;
}

// One program on one store, which is emptied first.
class Run {
 public:
  Run(Store& store, SpaceId space) : store_(store), space_(space) {
    begin();
    RC_ASSERT(writer().erase_range({}, base::as_bytes(std::string(600, '\xff'))));
    end(Verb::kCommit);
    before_ = store_.begin_read().value();
  }

  void run(const std::vector<Step>& program) {
    for (const Step& step : program) {
      take(step);
      RC_ASSERT(contents(writer()) == contents_of(model_));
    }
    end(Verb::kAbort);
    RC_ASSERT(contents(before_->reader(space_)).empty());
  }

 private:
  Writer& writer() { return txn_->writer(space_); }

  void begin() { txn_ = store_.begin_write().value(); }

  void end(Verb verb) {
    if (verb == Verb::kCommit) {
      RC_ASSERT(txn_->commit());
      committed_ = model_;
    }
    model_ = committed_;
    txn_.reset();
    const auto reader = store_.begin_read().value();
    RC_ASSERT(contents(reader->reader(space_)) == contents_of(committed_));
    begin();
  }

  void put(const std::string& key, const std::string& value) {
    RC_ASSERT(writer().put(base::as_bytes(key), base::as_bytes(value)));
    model_[key] = value;
  }

  void erase_range(const Step& step) {
    RC_ASSERT(writer().erase_range(base::as_bytes(step.key), base::as_bytes(step.other)));
    if (step.key < step.other)
      model_.erase(model_.lower_bound(step.key), model_.lower_bound(step.other));
  }

  void take(const Step& step) {
    const ByteView key = base::as_bytes(step.key);
    const std::string text = std::to_string(step.number);
    switch (step.verb) {
      case Verb::kPut: put(step.key, text); break;
      case Verb::kPutLarge: put(step.key, std::string(kLargeBytes, text.back())); break;
      case Verb::kErase:
        RC_ASSERT(writer().erase(key));
        model_.erase(step.key);
        break;
      case Verb::kEraseRange: erase_range(step); break;
      case Verb::kGet:
        RC_ASSERT(shown(writer().get(key)) ==
                  (model_.contains(step.key) ? model_.at(step.key) : "nothing"));
        break;
      case Verb::kFloor: {
        const auto above = model_.upper_bound(step.key);
        RC_ASSERT(shown(writer().cursor().value()->seek_floor(key)) ==
                  (above == model_.begin() ? "nothing" : shown_at(model_, std::prev(above))));
        break;
      }
      case Verb::kCeiling:
        RC_ASSERT(shown(writer().cursor().value()->seek_ceiling(key)) ==
                  shown_at(model_, model_.lower_bound(step.key)));
        break;
      case Verb::kWalk:
        RC_ASSERT(walk_in(writer(), step.key, step.number) ==
                  walk_in(model_, step.key, step.number));
        break;
      case Verb::kCommit:
      case Verb::kAbort: end(step.verb); break;
    }
  }

  Store& store_;
  const SpaceId space_;
  Model model_;
  Model committed_;
  std::unique_ptr<WriteTransaction> txn_;
  std::unique_ptr<ReadTransaction> before_;
};

void check_programs(Store& store) {
  const SpaceId space = store.open_space("space").value();
  const bool holds = rc::check("a store answers as a map does", [&] {
    const auto program = any_program();
    Run(store, space).run(program);
  });
  EXPECT_TRUE(holds);
}

TEST(RandomPrograms, MemoryAnswersAsAMap) {
  check_programs(*open_memory_store());
}

TEST(RandomPrograms, LmdbAnswersAsAMap) {
  const TemporaryDirectory directory;
  check_programs(*open_lmdb_store(directory.path(), {.durability = Durability::kNoSync}).value());
}

}  // namespace
}  // namespace cadastre::kv::conformance
