// The list of a backup's files: any bytes are refused or are exactly what we would have written.
//
// Input: the text.

#include "node/backup_manifest.h"

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/target.h"

namespace cadastre::fuzz {

void run_one(base::ByteView input) {
  const auto text = base::as_text(input);
  const auto files = node::parse_backup_manifest(text);
  if (!files) return;
  for (const node::BackupFile& file : *files)
    CAD_CHECK(node::is_plain_path(file.path), "no path leaves the directory");
  const auto again = node::parse_backup_manifest(node::format_backup_manifest(*files));
  CAD_CHECK(again.has_value() && *again == *files, "what is written is read back");
}

}  // namespace cadastre::fuzz
