// Contexts of configurations: whatever reads, writes itself back to the same bytes.

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"
#include "log/conf_context.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  const auto context = log::decode_conf_context(input);
  if (!context || input.empty()) return;
  CAD_CHECK(base::equal(log::encode_conf_context(*context), input), "a context has one form");
}

}  // namespace cadastre::fuzz
