// Sorts numbers, ascending; none is NaN. -0 stands before 0, as TypedArray.prototype.sort has it.
#pragma once

#include <cstddef>

namespace tandem {

void plainSort(double* values, std::size_t count);

}  // namespace tandem
