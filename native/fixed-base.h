// Powers of one fixed base g modulo p^2 with a table of g^(d 2^(w i)) for every w-bit digit d and position i, so that a
// power costs one product per digit and no squarings (Brickell, Gordon, McCurley, Wilson 1992).
//
// What an entry holds. Let an entry's pair be (c, d) (square-ring.h) and l = d / c modulo p, so that it stands for
// c (1 + l p). In a product of entries all those factors (1 + l p) commute to the end, where their product is
// 1 + p (sum of l). So the loop multiplies pairs (a, b) by (c, 0) only, which costs 4 instead of 5 products of halves,
// and adds up the l apart; the end multiplies by 1 + p L once. A plaintext m is included there at no cost:
// encryption's factor 1 + m n is 1 + p (m q).
//
// Layout: entry (i, d) is number i 2^w + d: c, then l R modulo p, as the kernel writes them (square-ring.h). Size with
// a 2048-bit key and digits of 52 bits, for both primes: 21 MB with w = 8, 67 MB with 10, 123 MB with 11.
//
// NOT constant-time in the cache: entries are addressed by digits of the secret exponent, because reading the whole
// table under masks would cost more than the power itself. A process that shares this machine's caches could learn
// about obfuscators. Nothing is visible over a network: all products are computed, also by 1, so the time is the same
// for all exponents.
#pragma once

#include "large-memory.h"
#include "power.h"
#include "square-ring.h"

namespace tandem {

class FixedBaseTable {
 public:
  // `base` (resident) has order p - 1 modulo p^2, exponents below it and of exponentBytes bytes. Every power comes out
  // multiplied by `factor`; `factorInverse` is its inverse (both resident).
  FixedBaseTable(const SquareRing& ring, const Limb* base, const Limb* factor, const Limb* factorInverse,
                 std::size_t exponentBytes, std::size_t windowBits, std::size_t threads);

  // Lane by lane: (a, b) and L (below p, limbs() + 1 limbs) with factor * g^exponent = (a + b p)(1 + p L / R).
  // Exponents are little-endian, of exponentBytes bytes, at most as many as the table has; null for idle lanes, whose
  // power is 1.
  void powers(Word* group, Limb* const* sums, const std::uint8_t* const* exponents, std::size_t exponentBytes) const;

 private:
  std::size_t offsetOf(std::size_t row, std::size_t digit) const { return (row << windowBits_ | digit) * entryBytes_; }
  std::size_t rowsFor(std::size_t exponentBytes) const { return (8 * exponentBytes + windowBits_ - 1) / windowBits_; }
  // Bases of all rows and their inverses: element 2 i and 2 i + 1.
  Limbs rowBases(const Limb* base) const;
  void buildRows(const Limbs& bases, const Limb* factor, const Limb* factorInverse, std::size_t first,
                 std::size_t lanes);

  // Brings a sum of up to twice as many p as there are rows below p.
  void reduceSum(Limb* sum) const;

  const SquareRing& ring_;
  std::size_t windowBits_;
  std::size_t size_;
  std::size_t rows_;
  std::size_t entryBytes_;
  LargeMemory entries_;
  std::vector<Limbs> multiples_;  // p 2^k, k from high to low
};

}  // namespace tandem
