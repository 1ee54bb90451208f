// square-ring.h in four lanes of AVX2: radix 2^28, R = 2^(28 digits) with at least 4 bits above N.
//
// Layout: a group is 2 * digits vectors; vector j holds digit j of a (then b) of the four elements in its 64-bit lanes.
// Digits are below 2^28 between operations.
//
// Bounds: R >= 16 N. With all halves below 4 N: r = (a c + m N) / R < 16 N^2 / R + N <= 2 N, and
// s = (a d + b c + (Z - m) + m' N) / R, where Z is the multiple of N that keeps the difference positive (below 2 R), so
// with halves below 2 N, s < 8 N^2 / R + N + 2 < 2 N. Results are therefore always good operands, without a
// subtraction; scatter and extract reduce fully.
//
// Constant-time: as square-ring.h demands.
#pragma once

#include "square-ring.h"

namespace tandem {

#if defined(__x86_64__)

class Avx2Ring final : public SquareRing {
 public:
  Avx2Ring(const Limb* n, std::size_t limbs);

  void multiply(Word* r, const Word* x, const Word* y) const override;
  void square(Word* r, const Word* x) const override;
  void multiplyByHalf(Word* r, const Word* x, const Word* c) const override;
  void multiplyHalves(Word* r, const Word* x, const Word* y) const override;
  void addHalves(Word* r, const Word* x, const Word* y) const override;
  void gather(Word* r, const Limb* const* elements) const override;
  void scatter(Limb* const* elements, const Word* x) const override;
  void insert(Word* r, std::size_t lane, const Limb* element) const override;
  void extract(Limb* element, const Word* x, std::size_t lane) const override;
  void loadHalf(Word* r, const Limb* const* values) const override;
  void split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const override;
  void importPlain(Word* r, const Limb* const* values) const override;
  void exportPlain(Limb* const* pairs, const Word* x) const override;
  std::size_t tableWords() const override { return words() / 2; }
  void toTable(Word* entry, const Word* x) const override;
  void fromTable(Word* r, const Word* entry) const override;
  void select(Word* r, const Word* table, std::size_t size, std::size_t index) const override;

 private:
  std::size_t digits_;
  // Each digit in all four lanes.
  Words modulusDigits_;
  Words balance_;       // 1 - R modulo N: Z less R - 1, see avx2-sweep.h
  Words rCubedDigits_;  // R^3 as a pair
  Words importFactor_;  // -R^2 modulo N
  Word negatedInverse_;
};

#endif

}  // namespace tandem
