#include "server/checkpoint_shelf.h"

#include <fcntl.h>

#include <utility>

#include "log/checkpoint_disk.h"

namespace cadastre::server {

void CheckpointShelf::add(const log::CheckpointName& name, Sealed sealed) {
  auto shared = std::make_shared<const Sealed>(std::move(sealed));
  const base::MutexLock lock(mutex_);
  entries_.insert_or_assign(name, Entry{std::move(shared)});
}

void CheckpointShelf::remove(const log::CheckpointName& name) {
  const base::MutexLock lock(mutex_);
  entries_.erase(name);
}

base::Result<base::Bytes, RangeError> CheckpointShelf::read(const log::CheckpointName& name,
                                                            const FileRange& range,
                                                            base::Elapsed now) {
  std::shared_ptr<const Sealed> sealed;
  {
    const base::MutexLock lock(mutex_);
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) return base::fail(RangeError::kGone);
    entry->second.last_read = now;
    sealed = entry->second.sealed;
  }
  const auto file = sealed->files.find(range.file);
  if (file == sealed->files.end()) return base::fail(RangeError::kNoRange);
  if (range.offset > file->second || range.bytes > file->second - range.offset)
    return base::fail(RangeError::kNoRange);
  const auto in = log::DiskFile::open(sealed->directory / file->first, O_RDONLY);
  if (!in) return base::fail(RangeError::kStorage, in.error().detail);
  auto bytes = in->read_at(range.offset, range.bytes);
  if (!bytes) return base::fail(RangeError::kStorage, std::move(bytes.error().detail));
  if (bytes->size() != range.bytes)
    return base::fail(RangeError::kStorage, file->first + ": the file was cut short");
  return *std::move(bytes);
}

std::optional<base::Elapsed> CheckpointShelf::last_read(const log::CheckpointName& name) const {
  const base::MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  return entry == entries_.end() ? std::nullopt : entry->second.last_read;
}

std::uint64_t CheckpointShelf::bytes() const {
  const base::MutexLock lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [name, entry] : entries_)
    bytes += entry.sealed->total_bytes;
  return bytes;
}

}  // namespace cadastre::server
