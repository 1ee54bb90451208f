// The kernel `avx2`: lane-ring.h in four lanes.
#include "lane-rings.h"

#if defined(__x86_64__)

#include "avx2-vector.h"
#include "lane-ring.h"

namespace tandem {

std::unique_ptr<SquareRing> makeAvx2Ring(const Limb* n, std::size_t limbs) {
  return std::make_unique<avx2::LaneRing>(Kernel::kAvx2, n, limbs);
}

}  // namespace tandem

#endif
