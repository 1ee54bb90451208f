// Whole numbers modulo the 50-bit primes, one at a time. Most residues of this scheme are kept as whole numbers in
// doubles: 50 bits leave room for exact sums of a few of them.
//
// Constant-time: power and inverse are not, and take public numbers only. Everything else is.
#pragma once

#include "lattice-sets.h"

namespace tandem {
namespace lattice {

inline std::uint64_t product(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % prime);
}

inline std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t prime) {
  std::uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base = product(base, base, prime)) {
    if ((exponent & 1) != 0) result = product(result, base, prime);
  }
  return result;
}

inline std::uint64_t inverse(std::uint64_t a, std::uint64_t prime) { return power(a, prime - 2, prime); }

// x - prime where that is not negative.
inline std::uint64_t lessPrime(std::uint64_t x, std::uint64_t prime) {
  const std::uint64_t less = x - prime;
  return less + (prime & (0 - (less >> 63)));
}

// A constant to multiply by, with floor(value 2^64 / prime) (Shoup): two products instead of a division.
struct Factor {
  Factor() = default;
  Factor(std::uint64_t constant, std::uint64_t prime)
      : value(constant), quotient(static_cast<std::uint64_t>((static_cast<Wide>(constant) << 64) / prime)) {}

  // x value modulo prime, for every x.
  std::uint64_t times(std::uint64_t x, std::uint64_t prime) const {
    const std::uint64_t estimate = static_cast<std::uint64_t>((static_cast<Wide>(x) * quotient) >> 64);
    return lessPrime(x * value - estimate * prime, prime);
  }

  std::uint64_t value = 0;
  std::uint64_t quotient = 0;
};

// x modulo prime from -prime/2 to prime/2.
inline double balanced(std::uint64_t x, std::uint64_t prime) {
  return static_cast<double>(static_cast<std::int64_t>(x - (prime & (0 - static_cast<std::uint64_t>(x > prime / 2)))));
}

// The residue from 0 to prime - 1 of a whole number between -prime and prime.
inline std::uint64_t canonical(double x, std::uint64_t prime) {
  const std::uint64_t value = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return value + (prime & (0 - (value >> 63)));
}

// 2^50 is `excess` modulo the prime, so that the upper bits fold onto the lower ones.
inline std::int64_t excessOf(std::size_t limb) {
  return static_cast<std::int64_t>((std::uint64_t{1} << kPrimeBits) - kPrimes[limb]);
}

// The same residue, at most 2^51 in size. |x| < 2^80.
inline std::int64_t fold(SignedWide x, std::size_t limb) {
  const std::int64_t low = static_cast<std::int64_t>(static_cast<std::uint64_t>(x) & kPrimeMask);
  return low + static_cast<std::int64_t>(x >> kPrimeBits) * excessOf(limb);
}

// The residue from 0 to prime - 1 of a sum of up to four folded numbers.
inline std::uint64_t canonicalOfFolded(std::int64_t x, std::size_t limb) {
  const std::int64_t folded = fold(static_cast<SignedWide>(x), limb);  // -2^24 < folded < 2^50 + 2^24
  const std::uint64_t value =
      static_cast<std::uint64_t>(folded) + (kPrimes[limb] & (0 - (static_cast<std::uint64_t>(folded) >> 63)));
  return lessPrime(value, kPrimes[limb]);
}

}  // namespace lattice
}  // namespace tandem
