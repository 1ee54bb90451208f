// The functions of the curve scheme as JavaScript calls them: src/crypto/curve/native-addon.ts declares the other side.
// Every function is a deterministic function of its arguments: random numbers come from TypeScript. Promises resolve to
// the index of the first point that is not valid, or -1, unless a function says otherwise.
#pragma once

#include <vector>

#include "../calls.h"

namespace tandem {

std::vector<Entry> curveActiveEntries();
std::vector<Entry> curvePassiveEntries();
// These, and those that make handles.
std::vector<Entry> curveEntries();

}  // namespace tandem
