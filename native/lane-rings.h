// The kernels that compute in the lanes of a vector (lane-ring.h). Which one a processor can run: cpu.h.
#pragma once

#include "square-ring.h"

namespace tandem {

#if defined(__x86_64__)
std::unique_ptr<SquareRing> makeAvx2Ring(const Limb* n, std::size_t limbs);
std::unique_ptr<SquareRing> makeIfmaRing(const Limb* n, std::size_t limbs);
#endif
std::unique_ptr<SquareRing> makeEmulatedRing(const Limb* n, std::size_t limbs);

}  // namespace tandem
