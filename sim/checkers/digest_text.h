// What replicas report of themselves, as text, one report on each line, for DigestAgreement:
//
//   # Which node, what happened, at which index, and the digest there.
//   n1 restored 0 #0
//   n1 applied 2 #8c0ffee
//   n2 restored 40 #1234
//
// A node's reports stand in the order in which it made them; those of different nodes in any. Empty lines and lines
// that begin with # are skipped.

#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "sim/checkers/digest_agreement.h"
#include "sim/checkers/history_text.h"

namespace cadastre::sim::checkers {

// Feeds the reports, all of one group, to `agreement`. How many there were.
[[nodiscard]] base::Result<std::uint64_t, TextError> report_digests(std::string_view text,
                                                                    DigestAgreement& agreement);

}  // namespace cadastre::sim::checkers
