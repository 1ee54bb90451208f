// Which elements share a factor with n (public-operations.h). An element X is a + b n up to a power of R: it has an
// inverse modulo n^2 exactly if a has one modulo n. Many elements share one inversion: a product has an inverse exactly
// if all its factors have.
//
// Constant-time: no; ciphertexts from the wire are public.
#include <algorithm>

#include "public-operations.h"
#include "threads.h"

namespace tandem {

namespace {

// An inversion costs as much as some hundred products, so there are few of them: one for a chunk of gradients.
constexpr std::size_t kUnitsChunkMin = 4096;
constexpr std::size_t kUnitsChunkMax = 16384;

// The product of the first halves of `count` elements, up to a power of R, which is a unit.
Limbs productOfHalves(const SquareRing& ring, const Limb* elements, std::size_t count) {
  const std::size_t size = ring.elementLimbs();
  Words products(ring.words());
  Words factors(ring.words());
  const Limb* const none[kLanesMax] = {nullptr};
  ring.gather(products.data(), none);
  for (std::size_t first = 0; first < count; first += ring.lanes()) {
    const Limb* halves[kLanesMax];
    for (std::size_t lane = 0; lane < kLanesMax; lane++) {
      halves[lane] = first + lane < count ? elements + (first + lane) * size : ring.one();
    }
    ring.loadHalf(factors.data(), halves);
    ring.multiplyHalves(products.data(), products.data(), factors.data());
  }
  Limbs product(size);
  Limbs other(size);
  ring.extract(product.data(), products.data(), 0);
  for (std::size_t lane = 1; lane < ring.lanes(); lane++) {
    ring.extract(other.data(), products.data(), lane);
    ring.modulus().product(product.data(), product.data(), other.data());
  }
  return product;
}

}  // namespace

long long firstNonUnit(const PublicContext& context, const Limb* elements, std::size_t count, std::size_t threads) {
  const Modulus& modulus = context.ring->modulus();
  const std::size_t size = context.elementLimbs();
  const std::size_t chunk = std::clamp((count + threads - 1) / threads, kUnitsChunkMin, kUnitsChunkMax);
  FirstBad bad;
  parallelChunks(count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    Limb inverse[kLimbsMax];
    const Limbs product = productOfHalves(*context.ring, elements + begin * size, end - begin);
    if (modulus.invert(inverse, product.data())) return;
    for (std::size_t i = begin; i < end; i++) {
      if (!modulus.invert(inverse, elements + i * size)) return bad.report(i);
    }
  });
  return bad.index();
}

}  // namespace tandem
