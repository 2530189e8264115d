#include "cli/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/limits.h"

namespace cadastre::cli {
namespace {

// A pipe; its ends close when this goes.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }

  [[nodiscard]] int reader() const { return ends_[0]; }
  void write(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close_writer() {
    if (const int end = std::exchange(ends_[1], -1); end >= 0) ::close(end);
  }

 private:
  std::array<int, 2> ends_{};
};

// A file that is gone from its directory and holds `content`.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content)
      : descriptor_(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    EXPECT_EQ(::write(descriptor_, content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    EXPECT_EQ(::lseek(descriptor_, 0, SEEK_SET), 0);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::close(descriptor_); }

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::vector<std::string> all_lines(std::string_view content) {
  const TemporaryFile file(content);
  LineReader reader(file.descriptor());
  std::vector<std::string> lines;
  for (LineRead read = reader.next(); read.kind != LineRead::Kind::kEnd; read = reader.next()) {
    EXPECT_NE(read.kind, LineRead::Kind::kFailed);
    lines.emplace_back(read.kind == LineRead::Kind::kTooLong ? "(too long)" : read.text);
  }
  EXPECT_EQ(reader.next().kind, LineRead::Kind::kEnd) << "the end stays";
  return lines;
}

TEST(LineReader, CutsAtLineEnds) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(all_lines(""), Lines{});
  EXPECT_EQ(all_lines("\n"), Lines{""});
  EXPECT_EQ(all_lines("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(all_lines("a\n\nb"), (Lines{"a", "", "b"})) << "the last line needs no end";
}

TEST(LineReader, JoinsLinesAcrossReads) {
  std::string content;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 300; ++i) {
    expected.emplace_back(i * 37, static_cast<char>('a' + i % 26));
    content += expected.back() + "\n";
  }
  ASSERT_GT(content.size(), 10 * kReadBytes);
  EXPECT_EQ(all_lines(content), expected);
}

TEST(LineReader, SkipsALineBeyondTheBoundAndGoesOn) {
  const std::string longest(kBatchLineBytesMax, 'x');
  EXPECT_EQ(all_lines("a\n" + longest + "\nb\n"), (std::vector<std::string>{"a", longest, "b"}));
  EXPECT_EQ(all_lines(longest), std::vector<std::string>{longest});
  EXPECT_EQ(all_lines("a\n" + longest + "x\nb\n"),
            (std::vector<std::string>{"a", "(too long)", "b"}));
  EXPECT_EQ(all_lines(longest + longest + longest), std::vector<std::string>{"(too long)"});
}

TEST(LineReader, CallsBeforeItWaits) {
  Pipe pipe;
  int waits = 0;
  LineReader reader(pipe.reader(), [&] { ++waits; });
  pipe.write("one\ntwo\n");
  EXPECT_EQ(reader.next().text, "one");
  EXPECT_EQ(waits, 1);
  EXPECT_EQ(reader.next().text, "two");
  EXPECT_EQ(waits, 1) << "a line that is there needs no read";
  pipe.write("three\n");
  EXPECT_EQ(reader.next().text, "three");
  EXPECT_EQ(waits, 2);
  pipe.close_writer();
  EXPECT_EQ(reader.next().kind, LineRead::Kind::kEnd);
}

TEST(LineReader, PassesOnWhyItCannotRead) {
  LineReader reader(-1);
  const LineRead read = reader.next();
  EXPECT_EQ(read.kind, LineRead::Kind::kFailed);
  EXPECT_EQ(read.error, EBADF);
}

}  // namespace
}  // namespace cadastre::cli
