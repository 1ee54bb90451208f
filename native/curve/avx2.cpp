// The kernel `avx2` of the curve scheme: lane-kernel.h in four lanes.
#if defined(__x86_64__)

// clang-format off: the order matters
#include "avx2-field.h"
#include "lane-kernel.h"
// clang-format on

namespace tandem {
namespace curve {

std::unique_ptr<Kernel> makeAvx2Kernel() { return avx2::makeKernel(); }

}  // namespace curve
}  // namespace tandem

#endif
