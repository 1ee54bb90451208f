// See avx2-ring.h.
#include "avx2-ring.h"

#if defined(__x86_64__)

#include <algorithm>
#include <stdexcept>

#include "avx2-lanes.h"
#include "avx2-sweep.h"

namespace tandem {

using namespace avx2;

namespace {

constexpr std::size_t kSpareBits = 4;
// A half's digits in limbs, and room for the last 8-byte store.
constexpr std::size_t kHalfLimbsMax = (kDigitsMax * kDigitBits + 63) / 64 + 2;

std::size_t digitsFor(const Limb* n, std::size_t limbs) {
  std::size_t bits = limbs * kLimbBits;
  while (((n[(bits - 1) / kLimbBits] >> ((bits - 1) % kLimbBits)) & 1) == 0) bits--;
  return (bits + kSpareBits + kDigitBits - 1) / kDigitBits;
}

TANDEM_AVX2 Words broadcastDigits(const Limb* value, std::size_t limbs, std::size_t digits) {
  Words result(4 * digits);
  const Limb* const values[4] = {value, value, value, value};
  digitsFromLimbs(reinterpret_cast<Vector*>(result.data()), digits, values, limbs);
  return result;
}

// digitsFromLimbs with null pointers for lanes that read 0.
TANDEM_AVX2 void loadDigits(Vector* digits, std::size_t count, const Limb* const* values, std::size_t limbs) {
  const Limb zeros[kLimbsMax] = {0};
  const Limb* sources[kLanesMax];
  for (std::size_t lane = 0; lane < kLanesMax; lane++) sources[lane] = values[lane] == nullptr ? zeros : values[lane];
  digitsFromLimbs(digits, count, sources, limbs);
}

const Vector* vectors(const Word* words) { return reinterpret_cast<const Vector*>(words); }
Vector* vectors(Word* words) { return reinterpret_cast<Vector*>(words); }

TANDEM_AVX2 void run(const Sweep& sweep) {
  if (static_cast<std::size_t>(sweep.digits) > kDigitsUnfolded) {
    runSweep<true>(sweep);
  } else {
    runSweep<false>(sweep);
  }
}

constexpr std::size_t kSelectMax = 64;

// `count` digits of the entry whose mask is set; entries are `stride` vectors apart.
template <int count>
TANDEM_AVX2_INLINE void selectDigits(Vector* result, const Vector* table, std::size_t stride, const Vector* masks,
                                     std::size_t size) {
  Sums<count> chosen;
  chosen.clear();
  for (std::size_t candidate = 0; candidate < size; candidate++, table += stride) {
    const Vector mask = masks[candidate];
    unroll<count>([&](auto c) TANDEM_AVX2_LAMBDA {
      chosen.at[c] = _mm256_or_si256(chosen.at[c], _mm256_and_si256(table[c], mask));
    });
  }
  unroll<count>([&](auto c) TANDEM_AVX2_LAMBDA { result[c] = chosen.at[c]; });
}

}  // namespace

Avx2Ring::Avx2Ring(const Limb* n, std::size_t limbs)
    : SquareRing(n, limbs, rowsOf(Kernel::kAvx2), kLanesMax), digits_(digitsFor(n, limbs)) {
  if (digits_ > kDigitsMax) throw std::invalid_argument("a modulus has at most 4096 bits");
  prepare(2 * 4 * digits_, kDigitBits * digits_);
  modulusDigits_ = broadcastDigits(n, limbs, digits_);
  rCubedDigits_ = broadcastDigits(rCubed(), limbs, digits_);
  const Words high = broadcastDigits(rCubed() + limbs, limbs, digits_);
  rCubedDigits_.insert(rCubedDigits_.end(), high.begin(), high.end());
  Limbs value(limbs);
  subtractLimbs(value.data(), n, rSquared(), limbs);
  importFactor_ = broadcastDigits(value.data(), limbs, digits_);
  // 1 - R modulo N, from R modulo N, which the first half of 1 holds; R modulo N = 0 does not happen.
  subtractLimbs(value.data(), n, one(), limbs);
  addSmall(value.data(), 1, limbs);
  balance_ = broadcastDigits(value.data(), limbs, digits_);
  negatedInverse_ = negatedInverse(n[0]) & kDigitMask;
}

// The parts of a sweep that belong to the modulus. A macro, because Vector members want the target of their function.
#define TANDEM_SWEEP(sweep)                                                           \
  Vector quotient[kDigitsMax + 1];                                                    \
  Sweep sweep;                                                                        \
  sweep.digits = static_cast<std::ptrdiff_t>(digits_);                                \
  sweep.modulus = vectors(modulusDigits_.data());                                     \
  sweep.balance = vectors(balance_.data());                                           \
  sweep.negatedInverse = _mm256_set1_epi64x(static_cast<long long>(negatedInverse_)); \
  sweep.quotient = quotient

TANDEM_AVX2 void Avx2Ring::multiply(Word* r, const Word* x, const Word* y) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstY = vectors(y);
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.secondX[0] = vectors(x);
  sweep.secondY[0] = vectors(y) + digits_;
  sweep.secondX[1] = vectors(x) + digits_;
  sweep.secondY[1] = vectors(y);
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_AVX2 void Avx2Ring::square(Word* r, const Word* x) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.isDoubled = true;
  sweep.secondX[0] = vectors(x);
  sweep.secondY[0] = vectors(x) + digits_;
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_AVX2 void Avx2Ring::multiplyByHalf(Word* r, const Word* x, const Word* c) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstY = vectors(c);
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.secondX[0] = vectors(x) + digits_;
  sweep.secondY[0] = vectors(c);
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_AVX2 void Avx2Ring::multiplyHalves(Word* r, const Word* x, const Word* y) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstY = vectors(y);
  sweep.firstResult = vectors(r);
  run(sweep);
}

TANDEM_AVX2 void Avx2Ring::addHalves(Word* r, const Word* x, const Word* y) const {
  Vector carry = _mm256_setzero_si256();
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
  for (std::size_t j = 0; j < digits_; j++) {
    const Vector sum = add(add(vectors(x)[j], vectors(y)[j]), carry);
    vectors(r)[j] = _mm256_and_si256(sum, mask);
    carry = carryOf(sum);
  }
}

TANDEM_AVX2 void Avx2Ring::gather(Word* r, const Limb* const* elements) const {
  const Limb* first[4];
  const Limb* second[4];
  for (std::size_t lane = 0; lane < 4; lane++) {
    first[lane] = elements[lane] == nullptr ? one() : elements[lane];
    second[lane] = first[lane] + limbs();
  }
  digitsFromLimbs(vectors(r), digits_, first, limbs());
  digitsFromLimbs(vectors(r) + digits_, digits_, second, limbs());
}

void Avx2Ring::scatter(Limb* const* elements, const Word* x) const {
  for (std::size_t lane = 0; lane < 4; lane++) {
    if (elements[lane] != nullptr) extract(elements[lane], x, lane);
  }
}

void Avx2Ring::insert(Word* r, std::size_t lane, const Limb* element) const {
  for (std::size_t half = 0; half < 2; half++) {
    const Limb* value = element + half * limbs();
    Word* digits = r + half * 4 * digits_ + lane;
    for (std::size_t digit = 0; digit < digits_; digit += 2) {
      const Word both = loadTail(value, 8 * limbs(), digit / 2 * 7);
      digits[4 * digit] = both & kDigitMask;
      if (digit + 1 < digits_) digits[4 * (digit + 1)] = (both >> kDigitBits) & kDigitMask;
    }
  }
}

void Avx2Ring::extract(Limb* element, const Word* x, std::size_t lane) const {
  Limb a[kHalfLimbsMax];
  Limb b[kHalfLimbsMax];
  limbsFromDigits(a, limbs() + 1, x, digits_, lane);
  limbsFromDigits(b, limbs() + 1, x + 4 * digits_, digits_, lane);
  reducePair(element, a, b);
}

TANDEM_AVX2 void Avx2Ring::loadHalf(Word* r, const Limb* const* values) const {
  loadDigits(vectors(r), digits_, values, limbs());
}

TANDEM_AVX2 void Avx2Ring::split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const {
  loadDigits(vectors(r), 2 * digits_, values, limbsOfValue);
}

TANDEM_AVX2 void Avx2Ring::importPlain(Word* r, const Limb* const* values) const {
  // v = t R - m N, so v R = t R^2 - m R N: the pair (t, 0) times R^3 (as a plain pair), less m R in the second half.
  // t < 2 N, but m < R: with it the second half may come out a little above 2 N (below 2.2 N), which every operation
  // takes.
  alignas(kAlignment) Word wide[2 * 4 * kDigitsMax];
  Vector t[kDigitsMax];
  Vector m[kDigitsMax + 1];
  split(wide, values, elementLimbs());
  TANDEM_SWEEP(reduction);
  reduction.firstAddend = vectors(wide);
  reduction.firstAddendDigits = 2 * reduction.digits;
  reduction.firstResult = t;
  reduction.quotient = m;
  run(reduction);
  Sweep sweep = reduction;
  sweep.quotient = quotient;
  sweep.firstAddend = nullptr;
  sweep.firstAddendDigits = 0;
  sweep.firstX = t;
  sweep.firstY = vectors(rCubedDigits_.data());
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.secondX[0] = t;
  sweep.secondY[0] = vectors(rCubedDigits_.data()) + digits_;
  sweep.secondX[1] = m;
  sweep.secondY[1] = vectors(importFactor_.data());
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_AVX2 void Avx2Ring::exportPlain(Limb* const* pairs, const Word* x) const {
  alignas(kAlignment) Word plain[2 * 4 * kDigitsMax];
  TANDEM_SWEEP(sweep);
  sweep.firstAddend = vectors(x);
  sweep.firstAddendDigits = sweep.digits;
  sweep.firstResult = vectors(plain);
  sweep.hasSecond = true;
  sweep.secondAddend = vectors(x) + digits_;
  sweep.secondResult = vectors(plain) + digits_;
  run(sweep);
  scatter(pairs, plain);
}

TANDEM_AVX2 void Avx2Ring::toTable(Word* entry, const Word* x) const {
  for (std::size_t j = 0; j < digits_; j++) {
    vectors(entry)[j] = _mm256_or_si256(vectors(x)[j], _mm256_slli_epi64(vectors(x)[digits_ + j], 32));
  }
}

TANDEM_AVX2 void Avx2Ring::fromTable(Word* r, const Word* entry) const {
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
  for (std::size_t j = 0; j < digits_; j++) {
    const Vector both = vectors(entry)[j];
    vectors(r)[j] = _mm256_and_si256(both, mask);
    vectors(r)[digits_ + j] = _mm256_srli_epi64(both, 32);
  }
}

TANDEM_AVX2 void Avx2Ring::select(Word* r, const Word* table, std::size_t size, std::size_t index) const {
  if (size > kSelectMax) throw std::invalid_argument("a table to select from has at most 64 entries");
  alignas(kAlignment) Word entry[4 * kDigitsMax];
  Vector masks[kSelectMax];
  const Vector wanted = _mm256_set1_epi64x(static_cast<long long>(index));
  for (std::size_t candidate = 0; candidate < size; candidate++) {
    masks[candidate] = _mm256_cmpeq_epi64(_mm256_set1_epi64x(static_cast<long long>(candidate)), wanted);
  }
  // kBlock digits at a time; the last block overlaps the one before, and short numbers go one by one.
  std::size_t at = 0;
  while (at < digits_) {
    if (digits_ < kBlock) {
      selectDigits<1>(vectors(entry) + at, vectors(table) + at, digits_, masks, size);
      at++;
      continue;
    }
    const std::size_t begin = std::min(at, digits_ - kBlock);
    selectDigits<kBlock>(vectors(entry) + begin, vectors(table) + begin, digits_, masks, size);
    at += kBlock;
  }
  fromTable(r, entry);
}

}  // namespace tandem

#endif
