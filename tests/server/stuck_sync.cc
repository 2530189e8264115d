// A disk that hangs, for LD_PRELOAD: while somebody has locked the file `stuck` of the working directory, no sync
// returns.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <dlfcn.h>

namespace {

using Sync = int (*)(int);

int sync_once_it_may(const char* name, int descriptor) {
  const int stuck = ::open("stuck", O_RDONLY | O_CLOEXEC);
  if (stuck >= 0) {
    (void)::flock(stuck, LOCK_SH);
    (void)::close(stuck);
  }
  return reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, name))(descriptor);
}

}  // namespace

extern "C" int fdatasync(int descriptor) {
  return sync_once_it_may("fdatasync", descriptor);
}

extern "C" int fsync(int descriptor) {
  return sync_once_it_may("fsync", descriptor);
}
