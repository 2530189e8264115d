// What a group goes through before its engine exists: the image of a new one, the check of log against
// state, and the replay of what the state lacks (L-25, L-53, L-57, L-85).

#pragma once

#include <vector>

#include "base/result.h"
#include "log/snapshotter.h"
#include "log/state_machine.h"
#include "log/storage.h"
#include "log/types.h"

namespace cadastre::log {

// A group that lives on one disk and has no entry yet.
[[nodiscard]] GroupImage local_image(GroupId group);

// A replicated group as each of its founders begins it: committed, applied and truncated at kFounding. Without
// founders it knows nobody, and waits to be fed a snapshot.
[[nodiscard]] GroupImage newborn_image(GroupId group, std::vector<NodeId> founders);

// Ends an install that a crash interrupted, before anything else (L-76). The staged files were complete before the log
// said so; without them nothing can be opened.
[[nodiscard]] base::Result<void, OpenError> complete_install(const GroupImage& image,
                                                             StateMachine& machine,
                                                             Snapshotter* snapshotter);
// Whether the node was removed from the group: it is marked so, or the configuration in force is without it. A joiner
// that nobody has added yet has none (L-90).
[[nodiscard]] bool has_left(const GroupImage& image, NodeId self) noexcept;

// Checks that log and state belong together and executes entries that the state lacks and that are known to
// be committed; of a replicated group only up to the first change of membership that is not in force
// yet. Lifts the image's commit index to what the state has.
[[nodiscard]] base::Result<void, OpenError> prepare(GroupImage& image,
                                                    StateMachine& machine,
                                                    LogStorage& storage);

}  // namespace cadastre::log
