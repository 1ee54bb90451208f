// The kernel `scalar` of the curve scheme: lane-kernel.h in one lane.
// clang-format off: the order matters
#include "scalar-field.h"
#include "lane-kernel.h"
// clang-format on

namespace tandem {
namespace curve {

std::unique_ptr<Kernel> makeScalarKernel() { return scalar::makeKernel(); }

}  // namespace curve
}  // namespace tandem
