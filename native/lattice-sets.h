// The parameter sets of the lattice scheme as sizes, the same as src/crypto/lattice/parameters/sets.ts; and the types
// that all of its files share. A set is a constant with an address, so that a kernel can be compiled for it:
// Kernel<kSetA>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "limbs.h"

namespace tandem {
namespace lattice {

using Wide = unsigned __int128;
using SignedWide = __int128;

// Of the largest set.
constexpr std::size_t kLimbsMax = 3;
constexpr std::size_t kGroupsMax = 2;
constexpr std::size_t kDegreeMax = 8192;
// Gradient and hessian.
constexpr std::size_t kColumns = 2;

// The largest primes below 2^50 that are 1 modulo 2^14; the modulus q is the product of the first ones.
constexpr int kPrimeBits = 50;
constexpr std::uint64_t kPrimeMask = (std::uint64_t{1} << kPrimeBits) - 1;
constexpr std::uint64_t kPrimes[kLimbsMax] = {(std::uint64_t{1} << 50) - 16383, (std::uint64_t{1} << 50) - 212991,
                                              (std::uint64_t{1} << 50) - 1097727};

// A record's residues stand in lanes, group by group and limb by limb; memory has room for four always.
constexpr std::size_t kLanes = 4;

struct Set {
  char name;
  std::size_t logDegree;
  std::size_t degree;  // N: coefficients of a ring element, rows of a block
  std::size_t limbs;
  std::size_t groups;  // ciphertexts of a row
  std::size_t lanes;
  std::size_t recordBytes;
  std::size_t wordBytes;  // of a hint or an answer on the wire
  std::size_t wordParts;  // 64-bit numbers of a word in the table of hints
};

inline constexpr Set kSetA{'A', 12, 4096, 2, 2, 4, 25, 7, 1};
inline constexpr Set kSetB{'B', 13, 8192, 3, 1, 3, 19, 13, 2};

constexpr std::size_t kSeedBytes = 32;
constexpr std::size_t kCrsKeyBytes = 16;

// Aligned for every kernel, wiped when freed: most of what is computed here is secret or depends on secrets.
template <typename T>
using Array = std::vector<T, WipingAllocator<T>>;

}  // namespace lattice
}  // namespace tandem
