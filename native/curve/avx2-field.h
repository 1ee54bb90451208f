// Four elements of the field of 2^255 - 19 side by side, in ten vectors of limbs of 26 and 25 bits in turns: two of
// them are one limb of 51 bits, which is how elements are stored. Included by avx2.cpp only.
//
// Carried limbs are below 2^26 + 2^17 and 2^25 + 2^17. Sums and differences of two carried elements are multiplied
// without a carry: below 3 * 2^26 and 3 * 2^25, so that 19 times a limb fits 32 bits, and a column of a product is
// below 19 * 9 * (5 * 2^52 + 5 * 2^51) < 2^63.
//
// Constant-time: everything.
#pragma once

#include <immintrin.h>

#include "kernel.h"

#define TANDEM_LANES avx2
#define TANDEM_LANE __attribute__((target("avx2")))
#define TANDEM_LANE_INLINE __attribute__((target("avx2"), always_inline)) inline
#define TANDEM_LANE_LAMBDA __attribute__((target("avx2"), always_inline))
// What is called often enough to matter for the size of the code, and seldom enough not to matter for its speed.
#define TANDEM_LANE_CALL __attribute__((target("avx2"), noinline)) inline
#define TANDEM_UNROLL _Pragma("GCC unroll 10")

namespace tandem {
namespace curve {
namespace avx2 {

using Vector = __m256i;
constexpr std::size_t kLanes = 4;
// Chains of squares that run side by side, since each square waits for the one before it.
constexpr std::size_t kChains = 2;
constexpr int kSmallLimbs = 10;
constexpr int kEvenBits = 26;
constexpr int kOddBits = 25;

struct Field {
  Vector v[kSmallLimbs];
};
using Wide = Field;
// All ones or zero per lane.
using Mask = Vector;

TANDEM_LANE_INLINE Vector all(std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
TANDEM_LANE_INLINE Vector plus(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
TANDEM_LANE_INLINE Vector product(Vector a, Vector b) { return _mm256_mul_epu32(a, b); }
TANDEM_LANE_INLINE Vector lowBits(Vector a, int bits) {
  return _mm256_and_si256(a, all((std::uint64_t{1} << bits) - 1));
}
// 19 x of numbers beyond 32 bits.
TANDEM_LANE_INLINE Vector nineteen(Vector x) { return plus(plus(_mm256_slli_epi64(x, 4), _mm256_slli_epi64(x, 1)), x); }

// From limbs of 51 bits.
TANDEM_LANE_INLINE void split(Vector limb, Vector& even, Vector& odd) {
  even = lowBits(limb, kEvenBits);
  odd = _mm256_srli_epi64(limb, kEvenBits);
}
TANDEM_LANE_INLINE Field everywhere(const std::uint64_t* limbs) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) split(all(limbs[i]), r.v[2 * i], r.v[2 * i + 1]);
  return r;
}
TANDEM_LANE_INLINE Field zero() {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) r.v[i] = _mm256_setzero_si256();
  return r;
}
TANDEM_LANE_INLINE Vector loadVector(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
TANDEM_LANE_INLINE void storeVector(void* to, Vector a) { _mm256_storeu_si256(static_cast<__m256i*>(to), a); }
TANDEM_LANE_INLINE Field load(const std::uint64_t* limbs) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) split(loadVector(limbs + 4 * i), r.v[2 * i], r.v[2 * i + 1]);
  return r;
}

template <int limb>
TANDEM_LANE_INLINE void carryOne(Vector* v) {
  constexpr int bits = limb % 2 == 0 ? kEvenBits : kOddBits;
  const Vector over = _mm256_srli_epi64(v[limb], bits);
  v[limb] = lowBits(v[limb], bits);
  v[(limb + 1) % kSmallLimbs] = plus(v[(limb + 1) % kSmallLimbs], limb == 9 ? nineteen(over) : over);
}
// Of limbs below 2^63: two chains side by side.
TANDEM_LANE_INLINE Field carry(Field a) {
  carryOne<0>(a.v);
  carryOne<5>(a.v);
  carryOne<1>(a.v);
  carryOne<6>(a.v);
  carryOne<2>(a.v);
  carryOne<7>(a.v);
  carryOne<3>(a.v);
  carryOne<8>(a.v);
  carryOne<4>(a.v);
  carryOne<9>(a.v);
  carryOne<5>(a.v);
  carryOne<0>(a.v);
  return a;
}
TANDEM_LANE_INLINE Vector joined(Vector even, Vector odd) { return plus(even, _mm256_slli_epi64(odd, kEvenBits)); }
TANDEM_LANE_INLINE void store(const Field& a, std::uint64_t* limbs) {
  const Field c = carry(a);
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) storeVector(limbs + 4 * i, joined(c.v[2 * i], c.v[2 * i + 1]));
}
TANDEM_LANE_INLINE Wide widened(const Field& a) { return a; }

// Odd limbs have half a bit less than their index says: a product of two of them counts twice.
TANDEM_LANE_INLINE Field multiply(const Field& a, const Field& b) {
  Vector wrapped[kSmallLimbs];
  Vector twice[kSmallLimbs];
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) {
    wrapped[i] = product(b.v[i], all(19));
    twice[i] = i % 2 == 1 ? plus(a.v[i], a.v[i]) : a.v[i];
  }
  Field r;
  TANDEM_UNROLL for (int k = 0; k < kSmallLimbs; k++) {
    Vector sum = _mm256_setzero_si256();
    TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) {
      const int j = (k - i + kSmallLimbs) % kSmallLimbs;
      const Vector left = i % 2 == 1 && j % 2 == 1 ? twice[i] : a.v[i];
      sum = plus(sum, product(left, i > k ? wrapped[j] : b.v[j]));
    }
    r.v[k] = sum;
  }
  return carry(r);
}
TANDEM_LANE_INLINE Field square(const Field& a) {
  Vector wrapped[kSmallLimbs];
  Vector twice[kSmallLimbs];
  Vector fourfold[kSmallLimbs];
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) {
    wrapped[i] = product(a.v[i], all(19));
    twice[i] = plus(a.v[i], a.v[i]);
    fourfold[i] = plus(twice[i], twice[i]);
  }
  Field r;
  TANDEM_UNROLL for (int k = 0; k < kSmallLimbs; k++) {
    Vector sum = _mm256_setzero_si256();
    TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) {
      const int j = (k - i + kSmallLimbs) % kSmallLimbs;
      if (i > j) continue;
      const bool bothOdd = i % 2 == 1 && j % 2 == 1;
      const Vector left = i == j ? (bothOdd ? twice[i] : a.v[i]) : (bothOdd ? fourfold[i] : twice[i]);
      sum = plus(sum, product(left, i + j >= kSmallLimbs ? wrapped[j] : a.v[j]));
    }
    r.v[k] = sum;
  }
  return carry(r);
}
TANDEM_LANE_INLINE Wide multiplyWide(const Field& a, const Field& b) { return multiply(a, b); }
TANDEM_LANE_INLINE Wide squareWide(const Field& a) { return square(a); }

TANDEM_LANE_INLINE Field uncarriedSum(const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) r.v[i] = plus(a.v[i], b.v[i]);
  return r;
}
// b - a + 2^shift p.
template <int shift>
TANDEM_LANE_INLINE Field difference(const Field& b, const Field& a) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) {
    const std::uint64_t limb = (std::uint64_t{1} << (i % 2 == 0 ? kEvenBits : kOddBits)) - (i == 0 ? 19 : 1);
    r.v[i] = _mm256_sub_epi64(plus(b.v[i], all(limb << shift)), a.v[i]);
  }
  return r;
}
TANDEM_LANE_INLINE Field add(const Field& a, const Field& b) { return carry(uncarriedSum(a, b)); }
TANDEM_LANE_INLINE Field subtract(const Field& a, const Field& b) { return carry(difference<3>(a, b)); }
// b + a and b - a, of carried ones.
TANDEM_LANE_INLINE void sumAndDifference(const Wide& a, const Wide& b, Field& sum, Field& less) {
  sum = uncarriedSum(a, b);
  less = difference<1>(b, a);
}
// g = 2 p and f = 4 zz - 2 p.
TANDEM_LANE_INLINE void doublingParts(const Wide& p, const Wide& zz, Field& g, Field& f) {
  g = uncarriedSum(p, p);
  const Field twice = uncarriedSum(zz, zz);
  f = carry(difference<2>(uncarriedSum(twice, twice), g));
}

TANDEM_LANE_INLINE Mask maskFromBits(std::uint32_t bits) {
  const Vector places = _mm256_setr_epi64x(1, 2, 4, 8);
  return _mm256_cmpeq_epi64(_mm256_and_si256(all(bits), places), places);
}
TANDEM_LANE_INLINE std::uint32_t bitsFromMask(Mask mask) {
  return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(mask)));
}
TANDEM_LANE_INLINE Vector blend(Mask takeB, Vector a, Vector b) {
  const __m256d mask = _mm256_castsi256_pd(takeB);
  return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), mask));
}
TANDEM_LANE_INLINE Field select(Mask takeB, const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) r.v[i] = blend(takeB, a.v[i], b.v[i]);
  return r;
}
// sum | (a & mask), the same mask in every lane.
TANDEM_LANE_INLINE Field orMasked(const Field& sum, const Field& a, std::uint64_t mask) {
  const Vector m = all(mask);
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kSmallLimbs; i++) {
    r.v[i] = _mm256_or_si256(sum.v[i], _mm256_and_si256(a.v[i], m));
  }
  return r;
}

TANDEM_LANE_INLINE void ripple(Vector* v) {
  TANDEM_UNROLL for (int i = 0; i < 4; i++) {
    v[i + 1] = plus(v[i + 1], _mm256_srli_epi64(v[i], kLimbBits));
    v[i] = lowBits(v[i], kLimbBits);
  }
}
// The representative below p, as limbs of exactly 51 bits.
TANDEM_LANE_INLINE void canonical(const Field& a, Vector* v) {
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) v[i] = joined(a.v[2 * i], a.v[2 * i + 1]);
  TANDEM_UNROLL for (int round = 0; round < 2; round++) {
    ripple(v);
    v[0] = plus(v[0], nineteen(_mm256_srli_epi64(v[4], kLimbBits)));
    v[4] = lowBits(v[4], kLimbBits);
  }
  ripple(v);
  Vector quotient = _mm256_srli_epi64(plus(v[0], all(19)), kLimbBits);
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) quotient = _mm256_srli_epi64(plus(v[i], quotient), kLimbBits);
  v[0] = plus(v[0], nineteen(quotient));
  ripple(v);
  v[4] = lowBits(v[4], kLimbBits);
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
    split(limbs[i], m.v[2 * i], m.v[2 * i + 1]);
    split(limbs[kLimbs + i], s.v[2 * i], s.v[2 * i + 1]);
    split(limbs[2 * kLimbs + i], t.v[2 * i], t.v[2 * i + 1]);
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
  const Vector twice = _mm256_slli_epi64(lowBits(index, 2), 1);
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
    split(four[0], r.v[2 * i], r.v[2 * i + 1]);
  }
  return select(choice.isZero, r, neutral);
}

}  // namespace avx2
}  // namespace curve
}  // namespace tandem
