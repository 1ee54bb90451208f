// The loops over rows, for JavaScript. They are so short that they run in the calling thread, with helpers.
#pragma once

#include <vector>

#include "calls.h"

namespace tandem {

std::vector<Entry> rowEntries();

}  // namespace tandem
