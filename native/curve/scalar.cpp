// The kernel `scalar` of the curve scheme: lane-kernel.h in one lane.
#include "lane-kernel.h"
#include "scalar-field.h"

namespace tandem {
namespace curve {

std::unique_ptr<Kernel> makeScalarKernel() { return scalar::makeKernel(); }

}  // namespace curve
}  // namespace tandem
