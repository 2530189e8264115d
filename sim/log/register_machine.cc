#include "sim/log/register_machine.h"

#include <array>

#include "base/check.h"
#include "base/endian.h"
#include "base/xxh3.h"

namespace cadastre::sim {
namespace {

constexpr std::size_t kCommandBytes = 34;
constexpr std::size_t kResultBytes = 9;
constexpr std::size_t kWordBytes = 8;

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

// Numbers of eight bytes, little-endian: term, index, digest, registers behind their count, answers behind
// theirs; an answer is its command, 1 or 0, and the value.
base::Bytes encode(const RegisterState& state) {
  base::Bytes out;
  const auto word = [&](std::uint64_t value) {
    out.resize(out.size() + kWordBytes);
    base::store_le(out.data() + out.size() - kWordBytes, value);
  };
  word(state.applied.term.value());
  word(state.applied.index.value());
  word(state.digest);
  word(state.registers.size());
  for (const auto& [key, value] : state.registers) {
    word(key);
    word(value);
  }
  word(state.answers.size());
  for (const auto& [command, answer] : state.answers) {
    word(command);
    word(answer.has_value() ? 1 : 0);
    word(answer.value_or(0));
  }
  return out;
}

RegisterState decode_state(base::ByteView bytes) {
  const auto word = [&] {
    CAD_CHECK(bytes.size() >= kWordBytes, "the world's own checkpoints are whole");
    const auto value = base::load_le<std::uint64_t>(bytes.data());
    bytes = bytes.subspan(kWordBytes);
    return value;
  };
  RegisterState state;
  state.applied.term = log::Term{word()};
  state.applied.index = log::Index{word()};
  state.digest = word();
  for (std::uint64_t left = word(); left > 0; --left) {
    const std::uint64_t key = word();
    state.registers[key] = word();
  }
  for (std::uint64_t left = word(); left > 0; --left) {
    const std::uint64_t command = word();
    const bool answered = word() != 0;
    const std::uint64_t value = word();
    state.answers[command] = answered ? checkers::Value{value} : std::nullopt;
  }
  return state;
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

base::Result<log::Position, log::CheckpointError> RegisterMachine::checkpoint(
    const log::CheckpointTarget& to) {
  if (!shelf_.put(to.directory, encode(state_)))
    return base::fail(log::CheckpointError::kExists, to.directory.string());
  return state_.applied;
}

base::Result<void, log::InstallError> RegisterMachine::check(
    const log::StagedCheckpoint& staged) const {
  const auto content = shelf_.find(staged.directory);
  if (!content || !(decode_state(*content).applied == staged.manifest.at))
    return base::fail(log::InstallError::kDamaged, staged.directory.string());
  return {};
}

base::Result<void, log::InstallError> RegisterMachine::install(const log::StagedCheckpoint& from) {
  const auto content = shelf_.find(from.directory);
  if (!content) return base::fail(log::InstallError::kDamaged, from.directory.string());
  state_ = decode_state(*content);
  disk_.flushed = state_;
  return {};
}

}  // namespace cadastre::sim
