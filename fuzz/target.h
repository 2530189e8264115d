// What a fuzz target provides: one function that takes any bytes.
//
// fuzz/<name>_fuzz.cc defines run_one; entry.cc makes it libFuzzer's. A law that does not hold is a
// CAD_CHECK, so that the run ends there and libFuzzer keeps the input. The input is a heap copy of
// exactly its size: AddressSanitizer sees the first byte read past its end.

#pragma once

#include "base/bytes.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input);

}  // namespace cadastre::fuzz
