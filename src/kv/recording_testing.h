// RecordingWriter: a Writer that counts what is asked of the one behind it, and can fail a chosen call.
// For the tests of what is built on kv.
//
//   CallScript script;
//   RecordingWriter writer(txn->writer(space), script);
//   script.fail_call(3, {ErrorCode::kIo});    // the third call from now on
//   ...
//   EXPECT_EQ(script.count(Call::kPut), 0U);
//
// Calls on cursors count too. A failed call does not reach the writer behind.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"

namespace cadastre::kv {

enum class Call : std::uint8_t {
  kGet,
  kCursor,
  kSeek,  // seek_ceiling, seek_floor
  kStep,  // next, prev
  kPut,
  kErase,
  kEraseRange,
};
inline constexpr std::size_t kCallKinds = 7;

// What happens at each call. Several writers may share one.
class CallScript {
 public:
  // Counted from now, beginning with 1.
  void fail_call(std::uint64_t nth, Error error) {
    fail_at_ = calls() + nth;
    error_ = error;
  }
  // Called before each call that does not fail, for instance to end the process there.
  void before_call(std::function<void(Call)> hook) { hook_ = std::move(hook); }

  [[nodiscard]] std::uint64_t calls() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t count(Call call) const {
    return counts_[static_cast<std::size_t>(call)];
  }
  [[nodiscard]] std::uint64_t mutations() const {
    return count(Call::kPut) + count(Call::kErase) + count(Call::kEraseRange);
  }
  [[nodiscard]] bool has_failed() const { return fail_at_ != 0 && calls() >= fail_at_; }
  // An operation that meets an error asks for nothing more.
  [[nodiscard]] std::uint64_t calls_after_failure() const {
    return has_failed() ? calls() - fail_at_ : 0;
  }

  // For the recorders.
  [[nodiscard]] Result<void, Error> enter(Call call) {
    ++counts_[static_cast<std::size_t>(call)];
    if (calls() == fail_at_) return base::fail(error_);
    if (hook_) hook_(call);
    return {};
  }

 private:
  std::array<std::uint64_t, kCallKinds> counts_{};
  std::uint64_t fail_at_ = 0;
  Error error_{ErrorCode::kIo};
  std::function<void(Call)> hook_;
};

class RecordingCursor final : public Cursor {
 public:
  RecordingCursor(std::unique_ptr<Cursor> behind, CallScript& script)
      : behind_(std::move(behind)), script_(script) {}

  [[nodiscard]] Result<std::optional<EntryView>, Error> seek_ceiling(ByteView key) override {
    CAD_TRY(script_.enter(Call::kSeek));
    return behind_->seek_ceiling(key);
  }
  [[nodiscard]] Result<std::optional<EntryView>, Error> seek_floor(ByteView key) override {
    CAD_TRY(script_.enter(Call::kSeek));
    return behind_->seek_floor(key);
  }
  [[nodiscard]] Result<std::optional<EntryView>, Error> next() override {
    CAD_TRY(script_.enter(Call::kStep));
    return behind_->next();
  }
  [[nodiscard]] Result<std::optional<EntryView>, Error> prev() override {
    CAD_TRY(script_.enter(Call::kStep));
    return behind_->prev();
  }

 private:
  std::unique_ptr<Cursor> behind_;
  CallScript& script_;
};

class RecordingWriter final : public Writer {
 public:
  RecordingWriter(Writer& behind, CallScript& script) : behind_(behind), script_(script) {}

  [[nodiscard]] Result<std::optional<ByteView>, Error> get(ByteView key) override {
    CAD_TRY(script_.enter(Call::kGet));
    return behind_.get(key);
  }
  [[nodiscard]] Result<std::unique_ptr<Cursor>, Error> cursor() override {
    CAD_TRY(script_.enter(Call::kCursor));
    return std::make_unique<RecordingCursor>(CAD_TRY(behind_.cursor()), script_);
  }
  [[nodiscard]] std::uint64_t mutation_count() const override { return behind_.mutation_count(); }
  [[nodiscard]] const Limits& limits() const override { return behind_.limits(); }
  [[nodiscard]] Result<void, Error> put(ByteView key, ByteView value) override {
    CAD_TRY(script_.enter(Call::kPut));
    return behind_.put(key, value);
  }
  [[nodiscard]] Result<void, Error> erase(ByteView key) override {
    CAD_TRY(script_.enter(Call::kErase));
    return behind_.erase(key);
  }
  [[nodiscard]] Result<void, Error> erase_range(ByteView first, ByteView last) override {
    CAD_TRY(script_.enter(Call::kEraseRange));
    return behind_.erase_range(first, last);
  }

 private:
  Writer& behind_;
  CallScript& script_;
};

}  // namespace cadastre::kv
