// Crash notes: any bytes are refused or are exactly what we would have written; whoever is quarantined has notes.
//
// Input: the file's bytes.

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"
#include "log/crash_notes.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  const auto notes = log::decode_crash_notes(base::as_text(input));
  if (!notes) return;
  CAD_CHECK(log::encode_crash_notes(*notes) == base::as_text(input),
            "what is read is what is written");
  for (const log::GroupId group : log::groups_to_quarantine(*notes)) {
    CAD_CHECK(std::ranges::find(*notes, group, &log::CrashNote::group) != notes->end(),
              "nobody is quarantined for nothing");
  }
}

}  // namespace cadastre::fuzz
