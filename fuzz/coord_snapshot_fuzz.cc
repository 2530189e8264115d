// Snapshots of the replicated backend: the input is taken as it is, and as a file whose sum is right. What decodes
// is a whole state, and that state's snapshot is the same file.

#include "base/bytes.h"
#include "base/check.h"
#include "coord/replicated/snapshot_codec.h"
#include "coord/replicated/state.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {
namespace {

namespace replicated = coord::replicated;

void check(base::ByteView bytes) {
  const auto content = replicated::decode_snapshot(bytes);
  if (!content) {
    CAD_CHECK(!content.error().detail.empty(), "a refusal says why");
    return;
  }
  const replicated::State state(*content, 1);
  state.verify();
  base::Bytes again = replicated::encode_snapshot(content->head, state.records(), state.times());
  replicated::seal(again);
  CAD_CHECK(base::equal(again, bytes), "a snapshot has one form");
}

}  // namespace

void run_one(base::ByteView input) {
  check(input);
  base::Bytes sealed = base::to_owned(input);
  replicated::seal(sealed);
  check(sealed);
}

}  // namespace cadastre::fuzz
