// Manifests and file lists of checkpoints: whatever reads, writes itself back to the same bytes.

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"
#include "log/checkpoint.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  if (const auto manifest = log::decode_manifest(input))
    CAD_CHECK(base::equal(log::encode_manifest(*manifest), input), "a manifest has one form");
  if (const auto files = log::decode_file_list(input))
    CAD_CHECK(base::equal(log::encode_file_list(*files), input), "a list has one form");
}

}  // namespace cadastre::fuzz
