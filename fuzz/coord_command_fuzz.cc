// Commands of the replicated backend: whatever bytes decode encode to themselves, and a state that executes them
// stays whole. The input is one command after another, each behind its length in two bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "base/endian.h"
#include "coord/record_codec.h"
#include "coord/replicated/command.h"
#include "coord/replicated/state.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {

using coord::replicated::State;

void run_one(base::ByteView input) {
  State state(1);
  coord::replicated::CommandScratch scratch;
  while (input.size() >= 2) {
    const std::size_t size = base::load_le<std::uint16_t>(input.data());
    input = input.subspan(2);
    const base::ByteView bytes = input.first(std::min(size, input.size()));
    input = input.subspan(bytes.size());
    const auto command = coord::replicated::decode_command(bytes, scratch);
    if (!command) {
      CAD_CHECK(coord::code_name(command.error()) != "unknown", "an error has a name");
      CAD_CHECK(!state.execute(bytes).has_value(), "what does not decode is not executed");
      continue;
    }
    CAD_CHECK(base::equal(coord::replicated::encode(*command), bytes), "a command has one form");
    CAD_CHECK(state.execute(bytes).has_value(), "what decodes is executed");
  }
  state.verify();
}

}  // namespace cadastre::fuzz
