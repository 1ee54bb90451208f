// Transforms in lanes. Included once per kernel, after lattice-lane-modulus.h.
//
// Two layers are done per pass over memory. Sums grow by at most p/2 per layer and are reduced in time: every value
// stays below 4p. The last two layers of a forward transform, where partners are two and one places apart, are done
// within registers, with roots laid out as they are needed there; likewise the first two on the way back.
//
// Constant-time: as the instructions are.

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

// Constants to multiply by, and each divided by the prime.
struct Roots {
  explicit Roots(std::size_t count) : value(count), ratio(count) {}
  void set(std::size_t at, double root, double prime) {
    value[at] = root;
    ratio[at] = root / prime;
  }
  Array<double> value;
  Array<double> ratio;
};

// The roots of one direction.
struct RootTables {
  RootTables(const Set& set, std::uint64_t root, std::uint64_t prime)
      : layers(set.degree), byTwo(set.degree / 2), byOne(set.degree / 2) {
    const std::vector<std::uint64_t> powers = reversedPowers(set, root, prime);
    const double p = static_cast<double>(prime);
    for (std::size_t i = 0; i < set.degree; i++) layers.set(i, balanced(powers[i], prime), p);
    for (std::size_t i = 0; i < set.degree / 2; i++) {
      byTwo.set(i, layers.value[set.degree / 4 + i / 2], p);
      const std::size_t swapped = (i & ~std::size_t{3}) + 2 * (i & 1) + (i >> 1 & 1);
      byOne.set(i, layers.value[set.degree / 2 + swapped], p);
    }
  }
  Roots layers;
  Roots byTwo;  // partners two places apart: every root twice
  Roots byOne;  // partners side by side: in the order 0, 2, 1, 3, which unpacking gives
};

template <typename V>
struct Root {
  TANDEM_LANE_INLINE Root(const Roots& roots, std::size_t at)
      : value(V::all(roots.value[at])), ratio(V::all(roots.ratio[at])) {}
  TANDEM_LANE_INLINE typename V::Doubles times(typename V::Doubles a, const Modulus<V>& modulus) const {
    return modulus.times(a, value, ratio);
  }
  typename V::Doubles value;
  typename V::Doubles ratio;
};

template <const Set& kSet>
class LaneTransform {
 public:
  explicit LaneTransform(std::uint64_t prime)
      : prime_(static_cast<double>(prime)),
        forward_(kSet, leastRoot(kSet, prime), prime),
        inverse_(kSet, lattice::inverse(leastRoot(kSet, prime), prime), prime) {}

  TANDEM_LANE void forward(double* x) const {
    std::size_t m = 1;
    std::size_t t = kSet.degree / 2;
    if (kSet.logDegree % 2 != 0) {
      forwardLayer(x, t);
      m = 2;
      t /= 2;
    }
    for (bool reduces = false; t >= 8; m *= 4, t /= 4, reduces = !reduces) {
      if (t / 2 >= Widest::kCount) {
        forwardPair<Widest>(x, m, t, reduces);
      } else {
        forwardPair<Four>(x, m, t, reduces);
      }
    }
    forwardTail(x);
  }

  TANDEM_LANE void inverse(double* x) const {
    inverseHead(x);
    for (std::size_t t = 8; t <= kSet.degree / 2; t *= 4) {
      const std::size_t m = kSet.degree / 2 / t;
      if (t / 2 >= Widest::kCount) {
        inversePair<Widest>(x, m, t);
      } else {
        inversePair<Four>(x, m, t);
      }
    }
    if (kSet.logDegree % 2 != 0) inverseLayer(x, kSet.degree / 2);
  }

 private:
  // The first layer, where the number of layers is odd.
  TANDEM_LANE void forwardLayer(double* x, std::size_t t) const {
    using V = Widest;
    const Modulus<V> modulus(prime_);
    const Root<V> root(forward_.layers, 1);
    for (std::size_t j = 0; j < t; j += V::kCount) {
      const auto a = V::load(x + j);
      const auto b = root.times(V::load(x + j + t), modulus);
      V::store(x + j, V::add(a, b));
      V::store(x + j + t, V::subtract(a, b));
    }
  }
  TANDEM_LANE void inverseLayer(double* x, std::size_t t) const {
    using V = Widest;
    const Modulus<V> modulus(prime_);
    const Root<V> root(inverse_.layers, 1);
    for (std::size_t j = 0; j < t; j += V::kCount) {
      const auto a = V::load(x + j);
      const auto b = V::load(x + j + t);
      V::store(x + j, modulus.reduced(V::add(a, b)));
      V::store(x + j + t, root.times(V::subtract(a, b), modulus));
    }
  }

  // Layers with partners t and t / 2 places apart.
  template <typename V>
  TANDEM_LANE void forwardPair(double* x, std::size_t m, std::size_t t, bool reduces) const {
    const Modulus<V> modulus(prime_);
    const std::size_t half = t / 2;
    for (std::size_t i = 0; i < m; i++) {
      const Root<V> root(forward_.layers, m + i);
      const Root<V> left(forward_.layers, 2 * (m + i));
      const Root<V> right(forward_.layers, 2 * (m + i) + 1);
      double* own = x + 2 * i * t;
      for (std::size_t j = 0; j < half; j += V::kCount) {
        const auto x0 = V::load(own + j);
        const auto x1 = V::load(own + j + half);
        const auto x2 = root.times(V::load(own + j + t), modulus);
        const auto x3 = root.times(V::load(own + j + t + half), modulus);
        auto y0 = V::add(x0, x2);
        auto y2 = V::subtract(x0, x2);
        const auto y1 = left.times(V::add(x1, x3), modulus);
        const auto y3 = right.times(V::subtract(x1, x3), modulus);
        if (reduces) {
          y0 = modulus.reduced(y0);
          y2 = modulus.reduced(y2);
        }
        V::store(own + j, V::add(y0, y1));
        V::store(own + j + half, V::subtract(y0, y1));
        V::store(own + j + t, V::add(y2, y3));
        V::store(own + j + t + half, V::subtract(y2, y3));
      }
    }
  }
  template <typename V>
  TANDEM_LANE void inversePair(double* x, std::size_t m, std::size_t t) const {
    const Modulus<V> modulus(prime_);
    const std::size_t half = t / 2;
    for (std::size_t i = 0; i < m; i++) {
      const Root<V> root(inverse_.layers, m + i);
      const Root<V> left(inverse_.layers, 2 * (m + i));
      const Root<V> right(inverse_.layers, 2 * (m + i) + 1);
      double* own = x + 2 * i * t;
      for (std::size_t j = 0; j < half; j += V::kCount) {
        const auto x0 = V::load(own + j);
        const auto x1 = V::load(own + j + half);
        const auto x2 = V::load(own + j + t);
        const auto x3 = V::load(own + j + t + half);
        const auto y0 = V::add(x0, x1);
        const auto y1 = left.times(V::subtract(x0, x1), modulus);
        const auto y2 = V::add(x2, x3);
        const auto y3 = right.times(V::subtract(x2, x3), modulus);
        V::store(own + j, modulus.reduced(V::add(y0, y2)));
        V::store(own + j + t, root.times(V::subtract(y0, y2), modulus));
        V::store(own + j + half, modulus.reduced(V::add(y1, y3)));
        V::store(own + j + t + half, root.times(V::subtract(y1, y3), modulus));
      }
    }
  }

  // Partners two places apart, then side by side.
  TANDEM_LANE void forwardTail(double* x) const {
    const Modulus<Four> modulus(prime_);
    for (std::size_t i = 0; i < kSet.degree; i += 8) {
      const __m256d v0 = Four::load(x + i);
      const __m256d v1 = Four::load(x + i + 4);
      const __m256d a = _mm256_permute2f128_pd(v0, v1, 0x20);
      const __m256d b = timesAt(_mm256_permute2f128_pd(v0, v1, 0x31), forward_.byTwo, i / 2, modulus);
      const __m256d sum = Four::add(a, b);
      const __m256d difference = Four::subtract(a, b);
      const __m256d w0 = _mm256_permute2f128_pd(sum, difference, 0x20);
      const __m256d w1 = _mm256_permute2f128_pd(sum, difference, 0x31);
      const __m256d c = modulus.reduced(_mm256_unpacklo_pd(w0, w1));
      const __m256d d = timesAt(_mm256_unpackhi_pd(w0, w1), forward_.byOne, i / 2, modulus);
      const __m256d even = modulus.reduced(Four::add(c, d));
      const __m256d odd = modulus.reduced(Four::subtract(c, d));
      Four::store(x + i, _mm256_unpacklo_pd(even, odd));
      Four::store(x + i + 4, _mm256_unpackhi_pd(even, odd));
    }
  }
  TANDEM_LANE void inverseHead(double* x) const {
    const Modulus<Four> modulus(prime_);
    for (std::size_t i = 0; i < kSet.degree; i += 8) {
      const __m256d v0 = Four::load(x + i);
      const __m256d v1 = Four::load(x + i + 4);
      const __m256d even = _mm256_unpacklo_pd(v0, v1);
      const __m256d odd = _mm256_unpackhi_pd(v0, v1);
      const __m256d c = Four::add(even, odd);
      const __m256d d = timesAt(Four::subtract(even, odd), inverse_.byOne, i / 2, modulus);
      const __m256d w0 = _mm256_unpacklo_pd(c, d);
      const __m256d w1 = _mm256_unpackhi_pd(c, d);
      const __m256d a = _mm256_permute2f128_pd(w0, w1, 0x20);
      const __m256d b = _mm256_permute2f128_pd(w0, w1, 0x31);
      const __m256d sum = modulus.reduced(Four::add(a, b));
      const __m256d difference = timesAt(Four::subtract(a, b), inverse_.byTwo, i / 2, modulus);
      Four::store(x + i, _mm256_permute2f128_pd(sum, difference, 0x20));
      Four::store(x + i + 4, _mm256_permute2f128_pd(sum, difference, 0x31));
    }
  }
  TANDEM_LANE_INLINE static __m256d timesAt(__m256d a, const Roots& roots, std::size_t at,
                                            const Modulus<Four>& modulus) {
    return modulus.times(a, Four::load(roots.value.data() + at), Four::load(roots.ratio.data() + at));
  }

  double prime_;
  RootTables forward_;
  RootTables inverse_;
};

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
