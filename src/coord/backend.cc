#include "coord/backend.h"

#include <cstddef>

#include "base/bytes.h"
#include "coord/shard_record.h"

namespace cadastre::coord {

ShardDump dump(const ShardRecordView& record) {
  ShardDump dump;
  dump.state = record.state;
  dump.start = base::to_owned(record.spec.start());
  dump.end = base::to_owned(record.spec.end());
  dump.metadata = base::to_owned(record.spec.metadata());
  dump.last_key = base::to_owned(record.cursor.last_key().value_or(ByteView{}));
  dump.token = base::to_owned(record.cursor.token().value_or(ByteView{}));
  for (std::size_t i = 0; i < record.spawned.size(); ++i)
    dump.spawned.push_back(record.spawned[i]);
  return dump;
}

}  // namespace cadastre::coord
