// Modular powers of the elements of one group, which share an exponent.
//
// Constant-time: with kSecret, fixed windows: the sequence of operations depends on the exponent's declared length
// only, and a table entry is selected by reading the whole table under masks. With kPublic, sliding windows: the
// exponent decides which products are made; bases stay unobservable in both. raiseEach is for
// public exponents only, powerAndShift for those of kind kPublic.
#pragma once

#include <functional>

#include "square-ring.h"

namespace tandem {

enum class ExponentKind { kPublic, kSecret };

class Exponent {
 public:
  // For kSecret, all 8 * sizeBytes bits are walked through; for kPublic, leading zeros are dropped.
  Exponent(const std::uint8_t* bytes, std::size_t sizeBytes, ExponentKind kind);

  // One step: `squarings` squarings, then a product with base^factor, if factor is not 0 or the exponent is secret.
  struct Step {
    std::uint16_t squarings;
    std::uint16_t factor;
  };
  using Steps = std::vector<Step, WipingAllocator<Step>>;

  ExponentKind kind() const { return kind_; }
  // Factors are below this.
  std::size_t tableSize() const { return tableSize_; }
  // The first step's squarings are of 1 and may be left out.
  const Steps& steps() const { return steps_; }

 private:
  ExponentKind kind_;
  std::size_t tableSize_;
  Steps steps_;
};

// r = base^exponent, lane by lane. r may be base.
void power(const SquareRing& ring, Word* r, const Word* base, const Exponent& exponent);

// r = base^exponent times the product of shifted(k)^(2^(k strideBits)) for k < count, lane by lane: the squarings of
// the power serve the product as well. fetch(factor, k) writes shifted(k). r may be base.
void powerAndShift(const SquareRing& ring, Word* r, const Word* base, const Exponent& exponent, std::size_t strideBits,
                   std::size_t count, const std::function<void(Word*, std::size_t)>& fetch);

// r = base^exponents[lane], lane by lane; exponents of `limbs` limbs, null for 0. Variable-time.
void raiseEach(const SquareRing& ring, Word* r, const Word* base, const Limb* const* exponents, std::size_t limbs);

}  // namespace tandem
