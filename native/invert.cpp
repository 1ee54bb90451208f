// Inverses modulo n^2 (public-operations.h). Many elements share one inversion (Montgomery's trick). That one is made
// modulo n only and lifted by a Newton step: with Y the inverse of X modulo n, Y (2 - X Y) is its inverse modulo n^2.
//
// Constant-time: no; ciphertexts are public.
#include <algorithm>

#include "public-operations.h"
#include "threads.h"

namespace tandem {

namespace {

// Elements that share one inversion, which costs about as much as some hundred products.
constexpr std::size_t kInversionChunk = 512;

// One element at a time, in lane 0.
class Single {
 public:
  explicit Single(const SquareRing& ring) : ring_(ring), x_(ring.words()), y_(ring.words()) {}

  void multiply(Limb* result, const Limb* a, const Limb* b) {
    const Limb* const first[kLanesMax] = {a};
    const Limb* const second[kLanesMax] = {b};
    Limb* const target[kLanesMax] = {result};
    ring_.gather(x_.data(), first);
    ring_.gather(y_.data(), second);
    ring_.multiply(x_.data(), x_.data(), y_.data());
    ring_.scatter(target, x_.data());
  }

  // False if there is no inverse.
  bool invert(Limb* result, const Limb* element) {
    const Modulus& modulus = ring_.modulus();
    const std::size_t half = modulus.limbs();
    Limb inverse[kLimbsMax] = {0};
    // The first half a of X = a / R: read as a Montgomery form, its inverse comes back times (the modulus's own R)^2.
    if (!modulus.invert(inverse, element)) return false;
    modulus.fromMontgomery(inverse, inverse);
    modulus.fromMontgomery(inverse, inverse);
    // The pair (1 / a, 0) stands for 1 / (a R); X^-1 = R / a is R^2 times that.
    multiply(result, inverse, ring_.rCubed());
    // 2 - X Y: both halves of X Y are reduced, and its first is that of 1.
    Limb rest[kLimbsMax];
    multiply(rest, result, element);
    const Limb* one = ring_.one();
    modulus.subtract(rest + half, one + half, rest + half);
    Limb negated[kLimbsMax];
    subtractLimbs(negated, modulus.value(), one + half, half);
    modulus.subtract(rest + half, rest + half, negated);
    multiply(result, result, rest);
    return true;
  }

 private:
  const SquareRing& ring_;
  Words x_;
  Words y_;
};

}  // namespace

long long invert(const PublicContext& context, const Limb* a, Limb* result, std::size_t count, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  FirstBad bad;
  parallelChunks(count, kInversionChunk, threads, [&](std::size_t begin, std::size_t end) {
    Single single(ring);
    // result[i] = a[begin] ... a[i]; then one inverse, which is unwound from the end.
    copyLimbs(result + begin * size, a + begin * size, size);
    for (std::size_t i = begin + 1; i < end; i++) {
      single.multiply(result + i * size, result + (i - 1) * size, a + i * size);
    }
    Limb inverse[kLimbsMax];
    if (!single.invert(inverse, result + (end - 1) * size)) {
      for (std::size_t i = begin; i < end; i++) {
        if (!single.invert(inverse, a + i * size)) return bad.report(i);
      }
      return;
    }
    for (std::size_t i = end - 1; i > begin; i--) {
      single.multiply(result + i * size, inverse, result + (i - 1) * size);
      single.multiply(inverse, inverse, a + i * size);
    }
    copyLimbs(result + begin * size, inverse, size);
  });
  return bad.index();
}

}  // namespace tandem
