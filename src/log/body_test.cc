#include "log/body.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

Body body_of(const std::vector<std::string>& commands, std::uint64_t hint_ms = 0) {
  BodyBuilder builder;
  for (const std::string& command : commands)
    builder.add({base::as_bytes(command), base::crc32c(base::as_bytes(command))});
  return builder.close(hint_ms);
}

std::vector<std::string> commands_of(ByteView body) {
  const auto commands = read_body(body);
  EXPECT_TRUE(commands) << commands.error().detail;
  std::vector<std::string> texts;
  for (const ByteView command : *commands)
    texts.emplace_back(base::as_text(command));
  return texts;
}

// Puts the right sum over header and table in place, so that a wrong field is met by its own check.
void sum_header(Bytes& body) {
  const std::size_t count = base::load_le<std::uint16_t>(body.data() + 2);
  const std::size_t head = kBodyHeaderBytes + count * kBodySlotBytes;
  ASSERT_LE(head, body.size());
  const std::uint32_t sum = base::crc32c_extend(base::crc32c(ByteView{body}.first(4)),
                                                ByteView{body}.subspan(8, head - 8));
  base::store_le(body.data() + 4, sum);
}

TEST(Body, HasTheBytesOfTheFormat) {  // 1.4
  const Body body = body_of({"a", "", "bcd"}, 0x0102030405060708);
  EXPECT_EQ(base::to_hex(body.bytes()),
            "01000300"          // version, flags, count
            "8cd5df62"          // sum of header and table
            "0807060504030201"  // hint
            "010000003043d0c1"
            "0000000000000000"
            "0300000058030d1b"
            "61626364");
  EXPECT_EQ(body_hint_ms(body.bytes()), 0x0102030405060708U);
  EXPECT_EQ(commands_of(body.bytes()), (std::vector<std::string>{"a", "", "bcd"}));
}

TEST(Body, AnEmptyOneHasNoCommands) {  // L-22
  EXPECT_TRUE(Body().empty());
  EXPECT_TRUE(commands_of({}).empty());
  EXPECT_EQ(body_hint_ms({}), 0U);
}

TEST(Body, EveryFlippedBitIsNoticed) {  // L-13
  const Body whole = body_of({"first", "", std::string(300, 'x')}, 7);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes bytes = base::to_owned(whole.bytes());
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto commands = read_body(bytes);
    ASSERT_FALSE(commands) << "bit " << bit;
    // Version and flags come before the sum: those bytes may be a newer release's.
    EXPECT_EQ(commands.error().code, bit < 16 ? BodyError::kVersion : BodyError::kDamaged)
        << "bit " << bit;
  }
}

TEST(Body, EveryOtherLengthIsNoticed) {
  const Body whole = body_of({"first", "second"}, 7);
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_FALSE(read_body(whole.bytes().first(size))) << size;
  Bytes longer = base::to_owned(whole.bytes());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(read_body(longer));
}

TEST(Body, ARightSumDoesNotExcuseAWrongField) {
  struct Case {
    const char* what;
    std::size_t offset;
    std::uint8_t value;
    BodyError error;
  };
  const std::vector<Case> cases = {
      {"version 0", 0, 0, BodyError::kVersion},
      {"version 2", 0, 2, BodyError::kVersion},
      {"the flag of compression, which nobody sets", 1, 1, BodyError::kVersion},
      {"an unknown flag", 1, 0x80, BodyError::kVersion},
      {"no command", 2, 0, BodyError::kDamaged},
      {"one command less: bytes are left over", 2, 1, BodyError::kDamaged},
      {"a command that ends behind the body", 16, 200, BodyError::kDamaged},
      {"a command that is one byte shorter", 16, 4, BodyError::kDamaged},
      {"another sum of the first command", 20, 1, BodyError::kDamaged},
  };
  for (const Case& one : cases) {
    Bytes bytes = base::to_owned(body_of({"first", "second"}).bytes());
    bytes[one.offset] = std::byte{one.value};
    sum_header(bytes);
    const auto commands = read_body(bytes);
    ASSERT_FALSE(commands) << one.what;
    EXPECT_EQ(commands.error().code, one.error) << one.what;
  }
}

TEST(Body, ACountBeyondTheBoundIsDamage) {
  Bytes bytes(kBodyHeaderBytes + (kBatchCommandsMax + 1) * kBodySlotBytes);
  bytes[0] = std::byte{1};
  base::store_le(bytes.data() + 2, static_cast<std::uint16_t>(kBatchCommandsMax + 1));
  sum_header(bytes);
  EXPECT_FALSE(read_body(bytes));
}

TEST(Body, AFullBatchReadsBack) {
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < kBatchCommandsMax; ++i)
    commands.push_back(std::to_string(i));
  const Body body = body_of(commands);
  EXPECT_EQ(commands_of(body.bytes()), commands);
}

TEST(Body, OutlivesItsBuilderAndItsCopies) {
  BodyBuilder builder;
  builder.add({base::as_bytes("one"), base::crc32c(base::as_bytes("one"))});
  Body first = builder.close(0);
  EXPECT_EQ(builder.count(), 0U);
  builder.add({base::as_bytes("two"), base::crc32c(base::as_bytes("two"))});
  const Body second = builder.close(0);
  const Body copy = first;
  first = Body();
  EXPECT_EQ(commands_of(copy.bytes()), std::vector<std::string>{"one"});
  EXPECT_EQ(commands_of(second.bytes()), std::vector<std::string>{"two"});
  EXPECT_EQ(commands_of(Body::copy_of(copy.bytes()).bytes()), std::vector<std::string>{"one"});
}

RC_GTEST_PROP(BodyProperty, ReadsBackWhatWasAdded, ()) {
  const auto commands = *rc::gen::nonEmpty<std::vector<std::string>>();
  BodyBuilder builder;
  for (const std::string& command : commands) {
    const std::size_t expected = builder.bytes_with(command.size());
    builder.add({base::as_bytes(command), base::crc32c(base::as_bytes(command))});
    RC_ASSERT(builder.body_bytes() == expected);
  }
  const std::size_t size = builder.body_bytes();
  const Body body = builder.close(5);
  RC_ASSERT(body.size() == size);
  const auto read = read_body(body.bytes());
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->size() == commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i)
    RC_ASSERT(base::as_text((*read)[i]) == commands[i]);
}

}  // namespace
}  // namespace cadastre::log
