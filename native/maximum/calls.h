// The functions of the comparison of candidates as JavaScript calls them: src/crypto/maximum/native-kernel.ts declares
// the other side. Every function is a deterministic function of its arguments, and returns when it is done: callers
// keep batches small. What a peer sends is checked by callers; every message here is about the caller's mistake.
#pragma once

#include <vector>

#include "../calls.h"

namespace tandem {

std::vector<Entry> maximumEntries();

}  // namespace tandem
