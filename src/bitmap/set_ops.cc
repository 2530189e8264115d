#include "bitmap/set_ops.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "bitmap/container.h"
#include "bitmap/container_convert.h"
#include "bitmap/container_ops.h"
#include "bitmap/error.h"
#include "bitmap/id_stream.h"
#include "bitmap/ids.h"
#include "bitmap/limits.h"

namespace cadastre::bitmap {
namespace {

// Of the nodes of a large union. Each looks at all its operands for every chunk.
constexpr std::size_t kUnionFanOut = 16;

using MaybeContainer = std::optional<ContainerView>;
using MaybeCount = std::optional<ChunkCount>;

std::optional<Misuse> wrong_with(std::span<const Stream> operands) {
  if (operands.size() > kOperandsMax) return Misuse::kTooManyOperands;
  for (const Stream& operand : operands) {
    if (operand->direction() != operands[0]->direction()) return Misuse::kMixedDirections;
  }
  return std::nullopt;
}

Direction direction_of(std::span<const Stream> operands) {
  return operands.empty() ? Direction::kAscending : operands[0]->direction();
}

std::vector<Stream> pair_of(Stream a, Stream b) {
  std::vector<Stream> both;
  both.reserve(2);
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  return both;
}

using Combine = ContainerView (*)(const ContainerView&,
                                  const ContainerView&,
                                  ContainerBuffer&) noexcept;

// Several containers of one chunk, one after the other, through two buffers in turn.
class Fold {
 public:
  void start(const ContainerView& container) noexcept { value_ = container; }
  void with(Combine combine, const ContainerView& container) noexcept {
    value_ = combine(value_, container, buffers_[turn_]);
    turn_ = 1 - turn_;
  }
  [[nodiscard]] const ContainerView& value() const noexcept { return value_; }

 private:
  ContainerView value_;
  std::size_t turn_ = 0;
  std::array<ContainerBuffer, 2> buffers_;
};

// What all set operations share: operands, each with the container it stands at.
class SetOperation : public IdStream {
 public:
  explicit SetOperation(std::vector<Stream> operands)
      : IdStream(direction_of(operands)),
        wrong_(wrong_with(operands)),
        operands_(std::move(operands)),
        current_(operands_.size()) {}

  Result<MaybeContainer, Error> next() final {
    CAD_TRY(advance_all());
    return find_container();
  }
  Result<MaybeContainer, Error> seek(std::uint64_t chunk) final {
    CAD_TRY(seek_all(chunk));
    return find_container();
  }
  Result<MaybeCount, Error> skim() final {
    CAD_TRY(advance_all());
    while (CAD_TRY(align())) {
      const std::uint32_t cardinality = measure();
      if (cardinality != 0) return ChunkCount{chunk_, cardinality};
      CAD_TRY(advance_all());
    }
    return std::nullopt;
  }

 protected:
  // Moves operands until the operation may have something in chunk(), and marks those that take
  // part; false at the end.
  virtual Result<bool, Error> align() = 0;
  // Of the marked operands. Of cardinality 0 if nothing is left.
  virtual ContainerView combine() = 0;
  virtual std::uint32_t measure() { return combine().cardinality; }

  [[nodiscard]] std::size_t size() const noexcept { return operands_.size(); }
  [[nodiscard]] const MaybeContainer& at(std::size_t i) const noexcept { return current_[i]; }
  [[nodiscard]] std::uint64_t chunk() const noexcept { return chunk_; }
  void stand_at(std::uint64_t chunk) noexcept { chunk_ = chunk; }
  [[nodiscard]] bool is_at(std::size_t i, std::uint64_t chunk) const noexcept {
    return current_[i] && current_[i]->chunk == chunk;
  }
  Result<void, Error> move_to(std::size_t i, std::uint64_t chunk) {
    if (current_[i] && comes_before(current_[i]->chunk, chunk)) {
      current_[i] = CAD_TRY(operands_[i]->seek(chunk));
    }
    return {};
  }
  Result<void, Error> step(std::size_t i) {
    current_[i] = CAD_TRY(operands_[i]->next());
    return {};
  }
  // The operation's next chunk if any operand may begin it.
  [[nodiscard]] std::optional<std::uint64_t> nearest() const noexcept {
    std::optional<std::uint64_t> least;
    for (const MaybeContainer& container : current_) {
      if (container && (!least || comes_before(container->chunk, *least))) least = container->chunk;
    }
    return least;
  }

 private:
  Result<MaybeContainer, Error> find_container() {
    while (CAD_TRY(align())) {
      const ContainerView container = combine();
      if (container.cardinality != 0) return container;
      CAD_TRY(advance_all());
    }
    return std::nullopt;
  }

  // Past the chunk that was given last.
  Result<void, Error> advance_all() {
    if (wrong_) return base::fail(misuse(*wrong_));
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!started_ || is_at(i, chunk_)) CAD_TRY(step(i));
    }
    started_ = true;
    return {};
  }

  Result<void, Error> seek_all(std::uint64_t chunk) {
    if (wrong_) return base::fail(misuse(*wrong_));
    if (started_ && !comes_before(chunk_, chunk)) return advance_all();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!started_ || (current_[i] && comes_before(current_[i]->chunk, chunk))) {
        current_[i] = CAD_TRY(operands_[i]->seek(chunk));
      }
    }
    started_ = true;
    return {};
  }

  std::optional<Misuse> wrong_;
  std::vector<Stream> operands_;
  std::vector<MaybeContainer> current_;
  std::uint64_t chunk_ = 0;  // that combine() made last
  bool started_ = false;
};

// Each operand in turn is moved to the farthest chunk that any of them stands at.
class AllOf final : public SetOperation {
 public:
  using SetOperation::SetOperation;

 protected:
  Result<bool, Error> align() override {
    if (size() == 0 || !at(0)) return false;
    std::uint64_t wanted = at(0)->chunk;
    for (std::size_t agreed = 0, i = 0; agreed < size(); i = (i + 1) % size()) {
      CAD_TRY(move_to(i, wanted));
      if (!at(i)) return false;
      if (at(i)->chunk == wanted) {
        ++agreed;
      } else {
        wanted = at(i)->chunk;
        agreed = 1;
      }
    }
    stand_at(wanted);
    return true;
  }

  ContainerView combine() override {
    const std::size_t smallest = smallest_operand();
    fold_.start(*at(smallest));
    for (std::size_t i = 0; i < size() && fold_.value().cardinality != 0; ++i) {
      if (i != smallest) fold_.with(intersect, *at(i));
    }
    return fold_.value();
  }

  std::uint32_t measure() override {
    if (size() != 2) return combine().cardinality;
    return intersection_cardinality(*at(0), *at(1));
  }

 private:
  [[nodiscard]] std::size_t smallest_operand() const noexcept {
    std::size_t smallest = 0;
    for (std::size_t i = 1; i < size(); ++i) {
      if (at(i)->cardinality < at(smallest)->cardinality) smallest = i;
    }
    return smallest;
  }

  Fold fold_;
};

class AnyOf final : public SetOperation {
 public:
  using SetOperation::SetOperation;

 protected:
  Result<bool, Error> align() override {
    const auto least = nearest();
    if (least) stand_at(*least);
    return least.has_value();
  }

  ContainerView combine() override {
    bool started = false;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!is_at(i, chunk())) continue;
      if (started) {
        fold_.with(unite, *at(i));
      } else {
        fold_.start(*at(i));
      }
      started = true;
    }
    return fold_.value();
  }

  std::uint32_t measure() override {
    if (size() != 2 || !is_at(0, chunk()) || !is_at(1, chunk())) return combine().cardinality;
    return at(0)->cardinality + at(1)->cardinality - intersection_cardinality(*at(0), *at(1));
  }

 private:
  Fold fold_;
};

class Nothing final : public IdStream {
 public:
  using IdStream::IdStream;

  Result<MaybeContainer, Error> next() override { return std::nullopt; }
  Result<MaybeContainer, Error> seek(std::uint64_t /*chunk*/) override { return std::nullopt; }
};

class AtLeast final : public SetOperation {
 public:
  AtLeast(std::size_t least, std::vector<Stream> operands)
      : SetOperation(std::move(operands)), least_(least), seen_(kSlotsPerChunk) {
    CAD_CHECK(least > 0, "every id is in at least 0 sets, and they cannot be listed");
  }

 protected:
  Result<bool, Error> align() override {
    const auto least = nearest();
    if (least) stand_at(*least);
    return least.has_value();
  }

  ContainerView combine() override {
    std::size_t here = 0;
    for (std::size_t i = 0; i < size(); ++i)
      here += is_at(i, chunk()) ? 1 : 0;
    if (here < least_) return {};
    touched_.clear();
    for (std::size_t i = 0; i < size(); ++i) {
      if (is_at(i, chunk())) tally(*at(i));
    }
    std::ranges::sort(touched_);
    return chosen();
  }

 private:
  void tally(const ContainerView& container) noexcept {
    std::array<std::uint16_t, kBlockIds> slots;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    SlotReader reader(container);
    for (std::size_t n = reader.read(slots); n != 0; n = reader.read(slots)) {
      for (const std::uint16_t slot : std::span(slots).first(n)) {
        if (seen_[slot] == 0) touched_.push_back(slot);
        ++seen_[slot];
      }
    }
  }

  ContainerView chosen() noexcept {
    ids_.clear();
    for (const std::uint16_t slot : touched_) {
      if (seen_[slot] >= least_) ids_.push_back(id_at(chunk(), slot));
      seen_[slot] = 0;
    }
    return ids_.empty() ? ContainerView{} : from_ids(ids_, buffer_);
  }

  std::size_t least_;
  std::vector<std::uint16_t> seen_;  // in how many operands a slot is; all 0 between chunks
  std::vector<std::uint16_t> touched_;
  std::vector<Id> ids_;
  ContainerBuffer buffer_;
};

class Minus final : public SetOperation {
 public:
  Minus(Stream from, Stream what) : SetOperation(pair_of(std::move(from), std::move(what))) {}

 protected:
  Result<bool, Error> align() override {
    if (!at(0)) return false;
    stand_at(at(0)->chunk);
    CAD_TRY(move_to(1, at(0)->chunk));
    return true;
  }

  ContainerView combine() override {
    return is_at(1, chunk()) ? subtract(*at(0), *at(1), buffer_) : *at(0);
  }

  std::uint32_t measure() override {
    const std::uint32_t all = at(0)->cardinality;
    return is_at(1, chunk()) ? all - intersection_cardinality(*at(0), *at(1)) : all;
  }

 private:
  ContainerBuffer buffer_;
};

class Either final : public SetOperation {
 public:
  Either(Stream a, Stream b) : SetOperation(pair_of(std::move(a), std::move(b))) {}

 protected:
  Result<bool, Error> align() override {
    const auto least = nearest();
    if (least) stand_at(*least);
    return least.has_value();
  }

  ContainerView combine() override {
    if (!is_at(0, chunk())) return *at(1);
    if (!is_at(1, chunk())) return *at(0);
    return symmetric_difference(*at(0), *at(1), buffer_);
  }

  std::uint32_t measure() override {
    if (!is_at(0, chunk())) return at(1)->cardinality;
    if (!is_at(1, chunk())) return at(0)->cardinality;
    return at(0)->cardinality + at(1)->cardinality - 2 * intersection_cardinality(*at(0), *at(1));
  }

 private:
  ContainerBuffer buffer_;
};

class Within final : public IdStream {
 public:
  Within(Stream stream, IdRange range)
      : IdStream(stream->direction()), stream_(std::move(stream)), range_(range) {}

  Result<MaybeContainer, Error> next() override {
    if (range_.last < range_.first) return std::nullopt;
    if (started_) return clip(CAD_TRY(stream_->next()));
    started_ = true;
    return clip(CAD_TRY(stream_->seek(chunk_of(nearer_end()))));
  }
  Result<MaybeContainer, Error> seek(std::uint64_t chunk) override {
    if (range_.last < range_.first) return std::nullopt;
    const std::uint64_t begin = chunk_of(nearer_end());
    started_ = true;
    return clip(CAD_TRY(stream_->seek(comes_before(chunk, begin) ? begin : chunk)));
  }

 private:
  [[nodiscard]] Id nearer_end() const noexcept {
    return direction() == Direction::kAscending ? range_.first : range_.last;
  }

  // Only the two chunks at the ends of the range are cut; an end may leave nothing of its chunk.
  Result<MaybeContainer, Error> clip(MaybeContainer container) {
    while (container) {
      const std::uint64_t chunk = container->chunk;
      if (chunk < chunk_of(range_.first) || chunk > chunk_of(range_.last)) return std::nullopt;
      const Run inside{chunk == chunk_of(range_.first) ? slot_of(range_.first) : std::uint16_t{0},
                       chunk == chunk_of(range_.last)
                           ? slot_of(range_.last)
                           : static_cast<std::uint16_t>(kSlotsPerChunk - 1)};
      if (inside.first == 0 && inside.last == kSlotsPerChunk - 1) return container;
      const ContainerView cut = intersect(*container, from_run(chunk, inside, mask_), buffer_);
      if (cut.cardinality != 0) return cut;
      container = CAD_TRY(stream_->next());
    }
    return std::nullopt;
  }

  Stream stream_;
  IdRange range_;
  bool started_ = false;
  ContainerBuffer mask_;
  ContainerBuffer buffer_;
};

}  // namespace

Stream all_of(std::vector<Stream> operands) {
  return std::make_unique<AllOf>(std::move(operands));
}

Stream any_of(std::vector<Stream> operands) {
  return std::make_unique<AnyOf>(std::move(operands));
}

Stream unite_many(std::vector<Stream> operands, Direction direction) {
  if (operands.empty()) return std::make_unique<Nothing>(direction);
  while (operands.size() > 1) {
    std::vector<Stream> parents;
    for (std::size_t i = 0; i < operands.size(); i += kUnionFanOut) {
      const std::size_t end = std::min(operands.size(), i + kUnionFanOut);
      std::vector<Stream> group;
      for (std::size_t j = i; j < end; ++j)
        group.push_back(std::move(operands[j]));
      parents.push_back(any_of(std::move(group)));
    }
    operands = std::move(parents);
  }
  return std::move(operands.front());
}

Stream at_least(std::size_t least, std::vector<Stream> operands) {
  return std::make_unique<AtLeast>(least, std::move(operands));
}

Stream minus(Stream from, Stream what) {
  return std::make_unique<Minus>(std::move(from), std::move(what));
}

Stream either(Stream a, Stream b) {
  return std::make_unique<Either>(std::move(a), std::move(b));
}

Stream within(Stream stream, IdRange range) {
  return std::make_unique<Within>(std::move(stream), range);
}

}  // namespace cadastre::bitmap
