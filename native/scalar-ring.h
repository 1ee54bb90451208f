// square-ring.h with 64-bit limbs, one element at a time: the kernels `scalar` and `adx`, which differ in the row
// function. R = 2^(64 limbs). Halves of a group are always fully reduced, so that a group is a resident element.
//
// Constant-time: as square-ring.h demands; all subtractions are masked.
#pragma once

#include "square-ring.h"

namespace tandem {

class ScalarRing final : public SquareRing {
 public:
  ScalarRing(const Limb* n, std::size_t limbs, RowFunction rows);

  void multiply(Word* r, const Word* x, const Word* y) const override;
  void square(Word* r, const Word* x) const override;
  void multiplyByHalf(Word* r, const Word* x, const Word* c) const override;
  void multiplyHalves(Word* r, const Word* x, const Word* y) const override;
  void addHalves(Word* r, const Word* x, const Word* y) const override;
  void addPairs(Word* r, const Word* x, const Word* y) const override;
  void reduce(Word*) const override {}
  void timesModulus(Word* r, const Word* x, std::size_t wordsOfX, const Word* z) const override;
  void store(Limb* const* values, std::size_t limbsOfValue, const Word* x, std::size_t wordsOfX) const override;
  void gather(Word* r, const Limb* const* elements) const override;
  void scatter(Limb* const* elements, const Word* x) const override;
  void insert(Word* r, std::size_t lane, const Limb* element) const override;
  void extract(Limb* element, const Word* x, std::size_t lane) const override;
  std::size_t tableEntryBytes() const override { return 2 * limbs() * sizeof(Limb); }
  void writeEntries(std::uint8_t* const* entries, const Word* c, const Word* l) const override;
  std::size_t sumWords() const override { return limbs() + 1; }
  void readEntries(Word* c, Word* sums, const std::uint8_t* const* entries) const override;
  void readSum(Limb* sum, const Word* sums, std::size_t lane) const override;
  void loadHalf(Word* r, const Limb* const* values) const override;
  void split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const override;
  void importPlain(Word* r, const Limb* const* values) const override;
  void exportPlain(Limb* const* pairs, const Word* x) const override;
  std::size_t tableWords() const override { return words(); }
  void toTable(Word* entry, const Word* x) const override;
  void fromTable(Word* r, const Word* entry) const override;
  void select(Word* r, const Word* table, std::size_t size, std::size_t index) const override;

 private:
  // t < N R, 2 limbs() limbs, becomes r = (t + m N) / R and m; returns 1 if N was subtracted from r to make it less
  // than N (the second half must then grow by 1), otherwise 0. t is overwritten.
  Limb reduceKeeping(Limb* r, Limb* m, Limb* t) const;
  // r = (t - m) / R + more modulo N for t < 2 N^2 with 2 limbs() + 1 limbs, m < R, more <= 1. t is overwritten.
  void reduceLess(Limb* r, Limb* t, const Limb* m, Limb more) const;

  Limbs importFactor_;  // -R^2 modulo N
};

}  // namespace tandem
