#include "node/local_log.h"

#include <utility>

#include "log/storage/rocks_storage.h"

namespace cadastre::node {

base::Result<std::unique_ptr<LocalLog>, log::OpenError> LocalLog::open(
    const LocalLogOptions& options, const base::Clock& clock, const base::Logger& logger) {
  const auto wall =
      std::chrono::duration_cast<std::chrono::milliseconds>(clock.now().time_since_epoch()).count();
  std::unique_ptr<LocalLog> log(new LocalLog);
  auto storage = CAD_TRY(log::RocksStorage::open({.directory = options.directory,
                                                  .identity = options.identity,
                                                  .created_ms = static_cast<std::uint64_t>(wall)}));
  for (const log::TornTail& torn : storage->torn()) {
    logger.warn("a crash had torn the end of a file", {{"file", torn.file.string()},
                                                       {"offset", torn.offset},
                                                       {"bytes", torn.bytes},
                                                       {"fault", torn.fault}});
  }
  log->storage_ = std::move(storage);
  log->threads_ = std::make_unique<LogThreads>(clock, logger);
  log->crashes_ =
      std::make_unique<CrashNoteFile>(options.directory, options.identity.node, clock, logger);
  log->host_ = CAD_TRY(log::Host::open({.storage = *log->storage_,
                                        .runner = *log->threads_,
                                        .clock = clock,
                                        .settings = options.settings,
                                        .replication = options.replication,
                                        .logger = &logger,
                                        .crashes = log->crashes_.get(),
                                        .quarantined = log->crashes_->quarantined()}));
  log->threads_->start(*log->host_, options.appliers);
  return log;
}

}  // namespace cadastre::node
