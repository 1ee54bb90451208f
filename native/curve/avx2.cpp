// The kernel `avx2` of the curve scheme: lane-kernel.h in four lanes.
#if defined(__x86_64__)

#include "avx2-field.h"
#include "lane-kernel.h"

namespace tandem {
namespace curve {

std::unique_ptr<Kernel> makeAvx2Kernel() { return avx2::makeKernel(); }

}  // namespace curve
}  // namespace tandem

#endif
