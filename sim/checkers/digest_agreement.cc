#include "sim/checkers/digest_agreement.h"

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "sim/schedule/node_id.h"

namespace cadastre::sim::checkers {

void DigestAgreement::note(Fault fault,
                           const Replica& replica,
                           LogIndex index,
                           std::string detail) {
  if (found_.size() < kDisagreementsMax)
    found_.push_back({fault, replica, index, std::move(detail)});
}

void DigestAgreement::compare(const Replica& replica, LogIndex index, Digest digest) {
  Group& group = groups_[replica.group];
  if (index.value() < group.forgotten_below) return;
  const auto [it, is_first] =
      group.by_index.try_emplace(index.value(), Known{digest, replica.node});
  if (is_first) return;
  ++compared_;
  const Known& known = it->second;
  if (known.digest == digest) return;
  note(Fault::kDiffers, replica, index,
       fmt::format("group {}, index {}: node {} has {:016x}, node {} had {:016x}",
                   replica.group.value(), index.value(), replica.node.value(), digest.value(),
                   known.first_reporter.value(), known.digest.value()));
}

void DigestAgreement::applied(const Replica& replica, LogIndex index, Digest digest) {
  CAD_CHECK(index.value() != 0, "the first entry has index 1");
  std::uint64_t& state = states_[replica];
  if (index.value() != state + 1) {
    note(index.value() <= state ? Fault::kAppliedTwice : Fault::kSkipped, replica, index,
         fmt::format("group {}, node {}: applies index {} to the state of index {}",
                     replica.group.value(), replica.node.value(), index.value(), state));
  }
  state = index.value();
  compare(replica, index, digest);
}

void DigestAgreement::restored(const Replica& replica, LogIndex index, Digest digest) {
  states_[replica] = index.value();
  if (index.value() != 0) compare(replica, index, digest);
}

void DigestAgreement::forget_below(GroupId group_id, LogIndex index) {
  Group& group = groups_[group_id];
  if (index.value() <= group.forgotten_below) return;
  group.forgotten_below = index.value();
  group.by_index.erase(group.by_index.begin(), group.by_index.lower_bound(index.value()));
}

}  // namespace cadastre::sim::checkers
