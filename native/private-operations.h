// What the key owner computes: encryption with fixed-base tables and decryption, both by Chinese remainders modulo the
// squares of the two primes (src/crypto/paillier/owner-constants.ts has the mathematics and makes the constants).
//
// Trust: constants and exponents come from our own TypeScript; sizes were checked by the glue.
//
// Constant-time. Decryption: yes, once the range of the (public) ciphertext is checked. Exponentiation with p - 1 reads
// its table under masks, subtractions are masked, and no division is needed, since a power to base p ends as the pair
// (1, m'). Two things show: that a ciphertext was refused, and the size of the key. Roots: as decryption, with other
// secret exponents. Encryption: all products are made,
// but table addresses depend on secret exponents, see fixed-base.h. Not covered: stack copies and registers are not
// wiped. Multiplication instructions are assumed to take constant time, as they do on x86-64 and AArch64.
#pragma once

#include <memory>
#include <mutex>

#include "fixed-base.h"
#include "public-operations.h"

namespace tandem {

// One prime's share of the constants, all little-endian, primeBytes wide.
struct PrimeSideInput {
  const std::uint8_t* prime;
  const std::uint8_t* generator;  // of Z_prime^*
  const std::uint8_t* plaintextFactor;
};

struct PrimeSide {
  PrimeSide(Kernel kernel, const PrimeSideInput& input, std::size_t primeBytes);

  const Modulus& prime() const { return ring->modulus(); }

  std::unique_ptr<SquareRing> ring;  // modulo prime^2
  Limbs squareValue;                 // 2 * limbs of the prime, as many as an element
  Modulus square;
  Exponent order;         // prime - 1, secret
  Limbs residueBase;      // generator^prime, resident: generates the n-th residues modulo prime^2
  Limbs plaintextFactor;  // Montgomery form modulo prime
  // Groups whose first halves take a plaintext's two parts m = m0 + m1 R to m0 (other prime) R and m1 (other prime)
  // R^2.
  Words plaintextLow;
  Words plaintextHigh;
};

class PrivateContext {
 public:
  PrivateContext(Kernel kernel, const std::uint8_t* n, std::size_t nBytes, const PrimeSideInput& p,
                 const PrimeSideInput& q, std::size_t primeBytes, const std::uint8_t* qInverse,
                 const std::uint8_t* qSquaredInverse);

  std::size_t primeBytes() const { return primeBytes_; }
  std::size_t ciphertextBytesMax() const { return 8 * public_.elementLimbs(); }
  // Both n and the product of two primes' limbs hold this many bytes.
  std::size_t plaintextBytesMax() const { return 8 * public_.limbsOfN; }

  // exponentsP and exponentsQ have plaintexts.count elements, of up to primeBytes bytes. Refuses plaintexts from n on.
  long long encrypt(FlatInput plaintexts, FlatInput exponentsP, FlatInput exponentsQ, std::uint8_t* result,
                    std::size_t resultBytes, std::size_t threads);
  // Refuses ciphertexts outside 0 < c < n^2 and multiples of p or q.
  long long decrypt(FlatInput ciphertexts, std::uint8_t* result, std::size_t resultBytes, std::size_t threads) const;
  // n-th roots modulo n, by the inverses of n modulo p - 1 and q - 1. Refuses values from n on.
  long long nthRoots(FlatInput values, const Exponent& exponentP, const Exponent& exponentQ, std::uint8_t* result,
                     std::size_t resultBytes, std::size_t threads) const;

 private:
  struct Tables {
    std::unique_ptr<FixedBaseTable> p;
    std::unique_ptr<FixedBaseTable> q;
  };

  // The tables for `count` more encryptions: built at first use, and again with wider windows when there are many
  // that it pays.
  std::shared_ptr<const Tables> tablesFor(std::size_t count, std::size_t threads);
  std::shared_ptr<const Tables> buildTables(std::size_t windowBits, std::size_t threads) const;
  // (1 + m n) factor g^e modulo one prime's square for each lane: a group of plain pairs.
  void encryptSide(const PrimeSide& side, const FixedBaseTable& table, const Limb* const* plaintexts,
                   const std::uint8_t* const* exponents, std::size_t exponentBytes, Words& group) const;
  // Recombines ciphertexts given as such groups modulo both squares, which are overwritten; skips null pointers.
  void assemble(Words& groupP, Words& groupQ, Limb* const* ciphertexts) const;
  // m modulo one prime for each lane (times q^-1 on p's side); sets refused for multiples of the prime.
  void decryptSide(const PrimeSide& side, const Limb* const* ciphertexts, Limb* const* results, bool* refused) const;
  // A power modulo one prime for each lane.
  void rootSide(const PrimeSide& side, const Exponent& exponent, const Limb* const* values, Limb* const* results) const;

  std::size_t primeBytes_;
  PublicContext public_;
  PrimeSide p_;
  PrimeSide q_;
  Limbs qInverse_;         // Montgomery form modulo p
  Limbs qSquaredInverse_;  // plain, modulo p^2
  // Groups modulo p^2 that take halves a and b modulo q to -a (q^2)^-1 and -b q (q^2)^-1, as plain pairs.
  Words recombineLow_;
  Words recombineHigh_;
  std::mutex tablesMutex_;
  std::shared_ptr<const Tables> tables_;
  std::size_t tablesWindowBits_ = 0;
  std::size_t encryptionCount_ = 0;
};

}  // namespace tandem
