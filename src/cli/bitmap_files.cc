#include "cli/bitmap_files.h"

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "bitmap/bitmap.h"
#include "bitmap/error.h"
#include "bitmap/table_reader.h"
#include "bitmap/table_writer.h"
#include "cli/bitmap_answer.h"
#include "cli/bitmap_error.h"
#include "cli/bitmap_session.h"
#include "cli/bitmap_sets.h"
#include "cli/command_error.h"
#include "cli/input_file.h"
#include "cli/limits.h"
#include "cli/output_file.h"

namespace cadastre::cli {

using Answer = Result<std::string, CommandError>;
using Done = Result<void, bitmap::Error>;

Answer export_set(BitmapSession& session, base::ByteView key, const std::string& path) {
  CAD_TRY(check_set_key(key));
  bitmap::Bitmap members;
  CAD_TRY(session.read([&](const bitmap::TableReader& reader) -> Done {
    members = CAD_TRY(reader.get(key, kPortableBytesMax));
    return {};
  }));
  const base::Bytes portable = members.to_portable();
  CAD_TRY(write_file(path, portable));
  return exported_answer(members.cardinality(), portable.size(), session.form());
}

Answer import_set(BitmapSession& session, base::ByteView key, const InputFile& file) {
  CAD_TRY(check_set_key(key));
  const auto members = bitmap::Bitmap::from_portable(CAD_TRY(file.read_all(kPortableBytesMax)));
  if (!members) return base::fail(not_portable(members.error().code));
  std::uint64_t changed = 0;
  CAD_TRY(session.write(AbsentTable::kMade, [&](bitmap::TableWriter& writer) -> Done {
    changed = CAD_TRY(writer.unite(key, *members));
    return {};
  }));
  return imported_answer(members->cardinality(), changed, session.form());
}

}  // namespace cadastre::cli
