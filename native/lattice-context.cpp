// See lattice-context.h and lattice-words.h.
#include "lattice-context.h"

#include <cstring>

#include "lattice-samplers.h"

namespace tandem {
namespace lattice {

namespace {

// q as three limbs of 64 bits.
void modulus(const Set& set, std::uint64_t* result) {
  result[0] = 1;
  result[1] = result[2] = 0;
  for (std::size_t l = 0; l < set.limbs; l++) {
    Wide carry = 0;
    for (int i = 0; i < 3; i++) {
      carry += static_cast<Wide>(result[i]) * kPrimes[l];
      result[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
  }
}

void shiftRight(std::uint64_t* value, std::size_t bits) {
  for (; bits > 0; bits--) {
    value[0] = value[0] >> 1 | value[1] << 63;
    value[1] = value[1] >> 1 | value[2] << 63;
    value[2] >>= 1;
  }
}

std::uint64_t remainder(const std::uint64_t* value, std::uint64_t prime) {
  Wide rest = 0;
  for (int i = 2; i >= 0; i--) rest = (rest << 64 | value[i]) % prime;
  return static_cast<std::uint64_t>(rest);
}

// floor(q 2^upperBits / t), modulo the primes. For an even t 1 / t: (j q + 1) / t with j = -1 / q modulo t.
void multipliersOf(const Set& set, const Shape& shape, std::size_t upperBits, std::uint64_t* result) {
  if (set.groups == 2 && (shape.t & 1) == 0) {
    for (std::size_t l = 0; l < set.limbs; l++)
      result[l] = inverse(static_cast<std::uint64_t>(shape.t % kPrimes[l]), kPrimes[l]);
    return;
  }
  std::uint64_t quotient[3];
  modulus(set, quotient);
  if (set.groups == 2) {
    const Wide q = static_cast<Wide>(quotient[1]) << 64 | quotient[0];
    const Wide whole = q / shape.t;
    quotient[0] = static_cast<std::uint64_t>(whole);
    quotient[1] = static_cast<std::uint64_t>(whole >> 64);
  } else {
    shiftRight(quotient, 2 * shape.slotBits + 1 - upperBits);  // t = 2^(2 slotBits + 1)
  }
  for (std::size_t l = 0; l < set.limbs; l++) result[l] = remainder(quotient, kPrimes[l]);
}

}  // namespace

Words::Words(const Set& set) : set_(set) {
  for (std::size_t l = 0; l < set.limbs; l++) {
    // floor(2^(E+50) / p) - 2^E = floor(2^E (2^50 - p) / p)
    const std::uint64_t excess = (std::uint64_t{1} << kPrimeBits) - kPrimes[l];
    Wide rest = static_cast<Wide>(excess) << 64;
    const std::uint64_t high = static_cast<std::uint64_t>(rest / kPrimes[l]);
    rest = (rest % kPrimes[l]) << 64;
    const std::uint64_t low = static_cast<std::uint64_t>(rest / kPrimes[l]);
    fractions_[l][0] = set.wordParts == 1 ? high : low;
    fractions_[l][1] = set.wordParts == 1 ? 0 : high;
  }
}

CommonRows::CommonRows(const Set& set, const Kernel& kernel, const std::uint8_t* crsKey, std::size_t blocks)
    : set_(set),
      kernel_(kernel),
      key_(crsKey, kCrsKeyBytes),
      blocks_(blocks),
      isDrawn_(new std::once_flag[blocks + 1]),
      elements_(blocks + 1) {}

const double* CommonRows::element(std::size_t k, std::size_t limb) const {
  std::call_once(isDrawn_[k], [&] {
    Array<double> drawn(set_.limbs * set_.degree);
    for (std::size_t l = 0; l < set_.limbs; l++) {
      const StreamName name = k < blocks_ ? StreamName{Domain::kCrsRows, l, k} : StreamName{Domain::kCrsMask, l, 0};
      KeyStream stream(kernel_, key_, name);
      drawUniform(stream, l, drawn.data() + l * set_.degree, set_.degree);
    }
    elements_[k] = std::move(drawn);
  });
  return elements_[k].data() + limb * set_.degree;
}

Context::Context(const Set& ownSet, const Kernel& ownKernel, const Shape& ownShape)
    : set(ownSet),
      kernel(ownKernel),
      shape(ownShape),
      blocks((ownShape.rows + ownSet.degree - 1) / ownSet.degree),
      words(ownSet),
      rows(ownSet, ownKernel, ownShape.crsKey, blocks) {
  multipliersOf(set, shape, set.groups == 1 ? shape.slotBits : 0, multipliers[0]);
  multipliersOf(set, shape, 0, multipliers[1]);
  for (std::size_t l = 0; l < set.limbs; l++) {
    std::uint64_t others = 1;
    for (std::size_t m = 0; m < set.limbs; m++) {
      if (m != l) others = product(others, kPrimes[m] % kPrimes[l], kPrimes[l]);
    }
    wordFactors[l] = inverse(others, kPrimes[l]);
  }
}

const char* faultOf(const Set& set, const Shape& shape) {
  if (set.groups == 2) {
    if (shape.slotBits != 0) return "g and h have no slots where each has its own ciphertext";
    if ((shape.t & 1) == 0 && shape.t >= 4 && (shape.t & (shape.t - 1)) == 0 && shape.t <= Wide{1} << 40)
      return nullptr;
    return shape.t >= 3 && (shape.t & 1) != 0 && shape.t < Wide{1} << 60
               ? nullptr
               : "t is odd, from 3 to 2^60, or a power of two up to 2^40";
  }
  if (shape.slotBits < 1 || shape.slotBits > 50) return "a slot has 1 to 50 bits";
  return shape.t == Wide{1} << (2 * shape.slotBits + 1) ? nullptr : "t is 2^(2 slotBits + 1)";
}

}  // namespace lattice
}  // namespace tandem
