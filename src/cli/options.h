// The flags that every command shares.

#pragma once

#include <cstdint>

namespace cadastre::cli {

enum class Format : std::uint8_t {
  kHuman,  // tables and sentences
  kJson,   // one object per line
};

enum class KeyForm : std::uint8_t {
  kText,  // UTF-8
  kHex,   // lower-case hexadecimal; both cases are read
};

// How an answer is written.
struct Form {
  Format format = Format::kHuman;
  KeyForm keys = KeyForm::kText;
};

enum class Mode : std::uint8_t {
  kOnce,
  kBatch,  // one request per line of standard input
};

struct Options {
  Form form;
  Mode mode = Mode::kOnce;
};

}  // namespace cadastre::cli
