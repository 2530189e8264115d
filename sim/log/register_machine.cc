#include "sim/log/register_machine.h"

#include <array>

#include "base/check.h"
#include "base/endian.h"
#include "base/xxh3.h"

namespace cadastre::sim {
namespace {

constexpr std::size_t kCommandBytes = 34;
constexpr std::size_t kResultBytes = 9;

std::uint64_t roll(std::uint64_t digest, log::Position at, base::ByteView bytes) {
  std::array<std::byte, 24> head;
  base::store_le(head.data(), digest);
  base::store_le(head.data() + 8, at.term.value());
  base::store_le(head.data() + 16, at.index.value());
  return base::xxh3_64(bytes, base::xxh3_64(head));
}

RegisterCommand decode_command(base::ByteView bytes) {
  CAD_CHECK(bytes.size() == kCommandBytes, "the world's own commands are whole");
  RegisterCommand command;
  command.number = base::load_le<std::uint64_t>(bytes.data());
  command.kind = static_cast<checkers::OpKind>(bytes[8]);
  command.key = base::load_le<std::uint64_t>(bytes.data() + 9);
  if (bytes[17] != std::byte{0}) command.expected = base::load_le<std::uint64_t>(bytes.data() + 18);
  command.argument = base::load_le<std::uint64_t>(bytes.data() + 26);
  return command;
}

base::Bytes encode_result(checkers::Value value) {
  base::Bytes out(kResultBytes);
  out[0] = std::byte{value.has_value()};
  base::store_le(out.data() + 1, value.value_or(0));
  return out;
}

}  // namespace

base::Bytes encode(const RegisterCommand& command) {
  base::Bytes out(kCommandBytes);
  base::store_le(out.data(), command.number);
  out[8] = static_cast<std::byte>(command.kind);
  base::store_le(out.data() + 9, command.key);
  out[17] = std::byte{command.expected.has_value()};
  base::store_le(out.data() + 18, command.expected.value_or(0));
  base::store_le(out.data() + 26, command.argument);
  return out;
}

checkers::Value decode_result(base::ByteView result) {
  CAD_CHECK(result.size() == kResultBytes, "the world's own answers are whole");
  if (result[0] == std::byte{0}) return std::nullopt;
  return base::load_le<std::uint64_t>(result.data() + 1);
}

checkers::Value RegisterMachine::read(std::uint64_t key) const {
  const auto found = state_.registers.find(key);
  if (found == state_.registers.end()) return std::nullopt;
  return found->second;
}

checkers::Value RegisterMachine::execute(const RegisterCommand& command) {
  if (command.kind == checkers::OpKind::kWrite) {
    state_.registers[command.key] = command.argument;
    return std::nullopt;
  }
  if (read(command.key) != command.expected) return checkers::kKept;
  state_.registers[command.key] = command.argument;
  return checkers::kSwapped;
}

base::Result<void, log::ApplyError> RegisterMachine::apply(std::span<const log::EntryView> round,
                                                           log::ResultSink& results) {
  for (const log::EntryView& entry : round) {
    for (const base::ByteView bytes : entry.commands) {
      const RegisterCommand command = decode_command(bytes);
      const auto known = state_.answers.find(command.number);
      const checkers::Value answer =
          known != state_.answers.end() ? known->second : execute(command);
      state_.answers.try_emplace(command.number, answer);
      state_.digest = roll(state_.digest, entry.at, bytes);
      results.result(encode_result(answer));
    }
    state_.digest = roll(state_.digest, entry.at, {});
    state_.applied = entry.at;
  }
  return {};
}

}  // namespace cadastre::sim
