// Points in lanes, over the field of the kernel that includes this. Compiled once per kernel, in a namespace of its own
// and for its own instructions. Hence no #pragma once.

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

// A sum, as StoredPoint; what is added, as StoredAddend; and what is added without having been normalised: Y - X,
// Y + X, 2 Z, 2 d T.
struct Point {
  Field m, s, z, t;
};
struct Addend {
  Field m, s, t;
};
struct Multiple {
  Field m, s, z, t;
};

TANDEM_LANE_CALL Field product(const Field& a, const Field& b) { return multiply(a, b); }

TANDEM_LANE_INLINE Point neutralPoint() { return {everywhere(kOne), everywhere(kOne), everywhere(kOne), zero()}; }
TANDEM_LANE_INLINE Addend neutralAddend() { return {everywhere(kHalf), everywhere(kHalf), zero()}; }

TANDEM_LANE_INLINE Point completed(const Field& e, const Field& f, const Field& g, const Field& h) {
  Point r;
  sumAndDifference(multiplyWide(e, f), multiplyWide(g, h), r.s, r.m);
  r.z = multiply(f, g);
  r.t = multiply(e, h);
  return r;
}
// 7 products.
TANDEM_LANE_INLINE Point plus(const Point& a, const Addend& b) {
  Field e, f, g, h;
  sumAndDifference(multiplyWide(a.m, b.m), multiplyWide(a.s, b.s), h, e);
  sumAndDifference(multiplyWide(a.t, b.t), widened(a.z), g, f);
  return completed(e, f, g, h);
}
TANDEM_LANE_CALL Point sumOf(const Point& a, const Addend& b) { return plus(a, b); }
// The same with -b in the lanes of `isNegative`.
TANDEM_LANE_INLINE Point plusSigned(const Point& a, const Addend& b, Mask isNegative) {
  Field e, f, g, h;
  const Field m = select(isNegative, b.m, b.s);
  const Field s = select(isNegative, b.s, b.m);
  sumAndDifference(multiplyWide(a.m, m), multiplyWide(a.s, s), h, e);
  sumAndDifference(multiplyWide(a.t, b.t), widened(a.z), g, f);
  return completed(e, select(isNegative, f, g), select(isNegative, g, f), h);
}
// 8 products.
TANDEM_LANE_INLINE Point plusSigned(const Point& a, const Multiple& b, Mask isNegative) {
  Field e, f, g, h;
  const Field m = select(isNegative, b.m, b.s);
  const Field s = select(isNegative, b.s, b.m);
  sumAndDifference(multiplyWide(a.m, m), multiplyWide(a.s, s), h, e);
  sumAndDifference(multiplyWide(a.t, b.t), multiplyWide(a.z, b.z), g, f);
  return completed(e, select(isNegative, f, g), select(isNegative, g, f), h);
}
TANDEM_LANE_CALL Multiple multipleOf(const Point& a) {
  return {a.m, a.s, add(a.z, a.z), product(a.t, everywhere(kTwiceD))};
}
TANDEM_LANE_CALL Point sumOf(const Point& a, const Point& b) {
  Field e, f, g, h;
  const Multiple c = multipleOf(b);
  sumAndDifference(multiplyWide(a.m, c.m), multiplyWide(a.s, c.s), h, e);
  sumAndDifference(multiplyWide(a.t, c.t), multiplyWide(a.z, c.z), g, f);
  return completed(e, f, g, h);
}
// 3 squares and 5 products; without T, which only an addition reads, 4.
template <bool withT>
TANDEM_LANE_INLINE Point doubled(const Point& a) {
  Field e, f, g, h;
  Point r;
  sumAndDifference(squareWide(a.m), squareWide(a.s), h, e);
  doublingParts(multiplyWide(a.m, a.s), squareWide(a.z), g, f);
  sumAndDifference(multiplyWide(e, f), multiplyWide(g, h), r.s, r.m);
  r.z = multiply(f, g);
  r.t = withT ? multiply(e, h) : a.t;
  return r;
}
TANDEM_LANE_CALL Point twice(const Point& a) { return doubled<true>(a); }
TANDEM_LANE_INLINE Point timesEight(const Point& a) { return twice(twice(twice(a))); }
TANDEM_LANE_INLINE Point select(Mask takeB, const Point& a, const Point& b) {
  return {select(takeB, a.m, b.m), select(takeB, a.s, b.s), select(takeB, a.z, b.z), select(takeB, a.t, b.t)};
}
TANDEM_LANE_INLINE Point pointOf(const Addend& a) { return sumOf(neutralPoint(), a); }

// ---- memory: one element per lane ----

using Lanes = std::uint64_t[kLimbs * kLanes];

TANDEM_LANE_INLINE Field loadLanes(const std::uint64_t* const* from, std::size_t offset) {
  Lanes limbs;
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    TANDEM_UNROLL for (std::size_t i = 0; i < kLimbs; i++) limbs[i * kLanes + lane] = from[lane][offset + i];
  }
  return load(limbs);
}
TANDEM_LANE_INLINE void storeLanes(const Field& a, std::uint64_t* const* to, std::size_t offset, std::size_t count) {
  Lanes limbs;
  store(a, limbs);
  for (std::size_t lane = 0; lane < count; lane++) {
    TANDEM_UNROLL for (std::size_t i = 0; i < kLimbs; i++) to[lane][offset + i] = limbs[i * kLanes + lane];
  }
}
// Of the first `count` lanes; the others are neutral.
TANDEM_LANE_CALL Point loadPoints(const StoredPoint* const* from, std::size_t count) {
  const std::uint64_t* limbs[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    limbs[lane] = lane < count ? from[lane]->limbs : kNeutralPoint.limbs;
  }
  return {loadLanes(limbs, 0), loadLanes(limbs, kLimbs), loadLanes(limbs, 2 * kLimbs), loadLanes(limbs, 3 * kLimbs)};
}
TANDEM_LANE_CALL Point loadPoints(const StoredPoint* from, std::size_t count) {
  const StoredPoint* pointers[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) pointers[lane] = lane < count ? from + lane : &kNeutralPoint;
  return loadPoints(pointers, count);
}
TANDEM_LANE_CALL void storePoints(const Point& a, StoredPoint* const* to, std::size_t count) {
  std::uint64_t* limbs[kLanes] = {nullptr};
  for (std::size_t lane = 0; lane < count; lane++) limbs[lane] = to[lane]->limbs;
  storeLanes(a.m, limbs, 0, count);
  storeLanes(a.s, limbs, kLimbs, count);
  storeLanes(a.z, limbs, 2 * kLimbs, count);
  storeLanes(a.t, limbs, 3 * kLimbs, count);
}
TANDEM_LANE_CALL void storePoints(const Point& a, StoredPoint* to, std::size_t count) {
  StoredPoint* pointers[kLanes] = {nullptr};
  for (std::size_t lane = 0; lane < count; lane++) pointers[lane] = to + lane;
  storePoints(a, pointers, count);
}
TANDEM_LANE_INLINE Addend loadAddends(const StoredAddend* const* from) {
  Addend r;
  gather(from, r.m, r.s, r.t);
  return r;
}
TANDEM_LANE_CALL void storeAddends(const Addend& a, StoredAddend* to, std::size_t count) {
  std::uint64_t* limbs[kLanes] = {nullptr};
  for (std::size_t lane = 0; lane < count; lane++) {
    limbs[lane] = to[lane].limbs;
    to[lane].limbs[3 * kLimbs] = 0;
  }
  storeLanes(a.m, limbs, 0, count);
  storeLanes(a.s, limbs, kLimbs, count);
  storeLanes(a.t, limbs, 2 * kLimbs, count);
}

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
