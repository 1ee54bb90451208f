// Points as 32 bytes, in lanes: y, and the sign of x in the highest bit (RFC 8032). Not valid are y >= p, y without x,
// and x = 0 with a sign. See lane-points.h.

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

inline void readLimbs(const std::uint8_t* bytes, std::uint64_t* limbs) {
  std::uint64_t w[4];
  std::memcpy(w, bytes, kPointBytes);
  limbs[0] = w[0] & kLimbMask;
  limbs[1] = (w[0] >> 51 | w[1] << 13) & kLimbMask;
  limbs[2] = (w[1] >> 38 | w[2] << 26) & kLimbMask;
  limbs[3] = (w[2] >> 25 | w[3] << 39) & kLimbMask;
  limbs[4] = (w[3] >> 12) & kLimbMask;  // without the sign
}
inline void writeLimbs(const std::uint64_t* limbs, std::uint64_t sign, std::uint8_t* bytes) {
  const std::uint64_t w[4] = {limbs[0] | limbs[1] << 51, limbs[1] >> 13 | limbs[2] << 38,
                              limbs[2] >> 26 | limbs[3] << 25, limbs[3] >> 39 | limbs[4] << 12 | sign << 63};
  std::memcpy(bytes, w, kPointBytes);
}
inline bool isBelowPrime(const std::uint64_t* l) {
  return !(l[4] == kLimbMask && l[3] == kLimbMask && l[2] == kLimbMask && l[1] == kLimbMask && l[0] >= kPrimeLow);
}

// kLanes encodings each, of `chains` vectors. A bit per lane in `valid`.
template <std::size_t chains>
TANDEM_LANE_CALL void decodeLanes(const std::uint8_t* const* encodings, Addend* addends, std::uint32_t* valid) {
  Field y[chains], u[chains], v[chains], uv3[chains], uv7[chains], power[chains], unused[chains];
  std::uint32_t signs[chains];
  for (std::size_t n = 0; n < chains; n++) {
    Lanes lanes;
    signs[n] = valid[n] = 0;
    for (std::size_t lane = 0; lane < kLanes; lane++) {
      std::uint64_t limbs[kLimbs];
      const std::uint8_t* bytes = encodings[n * kLanes + lane];
      readLimbs(bytes, limbs);
      signs[n] |= static_cast<std::uint32_t>(bytes[31] >> 7) << lane;
      valid[n] |= static_cast<std::uint32_t>(isBelowPrime(limbs)) << lane;
      for (std::size_t i = 0; i < kLimbs; i++) lanes[i * kLanes + lane] = limbs[i];
    }
    y[n] = load(lanes);
    const Field yy = product(y[n], y[n]);
    u[n] = subtract(yy, everywhere(kOne));
    v[n] = add(product(yy, everywhere(kD)), everywhere(kOne));
    const Field vv = product(v[n], v[n]);
    uv3[n] = product(u[n], product(vv, v[n]));
    uv7[n] = product(uv3[n], product(vv, vv));
  }
  powers<chains>(uv7, power, unused);
  for (std::size_t n = 0; n < chains; n++) {
    // x = u v^3 (u v^7)^((p - 5) / 8) is a root of u/v or of -u/v, or there is none.
    Field fourthPower;
    squared<1>(&fourthPower, power + n, 2);
    Field x = product(uv3[n], product(fourthPower, uv7[n]));
    const Field vxx = product(v[n], product(x, x));
    const std::uint32_t plain = bitsFromMask(isZero(subtract(vxx, u[n])));
    const std::uint32_t turned = bitsFromMask(isZero(add(vxx, u[n])));
    x = select(maskFromBits(turned & ~plain), x, product(x, everywhere(kRootOfMinusOne)));
    const std::uint32_t flip = bitsFromMask(isOdd(x)) ^ signs[n];
    valid[n] &= (plain | turned) & ~(bitsFromMask(isZero(x)) & signs[n]);
    x = select(maskFromBits(flip), x, subtract(zero(), x));
    const Field half = everywhere(kHalf);
    addends[n].m = product(subtract(y[n], x), half);
    addends[n].s = product(add(y[n], x), half);
    addends[n].t = product(product(x, y[n]), everywhere(kD));
  }
}

// Encodings of count points, kLanes of them in each vector, with 1 / (2 Z); point i at encodings + i * stride.
TANDEM_LANE_CALL void writeEncodings(const Point* points, const Field* halfInverse, std::size_t count,
                                     std::uint8_t* encodings, std::size_t stride) {
  for (std::size_t n = 0; n * kLanes < count; n++) {
    Lanes x;
    Lanes y;
    storeCanonical(product(subtract(points[n].s, points[n].m), halfInverse[n]), x);
    storeCanonical(product(add(points[n].s, points[n].m), halfInverse[n]), y);
    for (std::size_t lane = 0; lane < kLanes && n * kLanes + lane < count; lane++) {
      std::uint64_t limbs[kLimbs];
      for (std::size_t i = 0; i < kLimbs; i++) limbs[i] = y[i * kLanes + lane];
      writeLimbs(limbs, x[lane] & 1, encodings + (n * kLanes + lane) * stride);
    }
  }
}
TANDEM_LANE inline void encodeLanes(const PointVectors& points, std::size_t count, std::uint8_t* encodings) {
  const Fields z = halfInverses(points.data(), points.size());
  writeEncodings(points.data(), z.data(), count, encodings, kPointBytes);
}

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
