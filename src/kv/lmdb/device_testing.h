// SmallDevice: a file system of a few pages in memory, which can fill up and become read-only.
//
// It is mounted in a namespace of this process: whatever becomes of the test, nothing stays mounted.
// Needs root, as the tests of a full disk do.

#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>

#include "base/check.h"
#include "kv/lmdb_testing.h"

namespace cadastre::kv::lmdb {

class SmallDevice {
 public:
  explicit SmallDevice(const std::string& size) : options_("size=" + size) {
    CAD_CHECK(unshare(CLONE_NEWNS) == 0, "the tests of devices run as root");
    CAD_CHECK(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0,
              "what is mounted here stays here");
    CAD_CHECK(mount("tmpfs", path().c_str(), "tmpfs", 0, options_.c_str()) == 0,
              "a file system in memory can be mounted");
  }
  SmallDevice(const SmallDevice&) = delete;
  SmallDevice& operator=(const SmallDevice&) = delete;
  ~SmallDevice() { umount2(path().c_str(), MNT_DETACH); }

  [[nodiscard]] const std::string& path() const { return directory_.path(); }

  // Nothing is open for writing.
  void make_read_only() const {
    CAD_CHECK(
        mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, options_.c_str()) == 0,
        "a file system that nobody writes can become read-only");
  }

  void grow(const std::string& size) const {
    CAD_CHECK(mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT, ("size=" + size).c_str()) == 0,
              "a file system in memory grows");
  }

  // Writes a file until nothing more fits.
  void fill() const {
    const int file = open(ballast().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CAD_CHECK(file >= 0, "a file can be made");
    constexpr std::size_t kBlockBytes = 4096;
    const std::array<char, kBlockBytes> block{};
    while (write(file, block.data(), block.size()) > 0) {}
    close(file);
  }
  void make_room() const { unlink(ballast().c_str()); }

 private:
  [[nodiscard]] std::string ballast() const { return path() + "/ballast"; }

  const TemporaryDirectory directory_;
  const std::string options_;
};

}  // namespace cadastre::kv::lmdb
