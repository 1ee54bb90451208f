// The functions of the lattice scheme as JavaScript calls them: src/crypto/lattice/native/native-addon.ts declares the
// other side.
#pragma once

#include <vector>

#include "calls.h"

namespace tandem {

std::vector<Entry> latticePassiveEntries();
std::vector<Entry> latticeActiveEntries();
// These, and those that make contexts.
std::vector<Entry> latticeEntries();

}  // namespace tandem
