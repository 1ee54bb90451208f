// One sweep over all columns of a pair product in four lanes, with both Montgomery reductions interleaved:
//     r = (first + m N) / R        and        s = (second - m + m' N) / R,
// where `first` and `second` are each a sum of products and addends. See square-ring.h for why, avx2-columns.h for the
// inner loops. Included by avx2-ring.cpp only.
//
// -m must not make a column negative: to every digit -m[j] the sweep adds 2^28 - 1, together R - 1, and `balance`, which
// makes a multiple of N of it. (2^28 - 1) - m[j] is m[j] with all its 28 bits flipped.
//
// The low columns give one digit of m each and are zero afterwards; the high columns are the result. Results may overwrite
// operands: a block's result digits lie below all operand digits that later columns read.
//
// Constant-time: as avx2-columns.h.
#pragma once

#include "avx2-columns.h"

namespace tandem {
namespace avx2 {

constexpr std::size_t kDigitsMax = 147;  // 4096 bits and 4 to spare

struct Sweep {
  std::ptrdiff_t digits;
  const Vector* modulus;
  const Vector* balance;
  Vector negatedInverse;

  // first = x y, or x x where y is null; plus addend (addendDigits digits).
  const Vector* firstX = nullptr;
  const Vector* firstY = nullptr;
  const Vector* firstAddend = nullptr;
  std::ptrdiff_t firstAddendDigits = 0;
  Vector* firstResult = nullptr;
  Vector* quotient = nullptr;  // m

  // second = x y + x' y', or 2 x y; plus addend (digits digits).
  bool hasSecond = false;
  bool isDoubled = false;
  const Vector* secondX[2] = {nullptr, nullptr};
  const Vector* secondY[2] = {nullptr, nullptr};
  const Vector* secondAddend = nullptr;
  Vector* secondResult = nullptr;
};

// What goes from block to block: carries, and the second reduction's quotient.
struct SweepState {
  Vector firstCarry;
  Vector secondCarry;
  Vector secondQuotient[kDigitsMax + 1];
};

// Clears the low columns one by one: each gives a digit of the quotient.
template <int columns>
TANDEM_AVX2_INLINE void clearColumns(const Sweep& sweep, Vector* sums, Vector& carry, Vector* quotient) {
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    const Vector sum = add(sums[c], carry);
    const Vector digit = _mm256_and_si256(_mm256_mul_epu32(sum, sweep.negatedInverse), mask);
    quotient[c] = digit;
    carry = carryOf(addProduct(sum, digit, sweep.modulus[0]));
#pragma GCC unroll 8
    for (int later = c + 1; later < columns; later++) {
      sums[later] = addProduct(sums[later], digit, sweep.modulus[later - c]);
    }
  }
}

template <int columns>
TANDEM_AVX2_INLINE void writeColumns(Vector* result, const Vector* sums, Vector& carry) {
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    const Vector sum = add(sums[c], carry);
    result[c] = _mm256_and_si256(sum, mask);
    carry = carryOf(sum);
  }
}

template <int columns, bool fold>
TANDEM_AVX2_INLINE void foldIfWanted(Vector* sums, Vector& spill) {
  if (fold) spill = add(spill, foldColumns<columns>(sums));
}

template <int columns, bool fold>
TANDEM_AVX2 __attribute__((noinline)) void sweepLow(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  Vector first[columns];
  Vector second[columns];
  Vector firstSpill = _mm256_setzero_si256();
  Vector secondSpill = _mm256_setzero_si256();
  for (int c = 0; c < columns; c++) first[c] = second[c] = _mm256_setzero_si256();
  if (sweep.firstX != nullptr) {
    if (sweep.firstY == nullptr) {
      addLowSquareColumns<columns>(first, sweep.firstX, at);
    } else {
      addLowColumns<columns>(first, sweep.firstX, sweep.firstY, at);
    }
    foldIfWanted<columns, fold>(first, firstSpill);
  }
  for (int c = 0; c < columns; c++) {
    if (at + c < sweep.firstAddendDigits) first[c] = add(first[c], sweep.firstAddend[at + c]);
  }
  addRows<columns>(first, sweep.quotient, sweep.modulus + at, at);
  foldIfWanted<columns, fold>(first, firstSpill);
  clearColumns<columns>(sweep, first, state.firstCarry, sweep.quotient + at);
  state.firstCarry = add(state.firstCarry, firstSpill);
  if (!sweep.hasSecond) return;
  for (int term = 0; term < 2; term++) {
    if (sweep.secondX[term] == nullptr) continue;
    addLowColumns<columns>(second, sweep.secondX[term], sweep.secondY[term], at);
    foldIfWanted<columns, fold>(second, secondSpill);
  }
  if (sweep.isDoubled) {
    for (int c = 0; c < columns; c++) second[c] = add(second[c], second[c]);
    secondSpill = add(secondSpill, secondSpill);
  }
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
  for (int c = 0; c < columns; c++) {
    const Vector flipped = _mm256_xor_si256(sweep.quotient[at + c], mask);
    second[c] = add(second[c], add(flipped, sweep.balance[at + c]));
    if (sweep.secondAddend != nullptr) second[c] = add(second[c], sweep.secondAddend[at + c]);
  }
  addRows<columns>(second, state.secondQuotient, sweep.modulus + at, at);
  foldIfWanted<columns, fold>(second, secondSpill);
  clearColumns<columns>(sweep, second, state.secondCarry, state.secondQuotient + at);
  state.secondCarry = add(state.secondCarry, secondSpill);
}

template <int columns, bool fold>
TANDEM_AVX2 __attribute__((noinline)) void sweepHigh(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  const std::ptrdiff_t digits = sweep.digits;
  Vector first[columns];
  Vector second[columns];
  Vector firstSpill = _mm256_setzero_si256();
  Vector secondSpill = _mm256_setzero_si256();
  for (int c = 0; c < columns; c++) first[c] = second[c] = _mm256_setzero_si256();
  if (sweep.firstX != nullptr) {
    if (sweep.firstY == nullptr) {
      addHighSquareColumns<columns>(first, sweep.firstX, at, digits);
    } else {
      addHighColumns<columns>(first, sweep.firstX, sweep.firstY, at, digits);
    }
    foldIfWanted<columns, fold>(first, firstSpill);
  }
  for (int c = 0; c < columns; c++) {
    if (at + c < sweep.firstAddendDigits) first[c] = add(first[c], sweep.firstAddend[at + c]);
  }
  addHighColumns<columns>(first, sweep.quotient, sweep.modulus, at, digits);
  foldIfWanted<columns, fold>(first, firstSpill);
  if (sweep.hasSecond) {
    for (int term = 0; term < 2; term++) {
      if (sweep.secondX[term] == nullptr) continue;
      addHighColumns<columns>(second, sweep.secondX[term], sweep.secondY[term], at, digits);
      foldIfWanted<columns, fold>(second, secondSpill);
    }
    if (sweep.isDoubled) {
      for (int c = 0; c < columns; c++) second[c] = add(second[c], second[c]);
      secondSpill = add(secondSpill, secondSpill);
    }
    addHighColumns<columns>(second, state.secondQuotient, sweep.modulus, at, digits);
    foldIfWanted<columns, fold>(second, secondSpill);
    writeColumns<columns>(sweep.secondResult + (at - digits), second, state.secondCarry);
    state.secondCarry = add(state.secondCarry, secondSpill);
  }
  writeColumns<columns>(sweep.firstResult + (at - digits), first, state.firstCarry);
  state.firstCarry = add(state.firstCarry, firstSpill);
}

template <int columns, bool fold>
TANDEM_AVX2 void sweepRest(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  if (at < sweep.digits) {
    sweepLow<columns, fold>(sweep, state, at);
  } else {
    sweepHigh<columns, fold>(sweep, state, at);
  }
}

// The block that is left when the digits are no multiple of kBlock.
template <bool fold>
TANDEM_AVX2 void sweepPartBlock(const Sweep& sweep, SweepState& state, std::ptrdiff_t at, std::ptrdiff_t columns) {
  switch (columns) {
    case 1: return sweepRest<1, fold>(sweep, state, at);
    case 2: return sweepRest<2, fold>(sweep, state, at);
    case 3: return sweepRest<3, fold>(sweep, state, at);
    case 4: return sweepRest<4, fold>(sweep, state, at);
    case 5: return sweepRest<5, fold>(sweep, state, at);
    case 6: return sweepRest<6, fold>(sweep, state, at);
    case 7: return sweepRest<7, fold>(sweep, state, at);
    default: return;
  }
}

template <bool fold>
TANDEM_AVX2 void runSweep(const Sweep& sweep) {
  SweepState state;
  state.firstCarry = state.secondCarry = _mm256_setzero_si256();
  const std::ptrdiff_t digits = sweep.digits;
  const std::ptrdiff_t rest = digits % kBlock;
  std::ptrdiff_t at = 0;
  for (; at + kBlock <= digits; at += kBlock) sweepLow<kBlock, fold>(sweep, state, at);
  sweepPartBlock<fold>(sweep, state, at, rest);
  for (at = digits; at + kBlock <= 2 * digits; at += kBlock) sweepHigh<kBlock, fold>(sweep, state, at);
  sweepPartBlock<fold>(sweep, state, at, rest);
}

}  // namespace avx2
}  // namespace tandem
