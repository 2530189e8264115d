// Logger: what an operator reads. A fixed phrase says what happened, fields say to what; never user
// data, never keys or values.
//
//   log.info("lease taken", {{"shard", shard}, {"token", token}});
//
//   text  2026-01-31T12:00:00.000000Z info  lease taken shard=7 token=2
//   JSON  {"time":"2026-01-31T12:00:00.000000Z","level":"info","event":"lease taken","shard":7,"token":2}
//
// Phrase and field names are compile-time strings, so that lines can be searched and nothing is
// pasted into them. Values are escaped: a line is always one line, and JSON is always valid JSON.
//
// A Logger is immutable and may be used from every thread; lines do not mix.

#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/strong.h"

namespace cadastre::base {

enum class LogLevel : std::uint8_t {
  kError,  // Act.
  kWarn,   // We coped.
  kInfo,   // A state changed.
};

enum class LogForm : std::uint8_t {
  kText,  // For people and grep.
  kJson,  // One object in each line, for collectors.
};

// Where lines go. Called from any thread; `line` has no end-of-line.
class LogSink {
 public:
  LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  virtual ~LogSink() = default;

  virtual void write(LogLevel level, std::string_view line) = 0;
};

// Lines to the standard error stream, each written at once.
[[nodiscard]] std::unique_ptr<LogSink> stderr_log_sink();

// Text that was there at compile time.
class LogPhrase {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is meant to be written in its place.
  consteval LogPhrase(const char* text) : text_(text) {}
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

// A name and a number, a truth value or a text. Borrows the text for the call.
class LogField {
 public:
  using Value = std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view>;

  LogField(LogPhrase name, bool value) noexcept : name_(name), value_(value) {}
  LogField(LogPhrase name, double value) noexcept : name_(name), value_(value) {}
  LogField(LogPhrase name, std::string_view value) noexcept : name_(name), value_(value) {}
  LogField(LogPhrase name, const char* value) noexcept
      : name_(name), value_(std::string_view(value)) {}
  LogField(LogPhrase name, const std::string& value) noexcept
      : name_(name), value_(std::string_view(value)) {}
  template <std::signed_integral T>
  LogField(LogPhrase name, T value) noexcept : name_(name), value_(std::int64_t{value}) {}
  template <std::unsigned_integral T>
  LogField(LogPhrase name, T value) noexcept : name_(name), value_(std::uint64_t{value}) {}
  template <class Tag, class Rep>
  LogField(LogPhrase name, Strong<Tag, Rep> value) noexcept : LogField(name, value.value()) {}

  [[nodiscard]] std::string_view name() const noexcept { return name_.text(); }
  [[nodiscard]] const Value& value() const noexcept { return value_; }

 private:
  LogPhrase name_;
  Value value_;
};

class Logger {
 public:
  using Fields = std::initializer_list<LogField>;

  // Borrows both; they outlive it.
  Logger(LogSink& sink, const Clock& clock, LogForm form) noexcept
      : sink_(sink), clock_(clock), form_(form) {}

  // Field names are unique in a line and none of "time", "level", "event".
  void error(LogPhrase event, Fields fields = {}) const { write(LogLevel::kError, event, fields); }
  void warn(LogPhrase event, Fields fields = {}) const { write(LogLevel::kWarn, event, fields); }
  void info(LogPhrase event, Fields fields = {}) const { write(LogLevel::kInfo, event, fields); }

 private:
  void write(LogLevel level, LogPhrase event, Fields fields) const;

  LogSink& sink_;
  const Clock& clock_;
  const LogForm form_;
};

}  // namespace cadastre::base
