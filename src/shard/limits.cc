#include "shard/limits.h"  // The static_asserts are compiled at least once.
