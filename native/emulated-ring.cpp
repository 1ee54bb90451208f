// The kernel `ifma-emulated`: what ifma-ring.cpp computes, without its instructions.
#include "emulated-vector.h"
#include "lane-ring.h"
#include "lane-rings.h"

namespace tandem {

std::unique_ptr<SquareRing> makeEmulatedRing(const Limb* n, std::size_t limbs) {
  return std::make_unique<emulated::LaneRing>(Kernel::kIfmaEmulated, n, limbs);
}

}  // namespace tandem
