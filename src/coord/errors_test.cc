#include "coord/errors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "coord/cursor_rules.h"
#include "coord/decide_run.h"
#include "coord/decide_shard.h"
#include "coord/decide_split.h"
#include "coord/held_shard_testing.h"
#include "coord/identity.h"
#include "coord/identity_testing.h"
#include "coord/lease.h"
#include "coord/limits.h"
#include "coord/one_of.h"
#include "coord/op_log.h"
#include "coord/run_record.h"
#include "coord/states.h"
#include "shard/manifest.h"
#include "shard/shard_spec.h"
#include "shard/spec_error.h"
#include "shard/split_coverage.h"

namespace cadastre::coord {
namespace {

using testing::at;
using testing::HeldShard;
using testing::op;
using testing::tenant_of;
using testing::worker;

// ---- Every error, with values that must not show ---------------------------------------------------

using AnyError = OneOf<ShardNotFound,
                       TenantMismatch,
                       StaleFence,
                       LeaseExpired,
                       ShardTerminal,
                       OpIdConflict,
                       CursorRegression,
                       CursorOutOfBounds,
                       CursorKeyTooLarge,
                       CursorTokenTooLarge,
                       CheckpointMissingKey,
                       SplitInvalid,
                       AlreadyLeased,
                       RunTerminal,
                       NotParked,
                       ResourceExhausted,
                       InfraError,
                       InvalidConfig,
                       RunNotFound,
                       RunAlreadyExists,
                       ConfigMismatch,
                       WrongStatus,
                       ManifestInvalid,
                       RunOpIdConflict,
                       ShardLimitExceeded,
                       RegistrationExhausted,
                       RunNotSettled,
                       TooManyLeases,
                       NoneAvailable,
                       Throttled>;

constexpr std::uint64_t kSecretHash = 0xdeadbeefcafebabe;
constexpr std::uint64_t kOtherSecretHash = 0xfeedfacedecafbad;
constexpr std::uint64_t kSecretOwner = 424'242'424'242;
constexpr std::string_view kSecretKey = "SECRETKEY";
constexpr std::string_view kSecretToken = "SECRETTOKEN";
constexpr std::string_view kSecretMetadata = "SECRETMETADATA";
constexpr std::uint8_t kSecretTenantByte = 0xee;

std::string hex_of(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4)
    text += kDigits[(value >> shift) & 15];
  return text;
}

std::vector<std::string> markers() {
  std::vector<std::string> all{std::string(kSecretKey), std::string(kSecretToken),
                               std::string(kSecretMetadata),
                               std::string(4, 'e')};  // two bytes of the foreign tenant
  for (const std::string_view bytes : {kSecretKey, kSecretToken, kSecretMetadata})
    all.push_back(base::to_hex(base::as_bytes(bytes)));
  for (const std::uint64_t number : {kSecretHash, kOtherSecretHash, kSecretOwner}) {
    all.push_back(std::to_string(number));
    all.push_back(hex_of(number).substr(8));
  }
  return all;
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return text;
}

// The markers that an error shows.
std::vector<std::string> leaks_of(const AnyError& error) {
  const std::string shown = in_lower_case(to_text(error) + std::string(code_name(error)));
  std::vector<std::string> leaks;
  for (const std::string& marker : markers()) {
    if (shown.find(in_lower_case(marker)) != std::string::npos) leaks.push_back(marker);
  }
  return leaks;
}

// SEC-1, SEC-5, SEC-6 and the rule about keys.
void expect_no_leak(const AnyError& error) {
  EXPECT_EQ(leaks_of(error), std::vector<std::string>{}) << to_text(error);
}

std::vector<AnyError> split_errors() {
  std::vector<AnyError> errors;
  constexpr auto kLast = static_cast<std::uint8_t>(shard::SplitError::Code::kInvalidChildCursor);
  for (std::uint8_t code = 0; code <= kLast; ++code) {
    for (const auto scope :
         {shard::SplitError::Scope::kPerTenant, shard::SplitError::Scope::kGlobal}) {
      errors.emplace_back(SplitInvalid{{.code = static_cast<shard::SplitError::Code>(code),
                                        .scope = scope,
                                        .values = {1, 2, 3, 4}}});
    }
  }
  return errors;
}

std::vector<AnyError> manifest_errors() {
  std::vector<AnyError> errors;
  constexpr auto kLast = static_cast<std::uint8_t>(shard::ManifestError::Code::kCursorOutOfBounds);
  for (std::uint8_t code = 0; code <= kLast; ++code) {
    errors.emplace_back(ManifestInvalid{{.code = static_cast<shard::ManifestError::Code>(code),
                                         .shard = ShardId::from_raw(10),
                                         .other = ShardId::from_raw(11),
                                         .size = 5,
                                         .max = 4,
                                         .spec_error = shard::SpecError::inverted_range(1, 1)}});
  }
  return errors;
}

// At least one of every alternative.
std::vector<AnyError> all_errors() {
  const ShardKey key{RunId::from_raw(1), ShardId::from_raw(10)};
  const RunId run = RunId::from_raw(1);
  std::vector<AnyError> errors{
      ShardNotFound{key},
      TenantMismatch{tenant_of(1)},
      StaleFence{FenceEpoch::from_raw(2), FenceEpoch::from_raw(3)},
      LeaseExpired{at(110), at(111)},
      ShardTerminal{key, ShardStatus::kSplit},
      OpIdConflict(op(7), kSecretHash, kOtherSecretHash),
      CursorRegression{17, 3},
      CursorRegression{17, std::nullopt},
      CursorOutOfBounds{1, 2, 3},
      CursorKeyTooLarge{4097, 4096},
      CursorTokenTooLarge{16'385, 16'384},
      CheckpointMissingKey{},
      AlreadyLeased(worker(kSecretOwner), at(110)),
      RunTerminal{RunStatus::kFailed},
      NotParked{ShardStatus::kDone},
      ResourceExhausted{{.requested = 32, .available = 16}},
      transient("renew.txn", "timeout"),
      corruption("acquire.load_shard", "no such record"),
      refused("server", "the token is for another tenant"),
      InvalidConfig{},
      RunNotFound{run},
      RunAlreadyExists{run},
      ConfigMismatch{run},
      WrongStatus{RunStatus::kActive, std::nullopt},
      WrongStatus{RunStatus::kInitializing, RunStatus::kDone},
      RunOpIdConflict{op(7)},
      ShardLimitExceeded{99'999, 2, 100'000, shard::SplitError::Scope::kPerTenant},
      RegistrationExhausted{"shard_slab"},
      RunNotSettled{1, 2},
      TooManyLeases{1025, 1024},
      NoneAvailable{std::nullopt},
      NoneAvailable{at(110)},
      Throttled{at(110)},
  };
  for (const auto& more : {split_errors(), manifest_errors()})
    errors.insert(errors.end(), more.begin(), more.end());
  return errors;
}

template <class... Alternatives>
std::size_t count_alternatives(const std::vector<AnyError>& errors,
                               const OneOf<Alternatives...>* /*type*/) {
  return (static_cast<std::size_t>(std::ranges::any_of(
              errors, [](const AnyError& error) { return error.is<Alternatives>(); })) +
          ...);
}

TEST(ErrorTexts, TheListHasEveryAlternative) {
  EXPECT_EQ(count_alternatives(all_errors(), static_cast<const AnyError*>(nullptr)), 30U);
}

TEST(ErrorTexts, NoValueThatMustNotShowShows) {
  for (const AnyError& error : all_errors())
    expect_no_leak(error);
}

TEST(ErrorTexts, AValueThatShowsIsNoticed) {
  const std::string owner = std::to_string(kSecretOwner);
  EXPECT_EQ(leaks_of(transient("renew.txn", "held by " + owner)), std::vector<std::string>{owner});
  EXPECT_FALSE(leaks_of(corruption("acquire.load_shard", "at secretkey")).empty());
  EXPECT_FALSE(leaks_of(TenantMismatch{tenant_of(kSecretTenantByte)}).empty());
}

TEST(ErrorTexts, SayWhatTheyHide) {
  EXPECT_EQ(to_text(AlreadyLeased(worker(kSecretOwner), at(110))),
            "the shard is leased to <redacted> until 110; try again then");
  EXPECT_NE(to_text(OpIdConflict(op(7), kSecretHash, kOtherSecretHash)).find("<redacted>"),
            std::string::npos);
  EXPECT_EQ(AlreadyLeased(worker(kSecretOwner), at(110)).unredacted_current_owner(),
            worker(kSecretOwner));
  EXPECT_EQ(OpIdConflict(op(7), kSecretHash, kOtherSecretHash).unredacted_expected_hash(),
            kSecretHash);
}

TEST(ErrorTexts, AreOneSentenceForAPerson) {
  for (const AnyError& error : all_errors()) {
    const std::string text = to_text(error);
    EXPECT_GE(text.size(), 8U) << code_name(error);
    EXPECT_LE(text.size(), 300U) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.find('\0'), std::string::npos) << text;
    EXPECT_EQ(text.find("unknown"), std::string::npos) << text;
  }
}

TEST(ErrorCodes, AreSnakeCase) {
  for (const AnyError& error : all_errors()) {
    const std::string_view code = code_name(error);
    EXPECT_FALSE(code.empty() || code == "unknown");
    EXPECT_TRUE(code.front() >= 'a' && code.front() <= 'z') << code;
    EXPECT_TRUE(std::ranges::all_of(code, [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << code;
  }
}

// An operation's errors are told apart by their codes. Sets share names only where one stands for
// the other: the conflict without hashes, the exhaustion of a registration.
template <class... Alternatives>
void expect_distinct_codes(const OneOf<Alternatives...>* /*type*/) {
  std::set<std::string_view> codes;
  std::size_t kinds = 0;
  for (const AnyError& error : all_errors()) {
    if (!(error.is<Alternatives>() || ...)) continue;
    const bool is_variation = error.is<WrongStatus>() || error.is<NoneAvailable>() ||
                              error.is<CursorRegression>() || error.is<SplitInvalid>();
    kinds += codes.insert(code_name(error)).second || !is_variation ? 1U : 0U;
  }
  EXPECT_EQ(codes.size(), kinds);
}

TEST(ErrorCodes, TellAnOperationsErrorsApart) {
  expect_distinct_codes(static_cast<const AcquireError*>(nullptr));
  expect_distinct_codes(static_cast<const RenewError*>(nullptr));
  expect_distinct_codes(static_cast<const RenewManyError*>(nullptr));
  expect_distinct_codes(static_cast<const CheckpointError*>(nullptr));
  expect_distinct_codes(static_cast<const ReleaseError*>(nullptr));
  expect_distinct_codes(static_cast<const ParkError*>(nullptr));
  expect_distinct_codes(static_cast<const SplitError*>(nullptr));
  expect_distinct_codes(static_cast<const UnparkError*>(nullptr));
  expect_distinct_codes(static_cast<const RegisterShardsError*>(nullptr));
  expect_distinct_codes(static_cast<const CreateRunError*>(nullptr));
  expect_distinct_codes(static_cast<const CreateWithShardsError*>(nullptr));
  expect_distinct_codes(static_cast<const ListShardsError*>(nullptr));
  expect_distinct_codes(static_cast<const FinalizeRunError*>(nullptr));
  expect_distinct_codes(static_cast<const ClaimError*>(nullptr));
  expect_distinct_codes(static_cast<const CoordError*>(nullptr));
}

// C-8.4
TEST(RetryAdvices, FollowTheTable) {
  EXPECT_EQ(retry_advice(AlreadyLeased(worker(1), at(5))), RetryAdvice::kLater);
  EXPECT_EQ(retry_advice(NoneAvailable{at(5)}), RetryAdvice::kLater);
  EXPECT_EQ(retry_advice(NoneAvailable{std::nullopt}), RetryAdvice::kNever);
  EXPECT_EQ(retry_advice(Throttled{at(5)}), RetryAdvice::kLater);
  EXPECT_EQ(retry_advice(StaleFence{}), RetryAdvice::kNever) << "not with this lease";
  EXPECT_EQ(retry_advice(ShardTerminal{}), RetryAdvice::kNever);
  EXPECT_EQ(retry_advice(OpIdConflict(op(1), 1, 2)), RetryAdvice::kNever);
  EXPECT_EQ(retry_advice(ResourceExhausted{}), RetryAdvice::kLater);
  EXPECT_EQ(retry_advice(transient("renew.txn", "timeout")), RetryAdvice::kLater);
  EXPECT_EQ(retry_advice(corruption("renew.txn", "bytes")), RetryAdvice::kNever);
  EXPECT_EQ(retry_advice(refused("server", "no token")), RetryAdvice::kNever);
}

// ---- Errors as the rules make them -------------------------------------------------------------

// A shard whose every byte is a secret: [SECRETKEY, SECRETKEZ), cursor SECRETKEY5.
class SecretShard : public HeldShard {
 public:
  SecretShard() {
    set_spec(shard::ShardSpecRef::unchecked(base::as_bytes(kSecretKey), base::as_bytes("SECRETKEZ"),
                                            base::as_bytes(kSecretMetadata)));
    set_cursor(CursorUpdate::make(base::as_bytes("SECRETKEY5"), base::as_bytes(kSecretToken)));
  }
};

CursorUpdate secret_cursor(std::string_view key) {
  return CursorUpdate::make(base::as_bytes(key), base::as_bytes(kSecretToken));
}

TEST(Redaction, CursorsShowTheirLengthsOnly) {
  SecretShard shard;
  const std::string huge = std::string(kSecretKey) + std::string(kMaxKeySize, 'x');
  const std::string token = std::string(kSecretToken) + std::string(kMaxTokenSize, 'x');
  const std::vector<CursorUpdate> refused = {
      secret_cursor("SECRETKEY1"), secret_cursor("SECRETKEZ1"), secret_cursor(huge),
      CursorUpdate::make(base::as_bytes("SECRETKEY6"), base::as_bytes(token)),
      CursorUpdate::initial()};
  std::set<std::string_view> codes;
  for (const CursorUpdate& cursor : refused) {
    const auto moved = check_cursor(shard.view(), cursor);
    ASSERT_FALSE(moved.has_value());
    codes.insert(code_name(moved.error()));
    expect_no_leak(moved.error());
  }
  EXPECT_EQ(codes.size(), refused.size()) << "one of each";
}

// SEC-5, SEC-6, SEC-1: the record's owner, its hashes and its tenant.
TEST(Redaction, RecordsDoNotShowTheirSecrets) {
  SecretShard shard;
  shard.record.state.lease->owner = worker(kSecretOwner);
  shard.record.state.op_log.push_back_overwrite({.op_id = op(7),
                                                 .payload_hash = kSecretHash,
                                                 .executed_at = at(5),
                                                 .kind = OpKind::kCheckpoint,
                                                 .result = OpResult::kCompleted});
  const auto acquired = decide_acquire(
      shard.record.state, {.now = at(11), .tenant = shard.record.state.tenant, .worker = worker(2)},
      100);
  ASSERT_FALSE(acquired.has_value());
  expect_no_leak(acquired.error());
  const auto conflict =
      decide_checkpoint(shard.view(), shard.request(), secret_cursor("SECRETKEY6"), op(7));
  ASSERT_FALSE(conflict.has_value());
  EXPECT_TRUE(conflict.error().is<OpIdConflict>());
  expect_no_leak(conflict.error());
  const auto forged =
      decide_checkpoint(shard.view(), shard.request(), secret_cursor("SECRETKEY6"), op(8));
  ASSERT_FALSE(forged.has_value());
  EXPECT_TRUE(forged.error().is<StaleFence>());
  expect_no_leak(forged.error());
  shard.record.state.tenant = tenant_of(kSecretTenantByte);
  const auto foreign =
      decide_checkpoint(shard.view(), shard.request(), secret_cursor("SECRETKEY6"), op(7));
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error(), TenantMismatch{shard.request().tenant}) << "before anything else";
  expect_no_leak(foreign.error());
}

TEST(Redaction, SplitsShowLengthsAndIndicesOnly) {
  SecretShard shard;
  const auto find_start = [](ShardId) -> std::optional<base::ByteView> {
    return std::nullopt;
  };
  const std::array<std::array<std::string_view, 4>, 3> plans = {{
      {"SECRETKEX", "SECRETKEY5", "SECRETKEY5",
       "SECRETKEZ"},  // does not begin where the parent does
      {"SECRETKEY", "SECRETKEY5", "SECRETKEY6", "SECRETKEZ"},  // a gap
      {"SECRETKEY", "SECRETKEY4", "SECRETKEY4", "SECRETKEZ"},  // leaves the cursor out
  }};
  for (const auto& [start, end, residual_start, residual_end] : plans) {
    const auto plan = SplitResidualPlan::try_make(
        shard::ShardSpecRef::unchecked(base::as_bytes(start), base::as_bytes(end),
                                       base::as_bytes(kSecretMetadata)),
        shard::ShardSpecRef::unchecked(base::as_bytes(residual_start),
                                       base::as_bytes(residual_end)));
    const auto split =
        decide_split_residual(shard.view(), shard.request(), plan.value(), op(1),
                              {.counts = {}, .limits = {}, .find_start = find_start});
    ASSERT_FALSE(split.has_value());
    EXPECT_TRUE(split.error().is<SplitInvalid>());
    expect_no_leak(split.error());
  }
}

TEST(Redaction, ManifestsShowIdsAndLengthsOnly) {
  const RunRecord run = new_run(at(1), tenant_of(1), RunId::from_raw(1), {.lease_duration = 100});
  const auto row = [](std::uint64_t id, std::string_view start, std::string_view end,
                      const CursorUpdate& cursor) {
    return InitialShardInput{
        ShardId::from_raw(id),
        shard::ShardSpecRef::unchecked(base::as_bytes(start), base::as_bytes(end),
                                       base::as_bytes(kSecretMetadata)),
        cursor};
  };
  const auto none = CursorUpdate::initial();
  const std::vector<std::vector<InitialShardInput>> manifests = {
      {row(1, "SECRETKEY", "", none)},
      {row(1, "SECRETKEY", "SECRETKEX", none)},
      {row(1, "SECRETKEY", "SECRETKEZ", none), row(2, "SECRETKEY5", "SECRETKEZ", none)},
      {row(1, "SECRETKEY", "SECRETKEZ", secret_cursor("SECRETKEZ"))},
      {row(1, "SECRETKEY", "SECRETKEZ", none), row(1, "SECRETKEZ", "SECRETKEZ1", none)},
  };
  std::set<std::string_view> codes;
  for (const auto& manifest : manifests) {
    const auto registered =
        decide_register(run, {.now = at(2), .tenant = run.tenant, .op = op(1)}, manifest, {}, {});
    ASSERT_FALSE(registered.has_value());
    codes.insert(code_name(registered.error()));
    expect_no_leak(registered.error());
  }
  EXPECT_EQ(codes.size(), manifests.size()) << "one of each";
}

// SEC-3: the size is tested before anything is allocated or looked at.
TEST(Redaction, AManifestThatIsTooLongIsRefusedByItsLength) {
  const RunRecord run = new_run(at(1), tenant_of(1), RunId::from_raw(1), {.lease_duration = 100});
  const std::vector<InitialShardInput> manifest(kMaxInitialShards + 1);
  const auto registered =
      decide_register(run, {.now = at(2), .tenant = run.tenant, .op = op(1)}, manifest, {}, {});
  ASSERT_FALSE(registered.has_value());
  EXPECT_EQ(code_name(registered.error()), "too_many_shards");
}

}  // namespace
}  // namespace cadastre::coord
