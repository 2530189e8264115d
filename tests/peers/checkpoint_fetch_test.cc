// Checkpoints between nodes over gRPC: whole, resumed after a cut connection, damaged, gone; and peers that ask for what is
// not theirs (L-68, L-70, L-74, L-75).

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/signal.h"
#include "client/alarm_timer.h"
#include "node/bulk_threads.h"
#include "server/checkpoint_store.h"
#include "server/checkpoint_testing.h"
#include "server/fetch_request.h"
#include "server/grpc/peer_transport.h"
#include "server/grpc/peer_wire.h"
#include "tests/peers/grpc_nodes.h"
#include "tests/peers/node_certificates.h"
#include "tests/peers/raw_stream.h"
#include "tests/peers/recorder.h"

namespace cadastre::peers {
namespace {

namespace fs = std::filesystem;
using log::NodeId;
using log::SnapshotError;
using server::kMade;
using server::PeerRefusal;

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};

// A node with checkpoints. Its store's clock is turned by hand, so that a minute need not pass.
class CheckpointNode {
 public:
  struct How {
    NodeId id;
    fs::path directory;
    std::uint16_t port = 0;
    std::optional<server::PeerTls> tls = std::nullopt;
    std::uint64_t bytes_per_second = server::kFetchPaceDefault;
  };

  explicit CheckpointNode(How how)
      : how_(std::move(how)),
        random_(how_.id.value()),
        transport_({.self = {kCluster, how_.id},
                    .incarnation = log::PeerIncarnation{1},
                    .clock = clock_,
                    .random = random_,
                    .timer = timer_}) {
    auto opened = server::CheckpointStore::open(
        {.directory = how_.directory, .bytes_per_second = how_.bytes_per_second},
        {bulk_, transport_.checkpoint_source(), timer_, store_clock_});
    CAD_CHECK(opened.has_value(), "a test's directory can be made");
    store_ = *std::move(opened);
  }
  ~CheckpointNode() {
    store_->stop();
    transport_.stop();
  }

  void listen() {
    const auto started = transport_.start({.address = {.host = "127.0.0.1", .port = how_.port},
                                           .tls = how_.tls,
                                           .checkpoints = store_.get()},
                                          recorder_, recorder_);
    CAD_CHECK(started.has_value(), "a test's transport can listen");
  }
  void knows(NodeId node, std::uint16_t port) {
    const log::PeerAddress peer{node, {fmt::format("127.0.0.1:{}", port), {}}};
    transport_.set_peers({&peer, 1});
  }

  log::CheckpointManifest make() {
    server::write_state(store_->place(kMade).directory);
    std::optional<log::CheckpointManifest> made;
    base::Signal sealed;
    store_->seal(server::facts_of(kMade),
                 [&](base::Result<log::CheckpointManifest, SnapshotError> manifest) {
                   CAD_CHECK(manifest.has_value(), "a test's checkpoint can be sealed");
                   made = *std::move(manifest);
                   sealed.raise();
                 });
    sealed.wait();
    return *made;
  }

  [[nodiscard]] server::CheckpointStore& store() noexcept { return *store_; }
  [[nodiscard]] base::ManualClock& store_clock() noexcept { return store_clock_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return transport_.port(); }
  [[nodiscard]] std::uint64_t refused(PeerRefusal why) const {
    return transport_.counters().refused.at(static_cast<std::size_t>(why));
  }

 private:
  const How how_;
  base::SystemClock clock_;
  base::ManualClock store_clock_;
  base::SeededRandom random_;
  client::AlarmTimer timer_;
  Recorder recorder_;
  node::BulkThreads bulk_;
  server::GrpcPeerTransport transport_;
  std::unique_ptr<server::CheckpointStore> store_;
};

// The answer of a staging, waited for.
class Staged {
 public:
  void operator()(base::Result<log::StagedCheckpoint, SnapshotError> staged) {
    const base::MutexLock lock(mutex_);
    answer_.emplace(std::move(staged));
    changed_.notify_all();
  }
  [[nodiscard]] bool is_there(std::chrono::nanoseconds patience) {
    const base::Elapsed deadline = clock_.elapsed() + patience;
    const base::MutexLock lock(mutex_);
    while (!answer_ && clock_.elapsed() < deadline)
      changed_.wait_for(mutex_, deadline - clock_.elapsed());
    return answer_.has_value();
  }
  [[nodiscard]] std::optional<SnapshotError> error() {
    CAD_CHECK(is_there(kPatience), "a staging is answered");
    const base::MutexLock lock(mutex_);
    if (*answer_) return std::nullopt;
    return answer_->error().code;
  }
  [[nodiscard]] fs::path directory() {
    const base::MutexLock lock(mutex_);
    return answer_->value().directory;
  }

 private:
  base::SystemClock clock_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<base::Result<log::StagedCheckpoint, SnapshotError>> answer_ CAD_GUARDED_BY(mutex_);
};

struct CheckpointFetch : testing::Test {
  [[nodiscard]] CheckpointNode::How sender_how() const {
    return {.id = kOne, .directory = scratch.path() / "one"};
  }
  [[nodiscard]] CheckpointNode::How receiver_how() const {
    return {.id = kTwo, .directory = scratch.path() / "two"};
  }
  void open(const CheckpointNode::How& one, const CheckpointNode::How& two) {
    sender = std::make_unique<CheckpointNode>(one);
    manifest = sender->make();
    sender->listen();
    receiver = std::make_unique<CheckpointNode>(two);
    receiver->listen();
    receiver->knows(kOne, sender->port());
  }
  std::shared_ptr<Staged> stage() {
    auto staged = std::make_shared<Staged>();
    receiver->store().stage(manifest, [staged](auto result) { (*staged)(std::move(result)); });
    return staged;
  }
  [[nodiscard]] std::uint64_t fetched() const { return receiver->store().counters().bytes_fetched; }

  const server::CheckpointScratch scratch;
  log::CheckpointManifest manifest;
  std::unique_ptr<CheckpointNode> sender;
  std::unique_ptr<CheckpointNode> receiver;
};

TEST_F(CheckpointFetch, ComesWholeAndVerified) {
  open(sender_how(), receiver_how());
  const auto staged = stage();
  ASSERT_EQ(staged->error(), std::nullopt);
  const auto verified = log::verify_checkpoint(staged->directory());
  ASSERT_TRUE(verified) << verified.error().detail;
  EXPECT_EQ(*verified, manifest);
  EXPECT_EQ(fetched(), manifest.list_bytes + manifest.total_bytes);
  EXPECT_EQ(sender->store().counters().bytes_served, fetched());
}

TEST_F(CheckpointFetch, GoesOnAfterItsConnectionWasCut) {
  CheckpointNode::How slow = sender_how();
  slow.bytes_per_second = server::kFetchPaceMin;  // A range in a quarter of a second.
  open(slow, receiver_how());
  const auto staged = stage();
  const base::SystemClock clock;
  const base::Elapsed deadline = clock.elapsed() + kPatience;
  while (fetched() < server::kFetchBytesMax && clock.elapsed() < deadline)
    (void)staged->is_there(std::chrono::milliseconds(5));
  slow.port = sender->port();
  sender.reset();
  EXPECT_LT(fetched(), manifest.total_bytes);
  // The same node again, with the same checkpoint: its connections are new.
  fs::remove_all(slow.directory);
  slow.bytes_per_second = server::kFetchPaceDefault;
  sender = std::make_unique<CheckpointNode>(slow);
  ASSERT_EQ(sender->make(), manifest);
  sender->listen();
  EXPECT_EQ(staged->error(), std::nullopt);
  EXPECT_EQ(fetched(), manifest.list_bytes + manifest.total_bytes);  // No byte twice.
}

TEST_F(CheckpointFetch, ADamagedByteIsNoticedAndEverythingThrownAway) {
  open(sender_how(), receiver_how());
  std::fstream file(sender->store().place(kMade).directory / "000001.sst",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(300'000);
  file.put('X');
  file.close();
  EXPECT_EQ(stage()->error(), SnapshotError::kDamaged);
  EXPECT_TRUE(fs::is_empty(scratch.path() / "two/staged"));
}

TEST_F(CheckpointFetch, ASourceThatHasItNoMoreSaysSo) {
  open(sender_how(), receiver_how());
  sender->store().release(kMade);
  EXPECT_EQ(stage()->error(), SnapshotError::kUnreachable);
}

TEST_F(CheckpointFetch, ASourceThatVanishesIsGivenUpAfterAMinute) {  // L-75
  open(sender_how(), receiver_how());
  sender.reset();
  const auto staged = stage();
  EXPECT_FALSE(staged->is_there(std::chrono::milliseconds(500)));
  receiver->store_clock().advance(server::kStageStallMax);
  EXPECT_EQ(staged->error(), SnapshotError::kUnreachable);
}

TEST_F(CheckpointFetch, AStopDoesNotWaitForASource) {
  open(sender_how(), receiver_how());
  sender.reset();
  const auto staged = stage();
  receiver->store().stop();
  EXPECT_EQ(staged->error(), SnapshotError::kStopped);
}

TEST_F(CheckpointFetch, AQuestionThatIsNoneIsRefusedAndCounted) {  // L-68, L-70
  open(sender_how(), receiver_how());
  server::FetchRequest good{
      .cluster = kCluster, .from = kTwo, .checkpoint = kMade, .range = {"CURRENT", 0, 11}};
  const auto ask = [&](base::ByteView request) {
    RawStream call(sender->port(), server::kFetchMethod);
    (void)call.write(request);
    return call.ending();
  };
  EXPECT_EQ(ask(server::encode_fetch_request(good)).reason, "MANIFEST-1\n");

  EXPECT_EQ(ask(base::as_bytes("garbage")).status, server::name_of(PeerRefusal::kDamaged));
  base::Bytes bad_name = server::encode_fetch_request(good);
  bad_name[60] = std::byte{'/'};
  EXPECT_EQ(ask(bad_name).status, server::name_of(PeerRefusal::kDamaged));
  EXPECT_EQ(sender->refused(PeerRefusal::kDamaged), 2U);
  EXPECT_EQ(ask(base::Bytes(100'000)).status, server::name_of(PeerRefusal::kTooLong));
  EXPECT_EQ(sender->refused(PeerRefusal::kTooLong), 1U);

  server::FetchRequest other = good;
  other.cluster = log::ClusterId{8};
  EXPECT_EQ(ask(server::encode_fetch_request(other)).status,
            server::name_of(PeerRefusal::kCluster));
  other = good;
  other.checkpoint.node = NodeId{3};
  EXPECT_EQ(ask(server::encode_fetch_request(other)).status, server::name_of(PeerRefusal::kNode));
  other = good;
  other.checkpoint.id = log::CheckpointId{1};
  EXPECT_EQ(ask(server::encode_fetch_request(other)).status, "the checkpoint is not here");
  other = good;
  other.range = {"SECRET", 0, 1};
  EXPECT_EQ(ask(server::encode_fetch_request(other)).status, "it has no such range");
  other = good;
  other.range.offset = 1;
  EXPECT_EQ(ask(server::encode_fetch_request(other)).status, "it has no such range");
  EXPECT_EQ(sender->store().counters().ranges_refused, 3U);
}

struct CheckpointFetchTls : CheckpointFetch {
  std::shared_ptr<Staged> stage_with(const char* one, const char* two) {
    receiver.reset();
    sender.reset();
    fs::remove_all(scratch.path() / "one");
    fs::remove_all(scratch.path() / "two");
    CheckpointNode::How sends = sender_how();
    CheckpointNode::How receives = receiver_how();
    sends.tls = certificates.of(one);
    receives.tls = certificates.of(two);
    open(sends, receives);
    return stage();
  }
  // Refused, by that node, and still not there after several attempts.
  static bool is_refused_by(const CheckpointNode& node, Staged& staged) {
    return !staged.is_there(5 * server::kFetchAgainAfter) &&
           node.refused(PeerRefusal::kIdentity) != 0;
  }

  const NodeCertificates certificates;
};

TEST_F(CheckpointFetchTls, NodesOfOneAuthorityFetchFromEachOther) {
  EXPECT_EQ(stage_with("one", "two")->error(), std::nullopt);
}

TEST_F(CheckpointFetchTls, NobodyGetsAnythingWithAnotherOnesCertificate) {  // L-68
  for (const char* other : {"one", "foreign", "nameless"}) {
    const auto staged = stage_with("one", other);
    EXPECT_TRUE(is_refused_by(*sender, *staged)) << other;
    EXPECT_EQ(sender->store().counters().bytes_served, 0U);
  }
}

TEST_F(CheckpointFetchTls, NothingIsTakenFromANodeWithAnotherOnesCertificate) {  // L-68
  const auto staged = stage_with("nameless", "two");
  EXPECT_TRUE(is_refused_by(*receiver, *staged));
  EXPECT_EQ(fetched(), 0U);
}

}  // namespace
}  // namespace cadastre::peers
