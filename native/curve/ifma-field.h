// Eight elements of the field of 2^255 - 19 side by side, in five vectors of 51-bit limbs. Included by ifma.cpp only.
//
// IFMA reads 52 bits of each factor. Carried limbs are below 2^51 + 2^18, and everything here is carried but Wide: a
// product before its carry, with limbs below 2^60. The sum or difference of two wide products needs one carry only.
//
// Constant-time: everything.
#pragma once

// GCC 12 warns about registers that its own intrinsics leave uninitialised, wherever they are inlined.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include "kernel.h"

#define TANDEM_LANES ifma
#define TANDEM_LANE_TARGET "avx2,bmi2,avx512f,avx512dq,avx512ifma"
#define TANDEM_LANE __attribute__((target(TANDEM_LANE_TARGET)))
#define TANDEM_LANE_INLINE __attribute__((target(TANDEM_LANE_TARGET), always_inline)) inline
#define TANDEM_LANE_LAMBDA __attribute__((target(TANDEM_LANE_TARGET), always_inline))
// What is called often enough to matter for the size of the code, and seldom enough not to matter for its speed.
#define TANDEM_LANE_CALL __attribute__((target(TANDEM_LANE_TARGET), noinline)) inline
#define TANDEM_UNROLL _Pragma("GCC unroll 10")

namespace tandem {
namespace curve {
namespace ifma {

using Vector = __m512i;
constexpr std::size_t kLanes = 8;
// Chains of squares that run side by side, since each square waits for the one before it.
constexpr std::size_t kChains = 2;

struct Field {
  Vector v[kLimbs];
};
struct Wide {
  Vector v[kLimbs];
};
// A bit per lane.
using Mask = __mmask8;

TANDEM_LANE_INLINE Vector all(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
TANDEM_LANE_INLINE Field everywhere(const std::uint64_t* limbs) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = all(limbs[i]);
  return r;
}
TANDEM_LANE_INLINE Field zero() {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm512_setzero_si512();
  return r;
}
TANDEM_LANE_INLINE Field load(const std::uint64_t* limbs) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm512_loadu_si512(limbs + 8 * i);
  return r;
}
TANDEM_LANE_INLINE void store(const Field& a, std::uint64_t* limbs) {
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) _mm512_storeu_si512(limbs + 8 * i, a.v[i]);
}

// Of limbs below 2^63.
TANDEM_LANE_INLINE Field carried(const Vector* r) {
  const Vector mask = all(kLimbMask);
  Field o;
  o.v[0] = _mm512_madd52lo_epu64(_mm512_and_si512(r[0], mask), _mm512_srli_epi64(r[4], kLimbBits), all(19));
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) {
    o.v[i] = _mm512_add_epi64(_mm512_and_si512(r[i], mask), _mm512_srli_epi64(r[i - 1], kLimbBits));
  }
  return o;
}
TANDEM_LANE_INLINE Field carry(const Field& a) { return carried(a.v); }
TANDEM_LANE_INLINE Field carry(const Wide& a) { return carried(a.v); }
TANDEM_LANE_INLINE Wide widened(const Field& a) {
  Wide r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = a.v[i];
  return r;
}

// Ten columns of a product to five limbs: 2^255 = 19. Columns are below 2^55.
TANDEM_LANE_INLINE Wide folded(const Vector* z) {
  Wide r;
  TANDEM_UNROLL for (int k = 0; k < kLimbs; k++) {
    r.v[k] = _mm512_add_epi64(z[k], _mm512_mullo_epi64(z[k + kLimbs], all(19)));
  }
  return r;
}
TANDEM_LANE_INLINE Wide multiplyWide(const Field& a, const Field& b) {
  Vector low[9];
  Vector high[9];
  TANDEM_UNROLL for (int k = 0; k < 9; k++) low[k] = high[k] = _mm512_setzero_si512();
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    TANDEM_UNROLL for (int j = 0; j < kLimbs; j++) {
      low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.v[i], b.v[j]);
      high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.v[i], b.v[j]);
    }
  }
  // Upper halves have the weight 2^52: twice that of the next limb.
  Vector z[10];
  z[0] = low[0];
  TANDEM_UNROLL for (int k = 1; k < 9; k++) {
    z[k] = _mm512_add_epi64(low[k], _mm512_add_epi64(high[k - 1], high[k - 1]));
  }
  z[9] = _mm512_add_epi64(high[8], high[8]);
  return folded(z);
}
TANDEM_LANE_INLINE Wide squareWide(const Field& a) {
  const Vector none = _mm512_setzero_si512();
  Vector low[9];
  Vector high[9];
  Vector crossLow[9];
  Vector crossHigh[9];
  TANDEM_UNROLL for (int k = 0; k < 9; k++) low[k] = high[k] = crossLow[k] = crossHigh[k] = none;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    low[2 * i] = _mm512_madd52lo_epu64(none, a.v[i], a.v[i]);
    high[2 * i] = _mm512_madd52hi_epu64(none, a.v[i], a.v[i]);
    TANDEM_UNROLL for (int j = i + 1; j < kLimbs; j++) {
      crossLow[i + j] = _mm512_madd52lo_epu64(crossLow[i + j], a.v[i], a.v[j]);
      crossHigh[i + j] = _mm512_madd52hi_epu64(crossHigh[i + j], a.v[i], a.v[j]);
    }
  }
  Vector z[10];
  z[0] = low[0];
  TANDEM_UNROLL for (int k = 1; k < 9; k++) {
    Vector twice = _mm512_add_epi64(high[k - 1], _mm512_add_epi64(crossHigh[k - 1], crossHigh[k - 1]));
    twice = _mm512_add_epi64(twice, crossLow[k]);
    z[k] = _mm512_add_epi64(low[k], _mm512_add_epi64(twice, twice));
  }
  z[9] = _mm512_add_epi64(high[8], high[8]);
  return folded(z);
}
TANDEM_LANE_INLINE Field multiply(const Field& a, const Field& b) { return carry(multiplyWide(a, b)); }
TANDEM_LANE_INLINE Field square(const Field& a) { return carry(squareWide(a)); }

TANDEM_LANE_INLINE Field add(const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm512_add_epi64(a.v[i], b.v[i]);
  return carry(r);
}
// b - a + 2^shift p, before the carry.
template <int shift>
TANDEM_LANE_INLINE Vector difference(Vector b, Vector a, int limb) {
  const Vector multiple = all((limb == 0 ? kPrimeLow : kLimbMask) << shift);
  return _mm512_sub_epi64(_mm512_add_epi64(b, multiple), a);
}
TANDEM_LANE_INLINE Field subtract(const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = difference<3>(a.v[i], b.v[i], i);
  return carry(r);
}
// b + a and b - a. 2^11 p keeps differences of wide products positive.
TANDEM_LANE_INLINE void sumAndDifference(const Wide& a, const Wide& b, Field& sum, Field& less) {
  Vector s[kLimbs];
  Vector d[kLimbs];
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    s[i] = _mm512_add_epi64(b.v[i], a.v[i]);
    d[i] = difference<11>(b.v[i], a.v[i], i);
  }
  sum = carried(s);
  less = carried(d);
}
// g = 2 p and f = 4 zz - 2 p: below 2^62 + 2^62.
TANDEM_LANE_INLINE void doublingParts(const Wide& p, const Wide& zz, Field& g, Field& f) {
  Vector s[kLimbs];
  Vector d[kLimbs];
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    s[i] = _mm512_add_epi64(p.v[i], p.v[i]);
    d[i] = difference<11>(_mm512_slli_epi64(zz.v[i], 2), s[i], i);
  }
  g = carried(s);
  f = carried(d);
}

TANDEM_LANE_INLINE Mask maskFromBits(std::uint32_t bits) { return static_cast<Mask>(bits); }
TANDEM_LANE_INLINE std::uint32_t bitsFromMask(Mask mask) { return mask; }
TANDEM_LANE_INLINE Field select(Mask takeB, const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = _mm512_mask_blend_epi64(takeB, a.v[i], b.v[i]);
  return r;
}
// sum | (a & mask), the same mask in every lane.
TANDEM_LANE_INLINE Field orMasked(const Field& sum, const Field& a, std::uint64_t mask) {
  const Vector m = all(mask);
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) { r.v[i] = _mm512_ternarylogic_epi64(sum.v[i], a.v[i], m, 0xf8); }
  return r;
}

// The representative below p, as limbs of exactly 51 bits.
TANDEM_LANE_INLINE void ripple(Vector* v) {
  TANDEM_UNROLL for (int i = 0; i < 4; i++) {
    v[i + 1] = _mm512_add_epi64(v[i + 1], _mm512_srli_epi64(v[i], kLimbBits));
    v[i] = _mm512_and_si512(v[i], all(kLimbMask));
  }
}
TANDEM_LANE_INLINE Field canonical(Field a) {
  const Vector mask = all(kLimbMask);
  const Vector k19 = all(19);
  TANDEM_UNROLL for (int round = 0; round < 2; round++) {
    ripple(a.v);
    a.v[0] = _mm512_madd52lo_epu64(a.v[0], _mm512_srli_epi64(a.v[4], kLimbBits), k19);
    a.v[4] = _mm512_and_si512(a.v[4], mask);
  }
  ripple(a.v);
  Vector quotient = _mm512_srli_epi64(_mm512_add_epi64(a.v[0], k19), kLimbBits);
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) {
    quotient = _mm512_srli_epi64(_mm512_add_epi64(a.v[i], quotient), kLimbBits);
  }
  a.v[0] = _mm512_madd52lo_epu64(a.v[0], quotient, k19);
  ripple(a.v);
  a.v[4] = _mm512_and_si512(a.v[4], mask);
  return a;
}
TANDEM_LANE_INLINE void storeCanonical(const Field& a, std::uint64_t* limbs) { store(canonical(a), limbs); }
TANDEM_LANE_CALL Mask isZero(const Field& a) {
  const Field c = canonical(a);
  const Vector low = _mm512_or_si512(_mm512_or_si512(c.v[0], c.v[1]), c.v[2]);
  const Vector any = _mm512_or_si512(low, _mm512_or_si512(c.v[3], c.v[4]));
  return _mm512_testn_epi64_mask(any, any);
}
TANDEM_LANE_CALL Mask isOdd(const Field& a) { return _mm512_test_epi64_mask(canonical(a).v[0], all(1)); }

TANDEM_LANE_INLINE void transpose(Vector* r) {
  Vector t[8];
  Vector u[8];
  TANDEM_UNROLL for (int i = 0; i < 8; i += 2) {
    t[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
  }
  TANDEM_UNROLL for (int i = 0; i < 2; i++) {
    TANDEM_UNROLL for (int h = 0; h < 8; h += 4) {
      u[i + h] = _mm512_shuffle_i64x2(t[i + h], t[i + 2 + h], 0x88);
      u[i + 2 + h] = _mm512_shuffle_i64x2(t[i + h], t[i + 2 + h], 0xdd);
    }
  }
  TANDEM_UNROLL for (int i = 0; i < 4; i++) {
    r[i] = _mm512_shuffle_i64x2(u[i], u[i + 4], 0x88);
    r[i + 4] = _mm512_shuffle_i64x2(u[i], u[i + 4], 0xdd);
  }
}
// The three parts of one stored addend per lane.
TANDEM_LANE_INLINE void gather(const StoredAddend* const* from, Field& m, Field& s, Field& t) {
  Vector a[8];
  Vector b[8];
  TANDEM_UNROLL for (int i = 0; i < 8; i++) {
    a[i] = _mm512_loadu_si512(from[i]->limbs);
    b[i] = _mm512_loadu_si512(from[i]->limbs + 8);
  }
  transpose(a);
  transpose(b);
  TANDEM_UNROLL for (int i = 0; i < 5; i++) m.v[i] = a[i];
  TANDEM_UNROLL for (int i = 0; i < 3; i++) s.v[i] = a[5 + i];
  TANDEM_UNROLL for (int i = 0; i < 2; i++) s.v[3 + i] = b[i];
  TANDEM_UNROLL for (int i = 0; i < 5; i++) t.v[i] = b[2 + i];
}

// One of kEntries multiples per lane, by permutations of registers: no address depends on a digit.
struct Choice {
  Vector index;
  Mask upper;
  Mask isZero;
  Mask isNegative;
};
TANDEM_LANE_INLINE Choice chosen(const std::int64_t* digits) {
  const Vector digit = _mm512_loadu_si512(digits);
  Choice choice;
  choice.index = _mm512_sub_epi64(_mm512_abs_epi64(digit), all(1));
  choice.upper = _mm512_test_epi64_mask(choice.index, all(16));
  choice.isZero = _mm512_testn_epi64_mask(digit, digit);
  choice.isNegative = _mm512_movepi64_mask(digit);
  return choice;
}
TANDEM_LANE_INLINE Field picked(const std::uint64_t* entries, const Choice& choice, const Field& neutral) {
  static_assert(kEntries == 32, "four registers");
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    const std::uint64_t* row = entries + i * kEntries;
    const Vector low = _mm512_permutex2var_epi64(_mm512_loadu_si512(row), choice.index, _mm512_loadu_si512(row + 8));
    const Vector high =
        _mm512_permutex2var_epi64(_mm512_loadu_si512(row + 16), choice.index, _mm512_loadu_si512(row + 24));
    const Vector value = _mm512_mask_blend_epi64(choice.upper, low, high);
    r.v[i] = _mm512_mask_blend_epi64(choice.isZero, value, neutral.v[i]);
  }
  return r;
}

}  // namespace ifma
}  // namespace curve
}  // namespace tandem
