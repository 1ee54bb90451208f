// Four elements of the field of 2^255 - 19 side by side, in five vectors of limbs of 51 bits. Limbs are signed whole
// numbers held as doubles: a fused multiply-add gives the upper half of a product of limbs, a second one the exact
// rest. That takes five instructions per product of 51 bits, where integers of 32 bits take eight. Included by avx2.cpp
// only.
//
// Carried limbs have magnitudes below 2^50 + 2^15, and everything here is carried but Wide, and what comes from tables
// (below 2^51 + 2^18, `unsignedFrom`): a product of two of the latter would be too large for `upper`. Doubles are
// rounded to the nearest, which is the default.
//
// Constant-time: everything. Doubles here are zero or normal, whose sums and products take the same time.
#pragma once

#include <immintrin.h>

#include "kernel.h"

#define TANDEM_LANES avx2
#define TANDEM_LANE __attribute__((target("avx2,fma")))
#define TANDEM_LANE_INLINE __attribute__((target("avx2,fma"), always_inline)) inline
#define TANDEM_LANE_LAMBDA __attribute__((target("avx2,fma"), always_inline))
// What is called often enough to matter for the size of the code, and seldom enough not to matter for its speed.
#define TANDEM_LANE_CALL __attribute__((target("avx2,fma"), noinline)) inline
#define TANDEM_UNROLL _Pragma("GCC unroll 10")

namespace tandem {
namespace curve {
namespace avx2 {

using Vector = __m256i;
using Doubles = __m256d;
constexpr std::size_t kLanes = 4;
// Chains of squares that run side by side, since each square waits for the one before it.
constexpr std::size_t kChains = 2;

struct Field {
  Doubles v[kLimbs];
};
// A product before its carry, or a sum of a few: limbs are integers of magnitudes below 2^61.
struct Wide {
  Vector v[kLimbs];
};
// All ones or zero per lane.
using Mask = Vector;

// Added to a number below 2^102, it leaves the nearest multiple of 2^51 in the lower bits of the double.
constexpr double kUpper = 0x1.8p103;
// Added to an integer below 2^51, it leaves it in the lower bits of the double.
constexpr double kWhole = 0x1.8p52;
constexpr std::uint64_t kUpperBits = 0x4668000000000000;
constexpr std::uint64_t kWholeBits = 0x4338000000000000;
// A double of 2^52 plus a number that is written over its lower bits.
constexpr std::uint64_t kPlainBits = 0x4330000000000000;
constexpr double kPlain = 0x1p52;

TANDEM_LANE_INLINE Vector all(std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
TANDEM_LANE_INLINE Doubles allDoubles(double x) { return _mm256_set1_pd(x); }
TANDEM_LANE_INLINE Vector bits(Doubles a) { return _mm256_castpd_si256(a); }
TANDEM_LANE_INLINE Doubles fromBits(Vector a) { return _mm256_castsi256_pd(a); }
TANDEM_LANE_INLINE Vector plus(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
TANDEM_LANE_INLINE Vector lowBits(Vector a) { return _mm256_and_si256(a, all(kLimbMask)); }
// 19 x, modulo 2^64.
TANDEM_LANE_INLINE Vector nineteen(Vector x) { return plus(plus(_mm256_slli_epi64(x, 4), _mm256_slli_epi64(x, 1)), x); }

// Of limbs below 2^53.
TANDEM_LANE_INLINE Field carry(const Field& a) {
  Doubles over[kLimbs];
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    over[i] = _mm256_sub_pd(_mm256_add_pd(a.v[i], allDoubles(kUpper)), allDoubles(kUpper));
    r.v[i] = _mm256_sub_pd(a.v[i], over[i]);
  }
  r.v[0] = _mm256_fmadd_pd(over[4], allDoubles(19 * 0x1p-51), r.v[0]);
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) { r.v[i] = _mm256_fmadd_pd(over[i - 1], allDoubles(0x1p-51), r.v[i]); }
  return r;
}
// An integer below 2^52.
TANDEM_LANE_INLINE Doubles unsignedFrom(Vector limb) {
  return _mm256_sub_pd(fromBits(_mm256_or_si256(limb, all(kPlainBits))), allDoubles(kPlain));
}
TANDEM_LANE_INLINE Field everywhere(const std::uint64_t* limbs) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = allDoubles(static_cast<double>(limbs[i]));
  return carry(r);
}
TANDEM_LANE_INLINE Field zero() {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm256_setzero_pd();
  return r;
}
TANDEM_LANE_INLINE Vector loadVector(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
TANDEM_LANE_INLINE void storeVector(void* to, Vector a) { _mm256_storeu_si256(static_cast<__m256i*>(to), a); }
TANDEM_LANE_INLINE Field load(const std::uint64_t* limbs) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = unsignedFrom(loadVector(limbs + 4 * i));
  return carry(r);
}
// The integers of carried limbs, with p added: they are positive, and below 2^52.
TANDEM_LANE_INLINE void positive(const Field& a, Vector* v) {
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    v[i] = plus(bits(_mm256_add_pd(a.v[i], allDoubles(kWhole))), all((i == 0 ? kPrimeLow : kLimbMask) - kWholeBits));
  }
}
TANDEM_LANE_INLINE void store(const Field& a, std::uint64_t* limbs) {
  Vector v[kLimbs];
  positive(a, v);
  storeVector(limbs, plus(lowBits(v[0]), nineteen(_mm256_srli_epi64(v[4], kLimbBits))));
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) {
    storeVector(limbs + 4 * i, plus(lowBits(v[i]), _mm256_srli_epi64(v[i - 1], kLimbBits)));
  }
}
TANDEM_LANE_INLINE Wide widened(const Field& a) {
  Wide r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    r.v[i] = plus(bits(_mm256_add_pd(a.v[i], allDoubles(kWhole))), all(std::uint64_t{0} - kWholeBits));
  }
  return r;
}

// Makes limbs of a carry positive, and rounds them to the nearest.
constexpr std::uint64_t kCarryBias = (std::uint64_t{1} << 62) + (std::uint64_t{1} << 50);

// Of limbs with kCarryBias added, which are positive.
TANDEM_LANE_INLINE Field carriedBiased(const Vector* r) {
  constexpr double inUpper = 0x1p11;  // the biases, as they are in the upper and the lower part
  constexpr double inLower = 0x1p50;
  Doubles over[kLimbs];
  Field o;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    over[i] = fromBits(_mm256_or_si256(_mm256_srli_epi64(r[i], kLimbBits), all(kPlainBits)));
    o.v[i] = fromBits(_mm256_or_si256(lowBits(r[i]), all(kPlainBits)));
  }
  o.v[0] = _mm256_fmadd_pd(_mm256_sub_pd(over[4], allDoubles(kPlain + inUpper)), allDoubles(19),
                           _mm256_sub_pd(o.v[0], allDoubles(kPlain + inLower)));
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) {
    o.v[i] = _mm256_add_pd(o.v[i], _mm256_sub_pd(over[i - 1], allDoubles(2 * kPlain + inUpper + inLower)));
  }
  return o;
}
TANDEM_LANE_INLINE Field carried(const Vector* r) {
  Vector biased[kLimbs];
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) biased[i] = plus(r[i], all(kCarryBias));
  return carriedBiased(biased);
}

// What the bits of the doubles add to a column of a product; of a square, whose products are fewer.
template <bool isSquare>
constexpr std::uint64_t columnBits(int column) {
  std::uint64_t sum = 0;
  for (int i = 0; i < kLimbs; i++) {
    for (int j = isSquare ? i : 0; j < kLimbs; j++) {
      if (i + j == column) sum += kWholeBits;
      if (i + j + 1 == column) sum += kUpperBits;
    }
  }
  return sum;
}
// Adds a product below 2^102 to its column, and to the next one.
TANDEM_LANE_INLINE void addProduct(Doubles a, Doubles b, Vector& column, Vector& next) {
  // (kUpper + kWhole) - upper is a double: both are multiples of 2^51.
  const Doubles upper = _mm256_fmadd_pd(a, b, allDoubles(kUpper));
  const Doubles rest = _mm256_fmadd_pd(a, b, _mm256_sub_pd(allDoubles(kUpper + kWhole), upper));
  column = plus(column, bits(rest));
  next = plus(next, bits(upper));
}
// Where columns begin: without what the bits of doubles will add to them.
template <bool isSquare, std::uint64_t bias, int limb>
constexpr std::uint64_t kBegin = bias - columnBits<isSquare>(limb) - 19 * columnBits<isSquare>(limb + kLimbs);
template <bool isSquare, std::uint64_t bias>
TANDEM_LANE_INLINE void begin(Vector* z) {
  z[0] = all(kBegin<isSquare, bias, 0>);
  z[1] = all(kBegin<isSquare, bias, 1>);
  z[2] = all(kBegin<isSquare, bias, 2>);
  z[3] = all(kBegin<isSquare, bias, 3>);
  z[4] = all(kBegin<isSquare, bias, 4>);
  TANDEM_UNROLL for (int k = 0; k < kLimbs; k++) z[k + kLimbs] = _mm256_setzero_si256();
}
// Ten columns to five limbs: 2^255 = 19.
TANDEM_LANE_INLINE void fold(const Vector* z, Vector* r) {
  TANDEM_UNROLL for (int k = 0; k < kLimbs; k++) r[k] = plus(z[k], nineteen(z[k + kLimbs]));
}
template <std::uint64_t bias>
TANDEM_LANE_INLINE void productColumns(const Field& a, const Field& b, Vector* r) {
  Vector z[2 * kLimbs];
  begin<false, bias>(z);
  TANDEM_UNROLL for (int k = 0; k < 9; k++) {
    TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
      if (i <= k && k - i < kLimbs) addProduct(a.v[i], b.v[k - i], z[k], z[k + 1]);
    }
  }
  fold(z, r);
}
template <std::uint64_t bias>
TANDEM_LANE_INLINE void squareColumns(const Field& a, Vector* r) {
  Doubles twice[kLimbs];
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) twice[i] = _mm256_add_pd(a.v[i], a.v[i]);
  Vector z[2 * kLimbs];
  begin<true, bias>(z);
  TANDEM_UNROLL for (int k = 0; k < 9; k++) {
    TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
      if (2 * i <= k && k - i < kLimbs) addProduct(a.v[i], 2 * i == k ? a.v[i] : twice[k - i], z[k], z[k + 1]);
    }
  }
  fold(z, r);
}
TANDEM_LANE_INLINE Wide multiplyWide(const Field& a, const Field& b) {
  Wide r;
  productColumns<0>(a, b, r.v);
  return r;
}
TANDEM_LANE_INLINE Wide squareWide(const Field& a) {
  Wide r;
  squareColumns<0>(a, r.v);
  return r;
}
TANDEM_LANE_INLINE Field multiply(const Field& a, const Field& b) {
  Vector r[kLimbs];
  productColumns<kCarryBias>(a, b, r);
  return carriedBiased(r);
}
TANDEM_LANE_INLINE Field square(const Field& a) {
  Vector r[kLimbs];
  squareColumns<kCarryBias>(a, r);
  return carriedBiased(r);
}

TANDEM_LANE_INLINE Field add(const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm256_add_pd(a.v[i], b.v[i]);
  return carry(r);
}
TANDEM_LANE_INLINE Field subtract(const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm256_sub_pd(a.v[i], b.v[i]);
  return carry(r);
}
// b + a and b - a.
TANDEM_LANE_INLINE void sumAndDifference(const Wide& a, const Wide& b, Field& sum, Field& less) {
  Vector s[kLimbs];
  Vector d[kLimbs];
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    const Vector biased = plus(b.v[i], all(kCarryBias));
    s[i] = plus(biased, a.v[i]);
    d[i] = _mm256_sub_epi64(biased, a.v[i]);
  }
  sum = carriedBiased(s);
  less = carriedBiased(d);
}
// g = 2 p and f = 4 zz - 2 p.
TANDEM_LANE_INLINE void doublingParts(const Wide& p, const Wide& zz, Field& g, Field& f) {
  Vector s[kLimbs];
  Vector d[kLimbs];
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    s[i] = plus(p.v[i], p.v[i]);
    d[i] = _mm256_sub_epi64(_mm256_slli_epi64(zz.v[i], 2), s[i]);
  }
  g = carried(s);
  f = carried(d);
}

TANDEM_LANE_INLINE Mask maskFromBits(std::uint32_t bits) {
  const Vector places = _mm256_setr_epi64x(1, 2, 4, 8);
  return _mm256_cmpeq_epi64(_mm256_and_si256(all(bits), places), places);
}
TANDEM_LANE_INLINE std::uint32_t bitsFromMask(Mask mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_pd(fromBits(mask)));
}
TANDEM_LANE_INLINE Vector blend(Mask takeB, Vector a, Vector b) {
  return bits(_mm256_blendv_pd(fromBits(a), fromBits(b), fromBits(takeB)));
}
TANDEM_LANE_INLINE Field select(Mask takeB, const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm256_blendv_pd(a.v[i], b.v[i], fromBits(takeB));
  return r;
}
// sum | (a & mask), the same mask in every lane.
TANDEM_LANE_INLINE Field orMasked(const Field& sum, const Field& a, std::uint64_t mask) {
  const Doubles m = fromBits(all(mask));
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) { r.v[i] = _mm256_or_pd(sum.v[i], _mm256_and_pd(a.v[i], m)); }
  return r;
}

TANDEM_LANE_INLINE void ripple(Vector* v) {
  TANDEM_UNROLL for (int i = 0; i < 4; i++) {
    v[i + 1] = plus(v[i + 1], _mm256_srli_epi64(v[i], kLimbBits));
    v[i] = lowBits(v[i]);
  }
}
// The representative below p, as limbs of exactly 51 bits.
TANDEM_LANE_INLINE void canonical(const Field& a, Vector* v) {
  positive(a, v);
  TANDEM_UNROLL for (int round = 0; round < 2; round++) {
    ripple(v);
    v[0] = plus(v[0], nineteen(_mm256_srli_epi64(v[4], kLimbBits)));
    v[4] = lowBits(v[4]);
  }
  ripple(v);
  Vector quotient = _mm256_srli_epi64(plus(v[0], all(19)), kLimbBits);
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) quotient = _mm256_srli_epi64(plus(v[i], quotient), kLimbBits);
  v[0] = plus(v[0], nineteen(quotient));
  ripple(v);
  v[4] = lowBits(v[4]);
}
TANDEM_LANE_INLINE void storeCanonical(const Field& a, std::uint64_t* limbs) {
  Vector v[kLimbs];
  canonical(a, v);
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) storeVector(limbs + 4 * i, v[i]);
}
TANDEM_LANE_CALL Mask isZero(const Field& a) {
  Vector v[kLimbs];
  canonical(a, v);
  const Vector low = _mm256_or_si256(_mm256_or_si256(v[0], v[1]), v[2]);
  return _mm256_cmpeq_epi64(_mm256_or_si256(low, _mm256_or_si256(v[3], v[4])), _mm256_setzero_si256());
}
TANDEM_LANE_CALL Mask isOdd(const Field& a) {
  Vector v[kLimbs];
  canonical(a, v);
  return _mm256_cmpeq_epi64(_mm256_and_si256(v[0], all(1)), all(1));
}

TANDEM_LANE_INLINE void transpose(Vector* r) {
  const Vector t0 = _mm256_unpacklo_epi64(r[0], r[1]);
  const Vector t1 = _mm256_unpackhi_epi64(r[0], r[1]);
  const Vector t2 = _mm256_unpacklo_epi64(r[2], r[3]);
  const Vector t3 = _mm256_unpackhi_epi64(r[2], r[3]);
  r[0] = _mm256_permute2x128_si256(t0, t2, 0x20);
  r[1] = _mm256_permute2x128_si256(t1, t3, 0x20);
  r[2] = _mm256_permute2x128_si256(t0, t2, 0x31);
  r[3] = _mm256_permute2x128_si256(t1, t3, 0x31);
}
// The three parts of one stored addend per lane.
TANDEM_LANE_INLINE void gather(const StoredAddend* const* from, Field& m, Field& s, Field& t) {
  Vector limbs[16];
  TANDEM_UNROLL for (int block = 0; block < 16; block += 4) {
    TANDEM_UNROLL for (int i = 0; i < 4; i++) limbs[block + i] = loadVector(from[i]->limbs + block);
    transpose(limbs + block);
  }
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    m.v[i] = unsignedFrom(limbs[i]);
    s.v[i] = unsignedFrom(limbs[kLimbs + i]);
    t.v[i] = unsignedFrom(limbs[2 * kLimbs + i]);
  }
}

// One of kEntries multiples per lane, by permutations of registers: no address depends on a digit.
struct Choice {
  Vector place;    // of the two halves of an entry among four
  Vector bits[3];  // which of eight fours, in the sign of a lane
  Mask isZero;
  Mask isNegative;
};
TANDEM_LANE_INLINE Choice chosen(const std::int64_t* digits) {
  const Vector none = _mm256_setzero_si256();
  const Vector digit = loadVector(digits);
  Choice choice;
  choice.isNegative = _mm256_cmpgt_epi64(none, digit);
  choice.isZero = _mm256_cmpeq_epi64(none, digit);
  const Vector flipped = _mm256_xor_si256(digit, choice.isNegative);
  const Vector index = _mm256_sub_epi64(_mm256_sub_epi64(flipped, choice.isNegative), all(1));
  const Vector twice = _mm256_slli_epi64(_mm256_and_si256(index, all(3)), 1);
  choice.place = _mm256_or_si256(twice, _mm256_slli_epi64(plus(twice, all(1)), 32));
  choice.bits[0] = _mm256_slli_epi64(index, 61);
  choice.bits[1] = _mm256_slli_epi64(index, 60);
  choice.bits[2] = _mm256_slli_epi64(index, 59);
  return choice;
}
TANDEM_LANE_INLINE Field picked(const std::uint64_t* entries, const Choice& choice, const Field& neutral) {
  static_assert(kEntries == 32, "eight registers");
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    const std::uint64_t* row = entries + i * kEntries;
    Vector four[8];
    TANDEM_UNROLL for (int b = 0; b < 8; b++) {
      four[b] = _mm256_permutevar8x32_epi32(loadVector(row + 4 * b), choice.place);
    }
    TANDEM_UNROLL for (int level = 0; level < 3; level++) {
      TANDEM_UNROLL for (int b = 0; b < (4 >> level); b++) {
        four[b] = blend(choice.bits[level], four[2 * b], four[2 * b + 1]);
      }
    }
    r.v[i] = unsignedFrom(four[0]);
  }
  return select(choice.isZero, r, neutral);
}

}  // namespace avx2
}  // namespace curve
}  // namespace tandem
