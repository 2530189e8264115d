#include "log/snapshot_mail.h"

#include <utility>

#include "log/request_limits.h"

namespace cadastre::log {

void SnapshotMail::post(Letter letter) {
  const base::MutexLock lock(mutex_);
  if (runner_ == nullptr) return;
  letters_.push_back(std::move(letter));
  runner_->wake_log();
}

void SnapshotMail::post_made(const CheckpointName& name,
                             base::Result<CheckpointManifest, SnapshotError>&& manifest) {
  post(Made{name, std::move(manifest)});
}

void SnapshotMail::post_report(const Reported& letter) {
  const base::MutexLock lock(mutex_);
  const std::pair key{letter.from, letter.group};
  if (runner_ == nullptr) return;
  if (!reports_.contains(key) && reports_.size() >= kSnapshotReportsMax) return;
  reports_.insert_or_assign(key, letter.report);
  runner_->wake_log();
}

std::vector<SnapshotMail::Letter> SnapshotMail::take() {
  const base::MutexLock lock(mutex_);
  std::vector<Letter> letters = std::exchange(letters_, {});
  for (const auto& [key, report] : std::exchange(reports_, {}))
    letters.emplace_back(Reported{key.first, key.second, report});
  return letters;
}

void SnapshotMail::close() {
  const base::MutexLock lock(mutex_);
  runner_ = nullptr;
  letters_.clear();
  reports_.clear();
}

}  // namespace cadastre::log
