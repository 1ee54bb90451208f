// The roots of unity that transforms multiply by.
#pragma once

#include "lattice-residues.h"

namespace tandem {
namespace lattice {

inline std::size_t reversed(std::size_t x, std::size_t bits) {
  std::size_t result = 0;
  for (; bits > 0; bits--, x >>= 1) result = 2 * result + (x & 1);
  return result;
}

// psi = g^((p-1)/2N) for the least g >= 2 with psi^N = -1.
inline std::uint64_t leastRoot(const Set& set, std::uint64_t prime) {
  for (std::uint64_t g = 2;; g++) {
    const std::uint64_t psi = power(g, (prime - 1) / (2 * set.degree), prime);
    if (power(psi, set.degree, prime) == prime - 1) return psi;
  }
}

// At reversed(i): root^i. A layer of m butterflies of a transform takes [m, 2m).
inline std::vector<std::uint64_t> reversedPowers(const Set& set, std::uint64_t root, std::uint64_t prime) {
  std::vector<std::uint64_t> powers(set.degree);
  const Factor factor(root, prime);
  std::uint64_t next = 1;
  for (std::size_t i = 0; i < set.degree; i++, next = factor.times(next, prime)) {
    powers[reversed(i, set.logDegree)] = next;
  }
  return powers;
}

}  // namespace lattice
}  // namespace tandem
