// One element of the field of 2^255 - 19 in five limbs of 51 bits, for any 64-bit processor. Included by scalar.cpp
// only.
//
// Carried limbs are below 2^51 + 2^15. Sums and differences of two carried products are not carried, and the sums that
// doubling makes neither: limbs are then below 2^54.1, and a column of a product below 5 * 19 * 2^53.4 * 2^54.1 <
// 2^115.
//
// Constant-time: everything, with a multiplication instruction that is.
#pragma once

#include <cstring>

#include "kernel.h"

#define TANDEM_LANES scalar
#define TANDEM_LANE
#define TANDEM_LANE_INLINE inline __attribute__((always_inline))
#define TANDEM_LANE_LAMBDA __attribute__((always_inline))
// What is called often enough to matter for the size of the code, and seldom enough not to matter for its speed.
#define TANDEM_LANE_CALL inline __attribute__((noinline))
#define TANDEM_UNROLL _Pragma("GCC unroll 10")

namespace tandem {
namespace curve {
namespace scalar {

constexpr std::size_t kLanes = 1;
// Chains of squares that run side by side, since each square waits for the one before it.
constexpr std::size_t kChains = 2;

struct Field {
  std::uint64_t v[kLimbs];
};
using Wide = Field;
// All ones or zero.
using Mask = std::uint64_t;

TANDEM_LANE_INLINE Field everywhere(const std::uint64_t* limbs) {
  return {{limbs[0], limbs[1], limbs[2], limbs[3], limbs[4]}};
}
TANDEM_LANE_INLINE Field zero() { return {{0, 0, 0, 0, 0}}; }
TANDEM_LANE_INLINE Field load(const std::uint64_t* limbs) { return everywhere(limbs); }
TANDEM_LANE_INLINE Field carry(const Field& a) {
  return {{(a.v[0] & kLimbMask) + 19 * (a.v[4] >> kLimbBits), (a.v[1] & kLimbMask) + (a.v[0] >> kLimbBits),
           (a.v[2] & kLimbMask) + (a.v[1] >> kLimbBits), (a.v[3] & kLimbMask) + (a.v[2] >> kLimbBits),
           (a.v[4] & kLimbMask) + (a.v[3] >> kLimbBits)}};
}
TANDEM_LANE_INLINE void store(const Field& a, std::uint64_t* limbs) {
  const Field c = carry(a);
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) limbs[i] = c.v[i];
}
TANDEM_LANE_INLINE Wide widened(const Field& a) { return a; }

// Columns of a product, each below 2^115; the last has no factor 19, so 19 times its carry is below 2^64.
TANDEM_LANE_INLINE Field folded(DoubleLimb r0, DoubleLimb r1, DoubleLimb r2, DoubleLimb r3, DoubleLimb r4) {
  Field o;
  r1 += static_cast<std::uint64_t>(r0 >> kLimbBits);
  o.v[0] = static_cast<std::uint64_t>(r0) & kLimbMask;
  r2 += static_cast<std::uint64_t>(r1 >> kLimbBits);
  o.v[1] = static_cast<std::uint64_t>(r1) & kLimbMask;
  r3 += static_cast<std::uint64_t>(r2 >> kLimbBits);
  o.v[2] = static_cast<std::uint64_t>(r2) & kLimbMask;
  r4 += static_cast<std::uint64_t>(r3 >> kLimbBits);
  o.v[3] = static_cast<std::uint64_t>(r3) & kLimbMask;
  o.v[4] = static_cast<std::uint64_t>(r4) & kLimbMask;
  o.v[0] += 19 * static_cast<std::uint64_t>(r4 >> kLimbBits);
  o.v[1] += o.v[0] >> kLimbBits;
  o.v[0] &= kLimbMask;
  return o;
}
TANDEM_LANE_INLINE DoubleLimb product(std::uint64_t a, std::uint64_t b) { return static_cast<DoubleLimb>(a) * b; }
TANDEM_LANE_INLINE Field multiply(const Field& a, const Field& b) {
  const std::uint64_t* x = a.v;
  const std::uint64_t* y = b.v;
  const std::uint64_t y1 = 19 * y[1];
  const std::uint64_t y2 = 19 * y[2];
  const std::uint64_t y3 = 19 * y[3];
  const std::uint64_t y4 = 19 * y[4];
  return folded(
      product(x[0], y[0]) + product(x[1], y4) + product(x[2], y3) + product(x[3], y2) + product(x[4], y1),
      product(x[0], y[1]) + product(x[1], y[0]) + product(x[2], y4) + product(x[3], y3) + product(x[4], y2),
      product(x[0], y[2]) + product(x[1], y[1]) + product(x[2], y[0]) + product(x[3], y4) + product(x[4], y3),
      product(x[0], y[3]) + product(x[1], y[2]) + product(x[2], y[1]) + product(x[3], y[0]) + product(x[4], y4),
      product(x[0], y[4]) + product(x[1], y[3]) + product(x[2], y[2]) + product(x[3], y[1]) + product(x[4], y[0]));
}
TANDEM_LANE_INLINE Field square(const Field& a) {
  const std::uint64_t* x = a.v;
  const std::uint64_t d0 = 2 * x[0];
  const std::uint64_t d1 = 2 * x[1];
  const std::uint64_t d2 = 2 * x[2];
  const std::uint64_t x3 = 19 * x[3];
  const std::uint64_t x4 = 19 * x[4];
  return folded(product(x[0], x[0]) + product(d1, x4) + product(d2, x3),
                product(d0, x[1]) + product(d2, x4) + product(x[3], x3),
                product(d0, x[2]) + product(x[1], x[1]) + product(2 * x[3], x4),
                product(d0, x[3]) + product(d1, x[2]) + product(x[4], x4),
                product(d0, x[4]) + product(d1, x[3]) + product(x[2], x[2]));
}
TANDEM_LANE_INLINE Wide multiplyWide(const Field& a, const Field& b) { return multiply(a, b); }
TANDEM_LANE_INLINE Wide squareWide(const Field& a) { return square(a); }

TANDEM_LANE_INLINE Field plus(const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = a.v[i] + b.v[i];
  return r;
}
// b - a + 2^shift p.
template <int shift>
TANDEM_LANE_INLINE Field difference(const Field& b, const Field& a) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) {
    r.v[i] = b.v[i] + ((i == 0 ? kPrimeLow : kLimbMask) << shift) - a.v[i];
  }
  return r;
}
TANDEM_LANE_INLINE Field add(const Field& a, const Field& b) { return carry(plus(a, b)); }
TANDEM_LANE_INLINE Field subtract(const Field& a, const Field& b) { return carry(difference<4>(a, b)); }
// b + a and b - a, of carried ones.
TANDEM_LANE_INLINE void sumAndDifference(const Wide& a, const Wide& b, Field& sum, Field& less) {
  sum = plus(a, b);
  less = difference<2>(b, a);
}
// g = 2 p and f = 4 zz - 2 p.
TANDEM_LANE_INLINE void doublingParts(const Wide& p, const Wide& zz, Field& g, Field& f) {
  g = plus(p, p);
  const Field twice = plus(zz, zz);
  f = difference<2>(plus(twice, twice), g);
}

TANDEM_LANE_INLINE Mask maskFromBits(std::uint32_t bits) { return std::uint64_t{0} - (bits & 1); }
TANDEM_LANE_INLINE std::uint32_t bitsFromMask(Mask mask) { return static_cast<std::uint32_t>(mask & 1); }
TANDEM_LANE_INLINE Field select(Mask takeB, const Field& a, const Field& b) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = a.v[i] ^ ((a.v[i] ^ b.v[i]) & takeB);
  return r;
}
// sum | (a & mask)
TANDEM_LANE_INLINE Field orMasked(const Field& sum, const Field& a, std::uint64_t mask) {
  Field r;
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) r.v[i] = sum.v[i] | (a.v[i] & mask);
  return r;
}

TANDEM_LANE_INLINE void ripple(std::uint64_t* v) {
  TANDEM_UNROLL for (int i = 0; i < 4; i++) {
    v[i + 1] += v[i] >> kLimbBits;
    v[i] &= kLimbMask;
  }
}
// The representative below p, as limbs of exactly 51 bits.
TANDEM_LANE_INLINE Field canonical(Field a) {
  TANDEM_UNROLL for (int round = 0; round < 2; round++) {
    ripple(a.v);
    a.v[0] += 19 * (a.v[4] >> kLimbBits);
    a.v[4] &= kLimbMask;
  }
  ripple(a.v);
  std::uint64_t quotient = (a.v[0] + 19) >> kLimbBits;
  TANDEM_UNROLL for (int i = 1; i < kLimbs; i++) quotient = (a.v[i] + quotient) >> kLimbBits;
  a.v[0] += 19 * quotient;
  ripple(a.v);
  a.v[4] &= kLimbMask;
  return a;
}
TANDEM_LANE_INLINE void storeCanonical(const Field& a, std::uint64_t* limbs) {
  const Field c = canonical(a);
  TANDEM_UNROLL for (int i = 0; i < kLimbs; i++) limbs[i] = c.v[i];
}
// All ones for 0; x below 2^63.
TANDEM_LANE_INLINE Mask isZeroWord(std::uint64_t x) { return std::uint64_t{0} - ((x - 1) >> 63); }
TANDEM_LANE_CALL Mask isZero(const Field& a) {
  const Field c = canonical(a);
  return isZeroWord(c.v[0] | c.v[1] | c.v[2] | c.v[3] | c.v[4]);
}
TANDEM_LANE_CALL Mask isOdd(const Field& a) { return std::uint64_t{0} - (canonical(a).v[0] & 1); }

TANDEM_LANE_INLINE void gather(const StoredAddend* const* from, Field& m, Field& s, Field& t) {
  m = everywhere(from[0]->limbs);
  s = everywhere(from[0]->limbs + kLimbs);
  t = everywhere(from[0]->limbs + 2 * kLimbs);
}

// One of kEntries multiples, by a scan of all of them: no address depends on a digit.
struct Choice {
  std::uint64_t masks[kEntries];
  Mask isZero;
  Mask isNegative;
};
TANDEM_LANE_INLINE Choice chosen(const std::int64_t* digits) {
  Choice choice;
  choice.isNegative = static_cast<std::uint64_t>(digits[0] >> 63);
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(digits[0]) ^ choice.isNegative) - choice.isNegative;
  choice.isZero = isZeroWord(magnitude);
  for (std::size_t e = 0; e < kEntries; e++) choice.masks[e] = isZeroWord(magnitude ^ (e + 1));
  return choice;
}
TANDEM_LANE_INLINE Field picked(const std::uint64_t* entries, const Choice& choice, const Field& neutral) {
  Field r;
  TANDEM_UNROLL for (std::size_t i = 0; i < kLimbs; i++) {
    const std::uint64_t* row = entries + i * kEntries;
    std::uint64_t value = neutral.v[i] & choice.isZero;
    for (std::size_t e = 0; e < kEntries; e++) value |= row[e] & choice.masks[e];
    r.v[i] = value;
  }
  return r;
}

}  // namespace scalar
}  // namespace curve
}  // namespace tandem
