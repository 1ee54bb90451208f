// The public parameters of an attempt: the set, the plaintext modulus, and the public rows.
#pragma once

#include <memory>
#include <mutex>

#include "lattice-kernel.h"
#include "lattice-residues.h"
#include "lattice-words.h"

namespace tandem {
namespace lattice {

// The common reference string: public ring elements, transformed, drawn from its key. They are drawn on first
// use: that takes long for many rows, and not every party needs them.
class CommonRows {
 public:
  CommonRows(const Set& set, const Kernel& kernel, const std::uint8_t* crsKey, std::size_t blocks);

  // a^_k. Safe on several threads.
  const double* block(std::size_t k, std::size_t limb) const { return element(k, limb); }
  // a^*, the mask row.
  const double* mask(std::size_t limb) const { return element(blocks_, limb); }

 private:
  const double* element(std::size_t k, std::size_t limb) const;

  const Set& set_;
  const Kernel& kernel_;
  AesKey key_;
  std::size_t blocks_;
  std::unique_ptr<std::once_flag[]> isDrawn_;
  mutable std::vector<Array<double>> elements_;
};

struct Shape {
  std::size_t rows;
  Wide t;
  std::size_t slotBits;
  std::uint8_t crsKey[kCrsKeyBytes];
};

struct Context {
  Context(const Set& set, const Kernel& kernel, const Shape& shape);

  const Set& set;
  const Kernel& kernel;
  Shape shape;
  std::size_t blocks;
  // floor(q / t), or floor(q 2^slotBits / t) for the upper slot, modulo the primes.
  std::uint64_t multipliers[kColumns][kLimbsMax];
  // (q / p)^-1 modulo p: what a residue is multiplied by to become part of a word.
  std::uint64_t wordFactors[kLimbsMax];
  Words words;
  // For sealing. Hints draw their own, and drop them.
  CommonRows rows;
};

// Empty if a shape is sound; otherwise what is wrong with it.
const char* faultOf(const Set& set, const Shape& shape);

}  // namespace lattice
}  // namespace tandem
