// The functions of correlated transfers as JavaScript calls them: src/crypto/transfer/native-product-kernel.ts declares
// the other side.
#pragma once

#include <vector>

#include "../calls.h"

namespace tandem {

std::vector<Entry> correlatedEntries();

}  // namespace tandem
