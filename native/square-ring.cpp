// See square-ring.h.
#include "square-ring.h"

#include "lane-rings.h"
#include "scalar-ring.h"

namespace tandem {

std::unique_ptr<SquareRing> SquareRing::create(Kernel kernel, const Limb* n, std::size_t limbs) {
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx2) return makeAvx2Ring(n, limbs);
  if (kernel == Kernel::kIfma) return makeIfmaRing(n, limbs);
#endif
  if (kernel == Kernel::kIfmaEmulated) return makeEmulatedRing(n, limbs);
  return std::make_unique<ScalarRing>(n, limbs, rowsOf(kernel));
}

SquareRing::SquareRing(const Limb* n, std::size_t limbs, RowFunction rows, std::size_t lanes)
    : modulus_(n, limbs, rows), lanes_(lanes), padded_(limbs + 1), padded2_(limbs + 1) {
  copyLimbs(padded_.data(), n, limbs);
  addLimbs(padded2_.data(), padded_.data(), padded_.data(), limbs + 1);
}

void SquareRing::prepare(std::size_t words, std::size_t radixBits) {
  words_ = words;
  one_ = powerOfTwo(radixBits);
  rSquared_ = powerOfTwo(2 * radixBits);
  rCubed_ = powerOfTwo(3 * radixBits);
}

void SquareRing::reducePair(Limb* element, Limb* a, Limb* b) const {
  const std::size_t limbs = modulus_.limbs();
  addSmall(b, subtractIfNotBelow(a, padded_.data(), limbs + 1), limbs + 1);
  // b <= 4 N.
  subtractIfNotBelow(b, padded2_.data(), limbs + 1);
  subtractIfNotBelow(b, padded_.data(), limbs + 1);
  subtractIfNotBelow(b, padded_.data(), limbs + 1);
  copyLimbs(element, a, limbs);
  copyLimbs(element + limbs, b, limbs);
}

Limbs SquareRing::powerOfTwo(std::size_t exponent) const {
  const std::size_t limbs = modulus_.limbs();
  Limbs a(limbs + 1);
  Limbs b(limbs + 1);
  a[0] = 1;
  for (std::size_t step = 0; step < exponent; step++) {
    addLimbs(a.data(), a.data(), a.data(), limbs + 1);
    addLimbs(b.data(), b.data(), b.data(), limbs + 1);
    addSmall(b.data(), subtractIfNotBelow(a.data(), padded_.data(), limbs + 1), limbs + 1);
    subtractIfNotBelow(b.data(), padded_.data(), limbs + 1);
  }
  Limbs pair(2 * limbs);
  copyLimbs(pair.data(), a.data(), limbs);
  copyLimbs(pair.data() + limbs, b.data(), limbs);
  return pair;
}

}  // namespace tandem
