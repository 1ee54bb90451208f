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

// An inversion costs as much as some hundred products: few of them, but work for every thread.
constexpr std::size_t kUnitsChunkMin = 512;
constexpr std::size_t kUnitsChunkMax = 8192;

}  // namespace

long long firstNonUnit(const PublicContext& context, const Limb* elements, std::size_t count, std::size_t threads) {
  const Modulus& modulus = context.ring->modulus();
  const std::size_t size = context.elementLimbs();
  const std::size_t chunk = std::clamp((count + threads - 1) / threads, kUnitsChunkMin, kUnitsChunkMax);
  FirstBad bad;
  parallelChunks(count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    Limb product[kLimbsMax];
    Limb inverse[kLimbsMax];
    copyLimbs(product, elements + begin * size, modulus.limbs());
    // Each product is divided by a power of two: that changes nothing for an odd modulus.
    for (std::size_t i = begin + 1; i < end; i++) modulus.product(product, product, elements + i * size);
    if (modulus.invert(inverse, product)) return;
    for (std::size_t i = begin; i < end; i++) {
      if (!modulus.invert(inverse, elements + i * size)) return bad.report(i);
    }
  });
  return bad.index();
}

}  // namespace tandem
