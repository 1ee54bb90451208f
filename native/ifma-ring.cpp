// The kernel `ifma`: lane-ring.h in eight lanes.
#include "lane-rings.h"

#if defined(__x86_64__)

#include "ifma-vector.h"
#include "lane-ring.h"

namespace tandem {

std::unique_ptr<SquareRing> makeIfmaRing(const Limb* n, std::size_t limbs) {
  return std::make_unique<ifma::LaneRing>(Kernel::kIfma, n, limbs);
}

}  // namespace tandem

#endif
