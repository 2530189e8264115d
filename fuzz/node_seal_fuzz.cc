// The seal of a data directory: any bytes are refused or are exactly what we would have written.
//
// Input: the file's bytes.

#include "node/node_seal.h"

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  const auto seal = node::decode_seal(input);
  if (!seal) return;
  CAD_CHECK(base::as_text(node::encode_seal(*seal)) == base::as_text(input),
            "what is read is what is written");
}

}  // namespace cadastre::fuzz
