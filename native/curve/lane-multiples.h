// Multiples of points by secret scalars, in lanes. See lane-points.h.
//
// Constant-time: no branch and no address depends on a scalar.

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

// sum + x P of the table of P, for one x per lane in digits: digits[w * kLanes + lane].
TANDEM_LANE_CALL Point plusDigits(const FixedTable& table, const std::int64_t* digits, Point sum, int windows) {
  for (int w = 0; w < windows; w++) {
    const std::uint64_t* entries = table.data() + static_cast<std::size_t>(w) * 3 * kLimbs * kEntries;
    const Choice choice = chosen(digits + static_cast<std::size_t>(w) * kLanes);
    Addend addend;
    addend.m = picked(entries, choice, everywhere(kHalf));
    addend.s = picked(entries + kLimbs * kEntries, choice, everywhere(kHalf));
    addend.t = picked(entries + 2 * kLimbs * kEntries, choice, zero());
    sum = plusSigned(sum, addend, choice.isNegative);
  }
  return sum;
}
TANDEM_LANE_CALL Point plusFixed(const FixedTable& table, const Scalar* scalars, const Point& sum) {
  std::int64_t digits[kWindows * kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    std::int8_t own[kWindows];
    signedDigits<kWindowBits, kWindows>(scalars[lane], own);
    for (std::size_t w = 0; w < kWindows; w++) digits[w * kLanes + lane] = own[w];
  }
  const Point result = plusDigits(table, digits, sum, kWindows);
  wipe(digits, sizeof digits);
  return result;
}
// The same for magnitudes below 2^46, which have few digits.
TANDEM_LANE_CALL Point plusShort(const FixedTable& table, const std::int64_t* values, const Point& sum) {
  std::int64_t digits[kShortWindows * kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    const std::int64_t sign = values[lane] >> 63;
    std::int8_t own[kShortWindows];
    signedDigits<kWindowBits, kShortWindows>({{static_cast<std::uint64_t>((values[lane] ^ sign) - sign), 0, 0, 0}},
                                             own);
    for (std::size_t w = 0; w < kShortWindows; w++) digits[w * kLanes + lane] = (own[w] ^ sign) - sign;
  }
  return plusDigits(table, digits, sum, kShortWindows);
}

// The table of one point: lane after lane holds 2^(6 w) times the point.
TANDEM_LANE_CALL FixedTable fixedTable(const StoredAddend& point) {
  constexpr std::size_t groups = (kWindows + kLanes - 1) / kLanes;
  const StoredAddend* pointers[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) pointers[lane] = &point;
  Points starts(groups * kLanes, kNeutralPoint);
  Point power = pointOf(loadAddends(pointers));
  for (int w = 0; w < kWindows; w++) {
    storePoints(power, &starts[static_cast<std::size_t>(w)], 1);
    for (int i = 0; i < kWindowBits; i++) power = twice(power);
  }
  FixedTable table(static_cast<std::size_t>(kWindows) * 3 * kLimbs * kEntries);
  PointVectors multiples(kEntries);
  AddendVectors addends(kEntries);
  for (std::size_t g = 0; g < groups; g++) {
    multiples[0] = loadPoints(&starts[g * kLanes], kLanes);
    for (std::size_t e = 1; e < kEntries; e++) multiples[e] = sumOf(multiples[e - 1], multiples[0]);
    normalise(multiples.data(), addends.data(), kEntries);
    for (std::size_t e = 0; e < kEntries; e++) {
      StoredAddend stored[kLanes];
      storeAddends(addends[e], stored, kLanes);
      for (std::size_t lane = 0; lane < kLanes && g * kLanes + lane < kWindows; lane++) {
        std::uint64_t* rows = table.data() + (g * kLanes + lane) * 3 * kLimbs * kEntries;
        for (std::size_t i = 0; i < 3 * kLimbs; i++) rows[i * kEntries + e] = stored[lane].limbs[i];
      }
    }
  }
  return table;
}

// Multiples 1 to 16 of a point per lane: every lane is multiplied by the same scalar, whose digit is picked by a scan.
class CommonMultiples {
 public:
  static constexpr int kDigitBits = 5;
  static constexpr int kDigits = 51;

  TANDEM_LANE explicit CommonMultiples(const Addend& addend) {
    Point sum = pointOf(addend);
    of_[0] = multipleOf(sum);
    for (std::size_t i = 1; i < kCount; i++) {
      sum = sumOf(sum, addend);
      of_[i] = multipleOf(sum);
    }
  }
  TANDEM_LANE Point times(const Scalar& scalar) const {
    std::int8_t digits[kDigits];
    signedDigits<kDigitBits, kDigits>(scalar, digits);
    Point sum = neutralPoint();
    for (int w = kDigits - 1; w >= 0; w--) {
      for (int i = 1; i < kDigitBits; i++) sum = doubled<false>(sum);
      sum = doubled<true>(sum);
      sum = plusDigit(sum, digits[w]);
    }
    wipe(digits, sizeof digits);
    return sum;
  }

 private:
  static constexpr std::size_t kCount = 16;

  TANDEM_LANE_INLINE Point plusDigit(const Point& sum, std::int64_t digit) const {
    const std::uint64_t negative = static_cast<std::uint64_t>(digit >> 63);
    const std::uint64_t magnitude = (static_cast<std::uint64_t>(digit) ^ negative) - negative;
    Multiple picked = {zero(), zero(), zero(), zero()};
    for (std::size_t i = 0; i < kCount; i++) {
      const std::uint64_t mask = equalMask(magnitude, i + 1);
      picked.m = orMasked(picked.m, of_[i].m, mask);
      picked.s = orMasked(picked.s, of_[i].s, mask);
      picked.z = orMasked(picked.z, of_[i].z, mask);
      picked.t = orMasked(picked.t, of_[i].t, mask);
    }
    const std::uint64_t none = equalMask(magnitude, 0);
    const Field one = everywhere(kOne);
    picked.m = orMasked(picked.m, one, none);
    picked.s = orMasked(picked.s, one, none);
    picked.z = orMasked(picked.z, add(one, one), none);
    return plusSigned(sum, picked, maskFromBits(static_cast<std::uint32_t>(negative)));
  }
  static std::uint64_t equalMask(std::uint64_t a, std::uint64_t b) { return std::uint64_t{0} - (((a ^ b) - 1) >> 63); }

  Multiple of_[kCount];
};

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
