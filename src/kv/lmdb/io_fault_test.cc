// Commits with their 1st, 2nd, 3rd ... write or flush failing: an error is told, the store is whole, and
// only a fault at the very last step leaves the outcome open.
//
// The C library's calls are replaced in this test binary, where LMDB finds them first.

#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/error.h"
#include "kv/kv.h"
#include "kv/lmdb_testing.h"
#include "kv/shown_testing.h"
#include "kv/store.h"

namespace {

// Counts down to the call that fails; 0 is no call. One thread only.
struct Fault {
  int calls_left = 0;
  int code = EIO;
  bool has_struck = false;
};

Fault& fault() {
  static Fault fault;
  return fault;
}

bool strikes() {
  if (fault().calls_left == 0 || --fault().calls_left > 0) return false;
  fault().has_struck = true;
  errno = fault().code;
  return true;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are reserved names.
ssize_t pwrite(int file, const void* bytes, std::size_t count, off_t offset) {
  if (strikes()) return -1;
  return real<decltype(pwrite)>("pwrite")(file, bytes, count, offset);
}

ssize_t writev(int file, const iovec* pieces, int count) {
  if (strikes()) return -1;
  return real<decltype(writev)>("writev")(file, pieces, count);
}

int fdatasync(int file) {
  if (strikes()) return -1;
  return real<decltype(fdatasync)>("fdatasync")(file);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"

namespace cadastre::kv::lmdb {
namespace {

using Texts = std::vector<std::string>;

Result<void, Error> replace(Store& store, const std::string& value) {
  const SpaceId space = store.find_space("space").value();
  const auto txn = CAD_TRY(store.begin_write());
  for (const char* const key : {"a", "b", "c"})
    CAD_TRY(txn->writer(space).put(base::as_bytes(key), base::as_bytes(value)));
  CAD_TRY(txn->writer(space).put(base::as_bytes("pages"), base::Bytes(20'000, std::byte{1})));
  return txn->commit();
}

// The three small values, which were written together.
std::string state_of(Store& store) {
  const auto txn = store.begin_read().value();
  Reader& reader = txn->reader(store.find_space("space").value());
  const std::string value = shown(reader.get(base::as_bytes("a")));
  EXPECT_EQ(shown(reader.get(base::as_bytes("b"))), value);
  EXPECT_EQ(shown(reader.get(base::as_bytes("c"))), value);
  return value;
}

class LmdbIoFault : public testing::TestWithParam<int> {
 protected:
  void TearDown() override { fault() = {}; }
};

TEST_P(LmdbIoFault, EveryFailedStepOfACommitIsToldAndUndone) {
  Texts answers;
  for (int nth = 1;; ++nth) {
    const TemporaryDirectory directory;
    auto store = open_lmdb_store(directory.path()).value();
    ASSERT_TRUE(store->open_space("space"));
    ASSERT_EQ(shown(replace(*store, "old")), "done");
    fault() = {.calls_left = nth, .code = GetParam(), .has_struck = false};
    const auto answer = replace(*store, "new");
    if (!fault().has_struck) {
      EXPECT_EQ(shown(answer), "done");
      break;
    }
    fault() = {};
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().system_code, GetParam());
    const bool is_unknown = answer.error().code == ErrorCode::kOutcomeUnknown;
    answers.emplace_back(is_unknown ? "unknown" : "not done");
    if (is_unknown) {  // Nothing more is answered from here: open again and look.
      EXPECT_EQ(store->begin_read().error().code, ErrorCode::kUnavailable);
      EXPECT_EQ(store->begin_write().error().code, ErrorCode::kUnavailable);
    } else {
      EXPECT_EQ(answer.error().code, GetParam() == ENOSPC ? ErrorCode::kDiskFull : ErrorCode::kIo);
      EXPECT_EQ(state_of(*store), "old");
      EXPECT_EQ(shown(replace(*store, "newer")), "done");
      EXPECT_EQ(state_of(*store), "newer");
    }
    store.reset();
    store = open_lmdb_store(directory.path()).value();
    EXPECT_TRUE(state_of(*store) == (is_unknown ? "old" : "newer") ||
                (is_unknown && state_of(*store) == "new"));
  }
  ASSERT_GE(answers.size(), 3U);  // Pages, their flush, the root.
  EXPECT_EQ(answers.back(), "unknown");
  answers.pop_back();
  EXPECT_EQ(answers, Texts(answers.size(), "not done"));
}

INSTANTIATE_TEST_SUITE_P(Codes, LmdbIoFault, testing::Values(EIO, ENOSPC));

}  // namespace
}  // namespace cadastre::kv::lmdb
