// The functions that read tables as JavaScript calls them: src/base/plain-addon.ts declares the other side. They take
// milliseconds and end before they return: a piece of a table, or a column, is read at a time.
#pragma once

#include <vector>

#include "../calls.h"

namespace tandem {

std::vector<Entry> dataEntries();

}  // namespace tandem
