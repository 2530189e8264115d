#include "base/logger.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <spdlog/common.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/clock.h"

namespace cadastre::base {
namespace {

class StderrLogSink final : public LogSink {
 public:
  StderrLogSink() { sink_.set_pattern("%v"); }

  void write(LogLevel level, std::string_view line) override {
    sink_.log(spdlog::details::log_msg({}, foreign(level), line));
  }

 private:
  static spdlog::level::level_enum foreign(LogLevel level) noexcept {
    switch (level) {
      case LogLevel::kError: return spdlog::level::err;
      case LogLevel::kWarn: return spdlog::level::warn;
      case LogLevel::kInfo: return spdlog::level::info;
    }
    return spdlog::level::err;
  }

  spdlog::sinks::stderr_sink_mt sink_;
};

std::string_view name_of(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kError: return "error";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kInfo: return "info";
  }
  return "unknown";
}

// RFC 3339 in UTC, to the microsecond.
void append_time(std::string& out, Instant instant) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(instant);
  const auto day = std::chrono::floor<std::chrono::days>(micros);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(micros - day);
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), time.hours().count(), time.minutes().count(),
                 time.seconds().count(), time.subseconds().count());
}

void append_escaped(std::string& out, char character) {
  const auto code = static_cast<unsigned char>(character);
  if (character == '"' || character == '\\') {
    out += '\\';
    out += character;
  } else if (code < 0x20 || code == 0x7f) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  } else {
    out += character;
  }
}

// A JSON string. A byte that is no UTF-8 becomes U+FFFD.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t sound = find_invalid_utf8(as_bytes(text)).value_or(text.size());
    for (const char character : text.substr(0, sound))
      append_escaped(out, character);
    text.remove_prefix(sound);
    if (text.empty()) break;
    out += "\\ufffd";
    text.remove_prefix(1);
  }
  out += '"';
}

// Whether `text` can stand in a line of text without quotes.
bool is_plain(std::string_view text) noexcept {
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (code <= 0x20 || code >= 0x7f || character == '"' || character == '=' || character == '\\') {
      return false;
    }
  }
  return !text.empty();
}

void append_text(std::string& out, std::string_view text, LogForm form) {
  if (form == LogForm::kText && is_plain(text)) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

void append_value(std::string& out, const LogField::Value& value, LogForm form) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_text(out, *text, form);
  } else if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real)) {
    append_text(out, std::isnan(*real) ? "nan" : *real > 0 ? "inf" : "-inf", form);
  } else {
    std::visit([&](const auto& plain) { fmt::format_to(std::back_inserter(out), "{}", plain); },
               value);
  }
}

struct Line {
  Instant time;
  LogLevel level{};
  LogPhrase event;
  Logger::Fields fields;
};

std::string as_text_line(const Line& line) {
  std::string out;
  append_time(out, line.time);
  fmt::format_to(std::back_inserter(out), " {:<5} {}", name_of(line.level), line.event.text());
  for (const LogField& field : line.fields) {
    out += ' ';
    out += field.name();
    out += '=';
    append_value(out, field.value(), LogForm::kText);
  }
  return out;
}

std::string as_json_line(const Line& line) {
  std::string out = "{\"time\":\"";
  append_time(out, line.time);
  fmt::format_to(std::back_inserter(out), "\",\"level\":\"{}\",\"event\":", name_of(line.level));
  append_quoted(out, line.event.text());
  for (const LogField& field : line.fields) {
    out += ',';
    append_quoted(out, field.name());
    out += ':';
    append_value(out, field.value(), LogForm::kJson);
  }
  out += '}';
  return out;
}

// Unused where slow checks are off.
[[maybe_unused]] bool names_are_free(Logger::Fields fields) noexcept {
  for (const LogField* field = fields.begin(); field != fields.end(); ++field) {
    const std::string_view name = field->name();
    if (name == "time" || name == "level" || name == "event") return false;
    for (const LogField* before = fields.begin(); before != field; ++before) {
      if (before->name() == name) return false;
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<LogSink> stderr_log_sink() {
  return std::make_unique<StderrLogSink>();
}

void Logger::write(LogLevel level, LogPhrase event, Fields fields) const {
  CAD_CHECK_SLOW(names_are_free(fields), "field names are unique and not the line's own");
  const Line line{clock_.now(), level, event, fields};
  sink_.write(level, form_ == LogForm::kText ? as_text_line(line) : as_json_line(line));
}

}  // namespace cadastre::base
