#include "log/storage/stepwise_deletes.h"

#include <filesystem>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace cadastre::log {
namespace {

using rocksdb::IOStatus;

// The name of a file on its way; nothing for files that are small, or not written again and again.
std::string leaving_name(const std::string& name) {
  std::filesystem::path path(name);
  if (path.extension() != ".log" && path.extension() != ".sst") return {};
  return path.replace_extension(".dbtmp").string();
}

class StepwiseFiles final : public rocksdb::FileSystemWrapper {
 public:
  StepwiseFiles(std::shared_ptr<rocksdb::FileSystem> below, std::uint64_t step_bytes)
      : FileSystemWrapper(std::move(below)), step_bytes_(step_bytes) {}

  [[nodiscard]] const char* Name() const override { return "StepwiseFiles"; }

  IOStatus DeleteFile(const std::string& name,
                      const rocksdb::IOOptions& options,
                      rocksdb::IODebugContext* debug) override {
    const std::string leaving = leaving_name(name);
    const std::uint64_t bytes = leaving.empty() ? 0 : bytes_in_steps(name, options);
    if (bytes == 0 || !RenameFile(name, leaving, options, debug).ok())
      return FileSystemWrapper::DeleteFile(name, options, debug);
    // No file of the old name may be short after a crash: the new name is durable before the first cut.
    if (sync_names_around(leaving, options).ok()) (void)shorten(leaving, bytes, options);
    return FileSystemWrapper::DeleteFile(leaving, options, debug);
  }

 private:
  // 0: it does not go in steps.
  std::uint64_t bytes_in_steps(const std::string& name, const rocksdb::IOOptions& options) {
    std::uint64_t bytes = 0;
    std::uint64_t links = 0;
    if (!GetFileSize(name, options, &bytes, nullptr).ok() || bytes <= step_bytes_) return 0;
    if (!NumFileLinks(name, options, &links, nullptr).ok() || links != 1) return 0;
    return bytes;
  }

  IOStatus sync_names_around(const std::string& name, const rocksdb::IOOptions& options) {
    const std::string folder = std::filesystem::path(name).parent_path().string();
    std::unique_ptr<rocksdb::FSDirectory> directory;
    IOStatus status = NewDirectory(folder, options, &directory, nullptr);
    if (status.ok()) status = directory->Fsync(options, nullptr);
    return status;
  }

  IOStatus shorten(const std::string& name,
                   std::uint64_t bytes,
                   const rocksdb::IOOptions& options) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = ReopenWritableFile(name, rocksdb::FileOptions(), &file, nullptr);
    while (status.ok() && bytes > step_bytes_) {
      bytes -= step_bytes_;
      status = file->Truncate(bytes, options, nullptr);
      if (status.ok()) status = file->Fsync(options, nullptr);
    }
    return status;
  }

  const std::uint64_t step_bytes_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> stepwise_deletes(rocksdb::Env& below, std::uint64_t step_bytes) {
  return rocksdb::NewCompositeEnv(
      std::make_shared<StepwiseFiles>(below.GetFileSystem(), step_bytes));
}

}  // namespace cadastre::log
