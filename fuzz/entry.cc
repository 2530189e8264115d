#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "fuzz/target.h"

// libFuzzer calls this name.
// NOLINTNEXTLINE(readability-identifier-naming,misc-use-internal-linkage)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cadastre::fuzz::run_one(cadastre::base::as_bytes(std::span(data, size)));
  return 0;
}
