#include "server/checkpoint_store.h"

#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "log/checkpoint_disk.h"
#include "log/checkpoint_files.h"
#include "server/checkpoint_staging.h"

namespace cadastre::server {
namespace {

namespace fs = std::filesystem;
using log::SnapshotError;

std::string directory_name(const log::CheckpointName& name) {
  return fmt::format("g{}-n{}-c{}", name.group.value(), name.node.value(), name.id.value());
}

log::CheckpointName name_of(const log::CheckpointManifest& manifest) noexcept {
  return {manifest.group, manifest.node, manifest.id};
}

}  // namespace

// Steps on the pool, one at a time; between them a range is on its way, or the next attempt waits.
class CheckpointStore::Fetching : public std::enable_shared_from_this<Fetching> {
 public:
  Fetching(CheckpointStore& store,
           base::Gate::Pass pass,
           const log::CheckpointManifest& manifest,
           log::StageDone done)
      : pass_(std::move(pass)),
        store_(store),
        name_(name_of(manifest)),
        staging_(store.staged(name_), manifest, store.room_),
        done_(std::move(done)),
        progress_at_(store.parts_.clock.elapsed()) {}

  void begin() {
    store_.parts_.pool.run([self = shared_from_this()] {
      // A checkpoint of that name was let go a moment ago: its files must be gone first.
      if (self->store_.is_being_removed(self->staging_.directory())) {
        self->store_.parts_.timer.after(kFetchAgainAfter, [self] { self->begin(); });
        return;
      }
      self->staging_.inherit(self->store_.begun_but(self->name_));
      self->ask();
    });
  }

 private:
  void step() {
    store_.parts_.pool.run([self = shared_from_this()] { self->ask(); });
  }

  void ask() {
    if (store_.stopping_.load()) return end(base::fail(SnapshotError::kStopped));
    auto missing = staging_.next();
    if (!missing) return end(std::unexpected(std::move(missing.error())));
    if (!*missing) return end(log::StagedCheckpoint{staging_.directory(), staging_.manifest()});
    store_.parts_.source.fetch(
        name_, **missing,
        [self = shared_from_this()](base::Result<base::Bytes, FetchError> bytes) mutable {
          // Files are the pool's.
          CheckpointStore& store = self->store_;
          store.parts_.pool.run(
              [self = std::move(self), bytes = std::move(bytes)] { self->on_fetched(bytes); });
        });
  }

  void on_fetched(const base::Result<base::Bytes, FetchError>& bytes) {
    if (!bytes) return on_refused(bytes.error());
    CheckpointCounters::count(store_.counters_.bytes_fetched, bytes->size());
    auto taken = staging_.take(*bytes);
    if (!taken) return end(std::unexpected(std::move(taken.error())));
    progress_at_ = store_.parts_.clock.elapsed();
    ask();
  }

  void on_refused(const base::Error<FetchError>& error) {
    switch (error.code) {
      case FetchError::kGone: return end(base::fail(SnapshotError::kUnreachable, error.detail));
      case FetchError::kRefused: return end(base::fail(SnapshotError::kDamaged, error.detail));
      case FetchError::kUnavailable: break;
    }
    if (store_.stopping_.load()) return end(base::fail(SnapshotError::kStopped));
    if (store_.parts_.clock.elapsed() - progress_at_ >= kStageStallMax) {
      return end(
          base::fail(SnapshotError::kUnreachable,
                     fmt::format("node {} gives nothing: {}", name_.node.value(), error.detail)));
    }
    store_.parts_.timer.after(kFetchAgainAfter, [self = shared_from_this()] { self->step(); });
  }

  void end(base::Result<log::StagedCheckpoint, SnapshotError> result) {
    CheckpointCounters::count(result ? store_.counters_.staged : store_.counters_.stages_failed);
    if (!result) store_.warn_not_staged(name_, result.error());
    if (!result && result.error().code == SnapshotError::kDamaged)
      store_.remove(staging_.directory());
    done_(std::move(result));
  }

  const base::Gate::Pass pass_;  // First: the store may go when it does.
  CheckpointStore& store_;
  const log::CheckpointName name_;
  CheckpointStaging staging_;
  log::StageDone done_;
  base::Elapsed progress_at_;
};

base::Result<std::unique_ptr<CheckpointStore>, SnapshotError> CheckpointStore::open(
    const CheckpointOptions& options, const CheckpointParts& parts) {
  for (const char* const part : {"made", "staged"}) {
    std::error_code code;
    fs::create_directories(options.directory / part, code);
    if (code) {
      return base::fail(SnapshotError::kStorage,
                        (options.directory / part).string() + ": " + code.message());
    }
  }
  const auto synced = log::sync_directory(options.directory);
  if (!synced) return base::fail(SnapshotError::kStorage, synced.error().detail);
  return std::unique_ptr<CheckpointStore>(new CheckpointStore(options, parts));
}

CheckpointStore::CheckpointStore(const CheckpointOptions& options, const CheckpointParts& parts)
    : directory_(options.directory),
      parts_(parts),
      room_{.settings = options.space},
      pace_(options.bytes_per_second) {}

fs::path CheckpointStore::made(const log::CheckpointName& name) const {
  return directory_ / "made" / directory_name(name);
}

fs::path CheckpointStore::staged(const log::CheckpointName& name) const {
  return directory_ / "staged" / directory_name(name);
}

log::CheckpointTarget CheckpointStore::place(const log::CheckpointName& name) {
  return {made(name)};
}

void CheckpointStore::seal(const log::CheckpointFacts& facts, log::SealDone done) {
  auto pass = gate_.enter();
  if (!pass || stopping_.load()) return done(base::fail(SnapshotError::kStopped));
  parts_.pool.run([this, facts, done = std::move(done), pass = std::move(*pass)]() mutable {
    if (stopping_.load()) return done(base::fail(SnapshotError::kStopped));
    auto sealed = seal_now(facts);
    CheckpointCounters::count(sealed ? counters_.sealed : counters_.seals_failed);
    done(std::move(sealed));
  });
}

base::Result<log::CheckpointManifest, SnapshotError> CheckpointStore::seal_now(
    const log::CheckpointFacts& facts) {
  const log::CheckpointName name{facts.group, facts.node, facts.id};
  CheckpointShelf::Sealed sealed{.directory = made(name), .files = {}};
  auto manifest = log::seal_checkpoint(sealed.directory, facts);
  if (!manifest) return base::fail(SnapshotError::kStorage, std::move(manifest.error().detail));
  const auto list = log::read_small_file(sealed.directory / log::kFileListName);
  if (!list) return base::fail(SnapshotError::kStorage, list.error().detail);
  const auto files = log::decode_file_list(*list);
  if (!files) return base::fail(SnapshotError::kStorage, files.error().detail);
  for (const log::CheckpointFile& file : *files)
    sealed.files.emplace(file.name, file.bytes);
  sealed.files.emplace(log::kFileListName, list->size());
  sealed.total_bytes = manifest->total_bytes;
  shelf_.add(name, std::move(sealed));
  return *std::move(manifest);
}

std::optional<base::Elapsed> CheckpointStore::last_read(const log::CheckpointName& name) const {
  return shelf_.last_read(name);
}

void CheckpointStore::release(const log::CheckpointName& name) {
  shelf_.remove(name);
  remove_later(made(name));
}

void CheckpointStore::stage(const log::CheckpointManifest& manifest, log::StageDone done) {
  auto pass = gate_.enter();
  if (!pass || stopping_.load()) return done(base::fail(SnapshotError::kStopped));
  std::make_shared<Fetching>(*this, std::move(*pass), manifest, std::move(done))->begin();
}

// Its source hears that it failed; why is this node's operator's.
void CheckpointStore::warn_not_staged(const log::CheckpointName& name,
                                      const base::Error<SnapshotError>& why) {
  if (parts_.logger == nullptr || why.code == SnapshotError::kStopped) return;
  {
    const base::MutexLock lock(mutex_);
    if (!warnings_.due(name.group, parts_.clock.elapsed())) return;
  }
  parts_.logger->warn(
      "a checkpoint of another node was not fetched",
      {{"group", name.group.value()}, {"node", name.node.value()}, {"reason", why.detail}});
}

std::optional<log::StagedCheckpoint> CheckpointStore::find_staged(const log::CheckpointName& name) {
  const fs::path directory = staged(name);
  auto manifest = log::verify_checkpoint(directory);
  if (!manifest || name_of(*manifest) != name) return std::nullopt;
  return log::StagedCheckpoint{directory, *std::move(manifest)};
}

void CheckpointStore::release_staged(const log::CheckpointName& name) {
  remove_later(staged(name));
}

void CheckpointStore::sweep(std::span<const log::CheckpointName> wanted) {
  std::set<std::string> kept;
  for (const log::CheckpointName& name : wanted)
    kept.insert(directory_name(name));
  for (const char* const part : {"made", "staged"}) {
    std::vector<fs::path> gone;
    std::error_code code;
    for (fs::directory_iterator each(directory_ / part, code);
         !code && each != fs::directory_iterator(); each.increment(code)) {
      if (!kept.contains(each->path().filename().string())) gone.push_back(each->path());
    }
    for (const fs::path& directory : gone)
      remove(directory);
  }
}

std::vector<fs::path> CheckpointStore::begun_but(const log::CheckpointName& name) const {
  const std::string group = fmt::format("g{}-", name.group.value());
  std::vector<fs::path> begun;
  std::error_code code;
  for (fs::directory_iterator each(directory_ / "staged", code);
       !code && each != fs::directory_iterator(); each.increment(code)) {
    const std::string found = each->path().filename().string();
    if (found.starts_with(group) && found != directory_name(name) &&
        !fs::exists(each->path() / log::kManifestName, code))
      begun.push_back(each->path());
  }
  return begun;
}

void CheckpointStore::remove_later(fs::path directory) {
  auto pass = gate_.enter();
  if (!pass) return;  // The next start sweeps.
  {
    const base::MutexLock lock(mutex_);
    removing_.insert(directory);
  }
  parts_.pool.run([this, directory = std::move(directory), pass = std::move(*pass)] {
    remove(directory);
    const base::MutexLock lock(mutex_);
    removing_.erase(removing_.find(directory));
  });
}

bool CheckpointStore::is_being_removed(const fs::path& directory) {
  const base::MutexLock lock(mutex_);
  return removing_.contains(directory);
}

void CheckpointStore::remove(const fs::path& directory) const {
  std::error_code code;
  fs::remove_all(directory, code);
  if (!code || parts_.logger == nullptr) return;
  parts_.logger->warn("a checkpoint's files were not deleted",
                      {{"directory", directory.string()}, {"reason", code.message()}});
}

void CheckpointStore::read(const log::CheckpointName& name,
                           const FileRange& range,
                           RangeDone done) {
  auto pass = gate_.enter();
  if (!pass)
    return done(base::fail(RangeError::kBusy));  // Who comes back finds the node that follows.
  bool busy = false;
  {
    const base::MutexLock lock(mutex_);
    busy = reading_ == kRangesUnderWayMax;
    if (!busy) ++reading_;
  }
  if (busy) return done(base::fail(RangeError::kBusy));
  parts_.pool.run([this, name, range, done = std::move(done), pass = std::move(*pass)]() mutable {
    auto bytes = shelf_.read(name, range, parts_.clock.elapsed());
    // Rounded down: what goes a little early, the next one waits for.
    const auto wait = std::chrono::floor<std::chrono::milliseconds>(delay_of(bytes));
    auto answer = [this, pass = std::move(pass), done = std::move(done),
                   bytes = std::move(bytes)]() mutable {
      {
        const base::MutexLock lock(mutex_);
        --reading_;
      }
      done(std::move(bytes));
    };
    if (wait.count() == 0) return answer();
    parts_.timer.after(wait, std::move(answer));
  });
}

base::Elapsed CheckpointStore::delay_of(const base::Result<base::Bytes, RangeError>& bytes) {
  if (!bytes) {
    CheckpointCounters::count(counters_.ranges_refused);
    return {};
  }
  CheckpointCounters::count(counters_.bytes_served, bytes->size());
  const base::MutexLock lock(mutex_);
  return pace_.reserve(bytes->size(), parts_.clock.elapsed());
}

void CheckpointStore::request_stop() {
  stopping_.store(true);
  parts_.source.stop();
}

void CheckpointStore::stop() {
  request_stop();
  gate_.close();
}

}  // namespace cadastre::server
