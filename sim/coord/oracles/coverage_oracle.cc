#include "sim/coord/oracles/coverage_oracle.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "coord/backend.h"
#include "coord/shard_record.h"
#include "coord/states.h"
#include "sim/coord/oracles/violation.h"
#include "sim/coord/request.h"
#include "sim/coord/shard_name.h"

namespace cadastre::sim {

bool tiles(std::span<const KeySpan> registered, std::span<const KeySpan> spans) {
  std::size_t at = 0;
  for (const KeySpan& wanted : registered) {
    base::ByteView reach = wanted.start;
    while (at < spans.size() && base::less(reach, wanted.end)) {
      if (!base::equal(spans[at].start, reach)) return false;  // a gap, or an overlap
      if (!base::less(reach, spans[at].end)) return false;     // an empty or unbounded span
      reach = spans[at].end;
      ++at;
    }
    if (!base::equal(reach, wanted.end)) return false;
  }
  return at == spans.size();
}

void CoverageOracle::observe(const Request& request, const Answer& answer) {
  if (request.call != Call::kRegister || answer.verdict != Verdict::kExecuted) return;
  std::vector<Registered> ranges;
  ranges.reserve(request.pieces.size());
  for (const Piece& piece : request.pieces)
    ranges.push_back({piece.start, piece.end});
  std::ranges::sort(ranges, [](const Registered& a, const Registered& b) {
    return base::less(a.start, b.start);
  });
  std::vector<Registered>& joined = registered_[{number_of(request.tenant), request.key.run}];
  joined.clear();
  for (const Registered& range : ranges) {
    if (!joined.empty() && joined.back().end == range.start) {
      joined.back().end = range.end;
    } else {
      joined.push_back(range);
    }
  }
}

void CoverageOracle::check(const coord::Introspection& records, Violations& out) const {
  std::optional<RunName> run;
  std::vector<Registered> ranges;  // copies: a record is lent for its visit only
  const auto finish = [&] {
    std::vector<KeySpan> spans;
    spans.reserve(ranges.size());
    for (const Registered& range : ranges)
      spans.push_back({range.start, range.end});
    if (run) check_run(*run, spans, out);
    ranges.clear();
  };
  std::size_t runs = 0;
  records.visit_shards([&](const coord::ShardRecordView& record) {
    const RunName name{number_of(record.state.tenant), record.state.run};
    if (run != name) {
      finish();
      run = name;
      ++runs;
    }
    if (record.state.status == coord::ShardStatus::kSplit) return;
    ranges.push_back({base::to_owned(record.spec.start()), base::to_owned(record.spec.end())});
  });
  finish();
  if (runs != registered_.size()) out.push_back({"S7b", "a registered run has no shards"});
}

void CoverageOracle::check_run(const RunName& run,
                               std::span<const KeySpan> spans,
                               Violations& out) const {
  const auto registered = registered_.find(run);
  if (registered == registered_.end()) {
    out.push_back({"S7b", fmt::format("run {} has shards that nobody registered", run.run.raw())});
    return;
  }
  std::vector<KeySpan> wanted;
  for (const Registered& range : registered->second)
    wanted.push_back({range.start, range.end});
  if (!tiles(wanted, spans)) {
    out.push_back(
        {"S7b", fmt::format("the shards of run {} are not what was registered", run.run.raw())});
  }
}

}  // namespace cadastre::sim
