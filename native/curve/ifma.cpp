// The kernel `ifma` of the curve scheme: lane-kernel.h in eight lanes.
#if defined(__x86_64__)

// clang-format off: the order matters
#include "ifma-field.h"
#include "lane-kernel.h"
// clang-format on

namespace tandem {
namespace curve {

std::unique_ptr<Kernel> makeIfmaKernel() { return ifma::makeKernel(); }

}  // namespace curve
}  // namespace tandem

#endif
