#include "tests/log/crash_node.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "log/body.h"
#include "log/limits.h"

namespace cadastre::log {
namespace {

namespace fs = std::filesystem;

constexpr NodeIdentity kIdentity{ClusterId{1}, NodeId{1}};

GroupImage image_of(const LogStorage::Recovered& recovered, GroupId group) {
  const auto found = std::ranges::find(recovered.groups, group, &GroupImage::group);
  return found == recovered.groups.end() ? GroupImage{} : *found;
}

}  // namespace

CrashNode::CrashNode(const std::unique_ptr<CrashNode>& original) {
  fs::copy(original->directory_, directory_, fs::copy_options::recursive);
  for (std::size_t i = 0; i < kGroups; ++i) {
    members_[i].disk = original->members_[i].disk;
    members_[i].kept = original->members_[i].kept;
    members_[i].proposed = original->members_[i].proposed;
    members_[i].answered = original->members_[i].answered;
  }
  commands_ = original->commands_;
  term_ = original->term_;
}

base::Result<std::unique_ptr<RocksStorage>, OpenError> CrashNode::open_storage() const {
  return RocksStorage::open({.directory = directory_,
                             .identity = kIdentity,
                             .env = env_.get(),
                             .memtable_bytes = kMemtableBytes});
}

bool CrashNode::start() {
  runner_ = std::make_unique<StepRunner>();
  auto storage = open_storage();
  const bool excused = files_->crashed() || files_->fault_met();
  if (!storage) {
    EXPECT_TRUE(excused) << storage.error().detail;
    return false;
  }
  storage_ = std::move(*storage);
  return open_all();
}

bool CrashNode::open_all() {
  const auto recovered = storage_->recover();
  auto host = Host::open({*storage_, *runner_, clock_});
  EXPECT_TRUE(recovered.has_value()) << recovered.error().detail;
  if (!recovered || !host) return false;
  host_ = std::move(*host);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kGroups; ++i) {
    Member& member = members_[i];
    member.id = GroupId{i + 1};
    member.machine = std::make_unique<LedgerMachine>(member.disk);
    const GroupImage image = image_of(*recovered, member.id);
    const LedgerState model = replayed(member, image);
    auto opened = host_->open_group({.group = member.id, .machine = *member.machine});
    EXPECT_TRUE(opened.has_value()) << opened.error().detail;
    if (!opened) return false;
    member.group = *opened;
    EXPECT_EQ(member.machine->state().applied, model.applied);
    EXPECT_EQ(member.machine->state().digest, model.digest);
    EXPECT_EQ(image.state.term, image_of(*recovered, GroupId{1}).state.term);
    EXPECT_GE(image.state.term, term_);
    found.push_back(check_commands(member));
  }
  EXPECT_EQ(found, std::vector<std::size_t>(kGroups, found.front()));  // R17
  const Term before = image_of(*recovered, GroupId{1}).state.term;
  settle();
  if (!alive()) return false;
  for (const Member& member : members_) {
    EXPECT_EQ(member.group->status().term, Term{before.value() + 1});
    EXPECT_EQ(member.group->status().role, Role::kLeader);
  }
  term_ = Term{before.value() + 1};
  return true;
}

LedgerState CrashNode::replayed(const Member& member, const GroupImage& image) {
  LedgerState state = member.disk.flushed;
  while (state.applied.index < image.last.index) {
    const auto entries = storage_->read(member.id, image.incarnation, state.applied.index + 1,
                                        image.last.index, kReadBytesMax);
    EXPECT_TRUE(entries.has_value()) << entries.error().detail;
    if (!entries) return state;
    for (const Entry& entry : *entries) {
      const auto commands = read_body(entry.body.bytes());
      EXPECT_TRUE(commands.has_value()) << commands.error().detail;
      if (!commands) return state;
      for (const ByteView command : *commands)
        state.execute(entry.at, command);
      state.applied = entry.at;
    }
  }
  return state;
}

std::size_t CrashNode::check_commands(Member& member) {
  const std::vector<std::string>& there = member.machine->state().commands;
  std::vector<std::string> expected = std::move(member.kept);
  const std::size_t before = expected.size();
  EXPECT_GE(there.size(), before + member.answered) << "a command that was answered is gone";
  expected.insert(expected.end(), member.proposed.begin(), member.proposed.end());
  expected.resize(std::min(expected.size(), there.size()));
  EXPECT_TRUE(there == expected)
      << "other commands than those that were proposed, or another order";
  member.kept = there;
  member.proposed.clear();
  member.answered = 0;
  return there.size() - std::min(there.size(), before);
}

void CrashNode::note_answer(Member& member, const Answer& answer) {
  if (!answer) return;
  EXPECT_TRUE(runner_->failed.empty()) << "an answer behind the failure of the disk (L-49)";
  EXPECT_EQ(answer->at.term, member.group->status().term);
  ++member.answered;
  EXPECT_EQ(base::load_le<std::uint64_t>(answer->result.data()),
            member.kept.size() + member.answered);
}

void CrashNode::propose(Member& member, std::size_t bytes) {
  std::string command = std::to_string(++commands_) + ".";
  command.resize(std::max(bytes, command.size()), 'x');
  member.proposed.push_back(command);
  std::array proposals{Proposal{base::as_bytes(command), [this, &member](const Answer& answer) {
                                  note_answer(member, answer);
                                }}};
  member.group->propose(proposals, Class::kUser);
}

void CrashNode::settle() {
  clock_.advance(kHandoverWaitMax);
  (void)host_->run_log();
  runner_->settle(*host_);
}

void CrashNode::round(std::size_t bytes, std::size_t commands) {
  if (!alive()) return;
  for (Member& member : members_) {
    for (std::size_t i = 0; i < commands; ++i)
      propose(member, bytes);
  }
  settle();
}

void CrashNode::grow(std::size_t entries) {
  Member& member = members_.front();
  const Term term = member.group->status().term;
  while (entries > 0) {
    for (std::size_t i = 0; i < kPassBatchesMax && entries > 0; ++i, --entries) {
      const std::string command = std::to_string(++commands_);
      member.proposed.push_back(command);
      // What is fenced has an entry of its own.
      member.group->propose_if_term(
          term, {base::as_bytes(command), [this, &member](const Answer& answer) {
                   note_answer(member, answer);
                 }});
    }
    settle();
    CAD_CHECK(all_answered(), "a log grows on a disk that works");
    std::ranges::move(std::exchange(member.proposed, {}), std::back_inserter(member.kept));
    member.answered = 0;
  }
}

void CrashNode::flush_states(std::size_t step) {
  if (!alive()) return;
  for (std::size_t i = 0; i < kGroups; i += step)
    members_[i].machine->request_flush();
}

void CrashNode::keep_house() {
  for (int pass = 0; pass < 2 && alive(); ++pass) {
    clock_.advance(kTruncateEvery);
    settle();
  }
}

bool CrashNode::all_answered() const {
  return std::ranges::all_of(
      members_, [](const Member& member) { return member.answered == member.proposed.size(); });
}

void CrashNode::end_process() {
  host_.reset();  // Whoever still waits is told that the outcome is unknown.
  storage_.reset();
  for (Member& member : members_)
    member.machine.reset();
}

void CrashNode::crash(const CrashPolicy& policy) {
  if (!files_->crashed()) files_->crash_at(files_->operations() + 1);
  end_process();
  files_->materialise(policy);
}

}  // namespace cadastre::log
