// Which arithmetic this processor can run. Chosen once per context, at run time: one binary serves all processors of an
// architecture, and an instruction is never executed where the processor lacks it.
#pragma once

#include "limbs.h"

namespace tandem {

// kScalar: portable C++. kAdx: the same with rows in MULX/ADCX/ADOX. kAvx2: four lanes, radix 2^28.
// kIfma: eight lanes of AVX-512, radix 2^52. kIfmaEmulated: the same without its instructions, for tests; it runs
// everywhere.
enum class Kernel { kScalar, kAdx, kAvx2, kIfma, kIfmaEmulated };

bool isAvailable(Kernel kernel);

// The quickest available row of a product for single numbers, and the one that belongs to a kernel.
RowFunction rowsOf(Kernel kernel);

}  // namespace tandem
