#include "log/body.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"

namespace cadastre::log {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kCrcOffset = 4;
constexpr std::size_t kHintOffset = 8;
constexpr std::size_t kFrontCommands = 4;  // Room at first; doubled when it is used up.
constexpr std::size_t kFirstCommandBytes = 512;

[[nodiscard]] std::uint32_t header_crc(ByteView header_and_table) noexcept {
  const std::uint32_t head = base::crc32c(header_and_table.first(kCrcOffset));
  return base::crc32c_extend(head, header_and_table.subspan(kHintOffset));
}

}  // namespace

Body Body::copy_of(ByteView bytes) {
  if (bytes.empty()) return {};
  std::shared_ptr<std::byte[]> owner = std::make_shared_for_overwrite<std::byte[]>(bytes.size());
  std::memcpy(owner.get(), bytes.data(), bytes.size());
  const ByteView view{owner.get(), bytes.size()};
  return {std::move(owner), view};
}

void BodyBuilder::grow(std::size_t front, std::size_t command_bytes) {
  const std::size_t capacity = std::max(
      {command_bytes, kFirstCommandBytes, capacity_ < command_bytes ? 2 * capacity_ : capacity_});
  std::shared_ptr<std::byte[]> larger =
      std::make_shared_for_overwrite<std::byte[]>(front + capacity);
  if (used_ != 0) std::memcpy(larger.get() + front, buffer_.get() + front_, used_);
  buffer_ = std::move(larger);
  front_ = front;
  capacity_ = capacity;
}

void BodyBuilder::add(SummedCommand command) {
  CAD_CHECK(count() < kBatchCommandsMax, "the queue closes a full batch");
  CAD_CHECK(bytes_with(command.bytes.size()) <= kEntryBytesMax,
            "the queue refuses what is too large");
  const std::size_t front_needed = kBodyHeaderBytes + (count() + 1) * kBodySlotBytes;
  const std::size_t bytes_needed = used_ + command.bytes.size();
  if (front_needed > front_ || bytes_needed > capacity_) {
    const std::size_t roomy =
        kBodyHeaderBytes + std::max(kFrontCommands, 4 * count()) * kBodySlotBytes;
    grow(front_needed > front_ ? std::max(front_needed, roomy) : front_, bytes_needed);
  }
  if (!command.bytes.empty())
    std::memcpy(buffer_.get() + front_ + used_, command.bytes.data(), command.bytes.size());
  used_ += command.bytes.size();
  table_.push_back({static_cast<std::uint32_t>(command.bytes.size()), command.crc32c});
}

Body BodyBuilder::close(std::uint64_t hint_ms) {
  CAD_CHECK(count() != 0, "a batch has a command");
  const std::size_t head_bytes = kBodyHeaderBytes + count() * kBodySlotBytes;
  std::byte* head = buffer_.get() + (front_ - head_bytes);
  head[0] = std::byte{kVersion};
  head[1] = std::byte{0};
  base::store_le(head + 2, static_cast<std::uint16_t>(count()));
  base::store_le(head + kHintOffset, hint_ms);
  std::byte* slot = head + kBodyHeaderBytes;
  for (const Slot& command : table_) {
    base::store_le(slot, command.bytes);
    base::store_le(slot + 4, command.crc32c);
    slot += kBodySlotBytes;
  }
  base::store_le(head + kCrcOffset, header_crc({head, head_bytes}));
  const ByteView bytes{head, head_bytes + used_};
  Body body{std::move(buffer_), bytes};
  *this = BodyBuilder{};
  return body;
}

Result<void, BodyError> read_body_into(ByteView body, std::vector<ByteView>& commands) {
  commands.clear();
  if (body.empty()) return {};
  const auto damaged = [](std::string what) {
    return base::fail(BodyError::kDamaged, std::move(what));
  };
  if (body.size() < kBodyHeaderBytes) return damaged("the body is shorter than its header");
  if (body[0] != std::byte{kVersion} || body[1] != std::byte{0}) {
    return base::fail(BodyError::kVersion,
                      fmt::format("body version {} with flags {}", std::to_integer<int>(body[0]),
                                  std::to_integer<int>(body[1])));
  }
  const std::size_t count = base::load_le<std::uint16_t>(body.data() + 2);
  if (count == 0 || count > kBatchCommandsMax) return damaged("the body's count is impossible");
  const std::size_t head_bytes = kBodyHeaderBytes + count * kBodySlotBytes;
  if (body.size() < head_bytes) return damaged("the body is shorter than its table");
  const ByteView head = body.first(head_bytes);
  if (header_crc(head) != base::load_le<std::uint32_t>(head.data() + kCrcOffset))
    return damaged("the body's header does not match its sum");

  ByteView rest = body.subspan(head_bytes);
  commands.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* slot = head.data() + kBodyHeaderBytes + i * kBodySlotBytes;
    const std::size_t bytes = base::load_le<std::uint32_t>(slot);
    if (bytes > rest.size()) return damaged("the body ends inside a command");
    commands.push_back(rest.first(bytes));
    rest = rest.subspan(bytes);
    if (base::crc32c(commands.back()) != base::load_le<std::uint32_t>(slot + 4))
      return damaged(fmt::format("command {} does not match its sum", i));
  }
  if (!rest.empty()) return damaged("the body goes on behind its last command");
  return {};
}

Result<std::vector<ByteView>, BodyError> read_body(ByteView body) {
  std::vector<ByteView> commands;
  CAD_TRY(read_body_into(body, commands));
  return commands;
}

std::uint64_t body_hint_ms(ByteView body) noexcept {
  return body.size() < kBodyHeaderBytes ? 0
                                        : base::load_le<std::uint64_t>(body.data() + kHintOffset);
}

}  // namespace cadastre::log
