// Logarithms in lanes (logarithms.h). See lane-points.h.

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

// sum + v P = sum + 64 v B of one number below 2^40 per lane.
TANDEM_LANE_CALL Point plusLogarithms(const FixedTable& base, const std::int64_t* values, const Point& sum) {
  std::int64_t multiples[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) multiples[lane] = 64 * values[lane];
  return plusShort(base, multiples, sum);
}

// Calls use(i, addend) for the vectors of unit P, 2 unit P, ..., from first * unit P on: kLanes in each.
template <typename Use>
TANDEM_LANE inline void eachMultiple(const FixedTable& base, std::uint64_t unit, std::uint64_t first, std::size_t count,
                                     const Use& use) {
  constexpr std::size_t batch = 256;
  std::int64_t values[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) values[lane] = static_cast<std::int64_t>((first + lane) * unit);
  Point run = plusLogarithms(base, values, neutralPoint());
  for (std::size_t lane = 0; lane < kLanes; lane++) values[lane] = static_cast<std::int64_t>(kLanes * unit);
  const Point step = plusLogarithms(base, values, neutralPoint());
  Addend stepAddend;
  normalise(&step, &stepAddend, 1);
  PointVectors points(batch);
  AddendVectors addends(batch);
  const std::size_t vectors = (count + kLanes - 1) / kLanes;
  for (std::size_t begin = 0; begin < vectors; begin += batch) {
    const std::size_t n = std::min(batch, vectors - begin);
    for (std::size_t i = 0; i < n; i++) {
      points[i] = run;
      run = sumOf(run, stepAddend);
    }
    normalise(points.data(), addends.data(), n);
    for (std::size_t i = 0; i < n; i++) use(begin + i, addends[i]);
  }
}

class Search {
 public:
  TANDEM_LANE Search(const FixedTable& base, const Logarithms& table, const Addend& point, std::size_t count)
      : base_(base), table_(table), point_(point), count_(count) {}

  TANDEM_LANE void run(const double* bounds, double* found) {
    std::uint64_t steps = 0;
    for (std::size_t lane = 0; lane < count_; lane++) {
      steps = std::max(steps, table_.steps(static_cast<std::uint64_t>(bounds[lane])));
      found[lane] = std::numeric_limits<double>::quiet_NaN();
    }
    Entry own;
    own.set(add(point_.s, point_.m));
    look(own, 0);
    giantSteps(steps);
    // y leaves the sign open, and a table has a part of y only: guesses are computed and compared, two at least.
    std::size_t most = 2;
    for (std::size_t lane = 0; lane < count_; lane++) most = std::max(most, guesses_[lane].size());
    for (std::size_t k = 0; k < most; k++) verify(k, bounds, found);
  }

 private:
  static constexpr std::size_t kBatch = 64;

  struct Entry {
    Lanes limbs;
    TANDEM_LANE void set(const Field& y) { storeCanonical(y, limbs); }
    std::uint64_t limb0(std::size_t lane) const { return limbs[lane]; }
    std::uint64_t limb1(std::size_t lane) const { return limbs[kLanes + lane]; }
  };

  void look(const Entry& y, std::int64_t shift) {
    for (std::size_t lane = 0; lane < count_; lane++) {
      table_.look(y.limb0(lane), y.limb1(lane), [&](std::uint32_t k) {
        guesses_[lane].push_back(shift + k);
        guesses_[lane].push_back(shift - k);
      });
    }
  }

  TANDEM_LANE void giantSteps(std::uint64_t steps) {
    const Field x1 = subtract(point_.s, point_.m);
    const Field y1 = add(point_.s, point_.m);
    const Field xy = product(x1, y1);
    const Field one = everywhere(kOne);
    Field numerators[2 * kBatch];
    Field denominators[2 * kBatch];
    Field scratch[2 * kBatch];
    Entry entries[2 * kBatch];
    for (std::size_t begin = 0; begin < steps; begin += kBatch) {
      const std::size_t n = std::min<std::size_t>(kBatch, steps - begin);
      for (std::size_t j = 0; j < n; j++) {
        const Logarithms::Giant& giant = table_.giants()[begin + j];
        const Wide xx = multiplyWide(x1, everywhere(giant.x));
        sumAndDifference(xx, multiplyWide(y1, everywhere(giant.y)), numerators[2 * j], numerators[2 * j + 1]);
        const Wide product = multiplyWide(xy, everywhere(giant.dxy));
        sumAndDifference(product, widened(one), denominators[2 * j + 1], denominators[2 * j]);
      }
      invertAll(denominators, 2 * n, scratch);
      for (std::size_t i = 0; i < 2 * n; i++) {
        entries[i].set(product(numerators[i], denominators[i]));
        for (std::size_t lane = 0; lane < count_; lane++) __builtin_prefetch(table_.address(entries[i].limb0(lane)));
      }
      for (std::size_t j = 0; j < n; j++) {
        const std::int64_t shift = static_cast<std::int64_t>((begin + j + 1) * table_.stride());
        look(entries[2 * j], -shift);
        look(entries[2 * j + 1], shift);
      }
    }
  }

  TANDEM_LANE void verify(std::size_t k, const double* bounds, double* found) const {
    std::int64_t values[kLanes] = {0};
    for (std::size_t lane = 0; lane < count_; lane++) {
      if (k < guesses_[lane].size()) values[lane] = guesses_[lane][k];
    }
    const Point v = plusLogarithms(base_, values, neutralPoint());
    const Field twice = add(v.z, v.z);
    const Field m = subtract(product(point_.m, twice), v.m);
    const Field s = subtract(product(point_.s, twice), v.s);
    const std::uint32_t same = bitsFromMask(isZero(m)) & bitsFromMask(isZero(s));
    for (std::size_t lane = 0; lane < count_; lane++) {
      if (k >= guesses_[lane].size() || (same >> lane & 1) == 0) continue;
      const double value = static_cast<double>(guesses_[lane][k]);
      if (std::fabs(value) <= bounds[lane]) found[lane] = value;
    }
  }

  const FixedTable& base_;
  const Logarithms& table_;
  Addend point_;
  std::size_t count_;
  std::vector<std::int64_t> guesses_[kLanes];
};

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
