// Residues modulo a 50-bit prime as whole numbers in doubles. Included once per kernel, hence no #pragma once.
//
// A product a b is h + l: h is it rounded, l = a b - h by FMA, both whole numbers. With the nearest whole number q to
// a b / p (or one next to it), a b - q p = (h - q p) + l. Both steps are exact, since all numbers are below 2^53. This
// holds for |a| < 4p and |b| <= p/2, and gives |result| < 0.6 p. A whole number nearest to x is
// x + 1.5 2^52 - 1.5 2^52. The compiler must not contract these sums itself: -ffp-contract=off.
//
// Constant-time: as the instructions are.

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

constexpr double kRounder = 6755399441055744.0;  // 1.5 2^52

template <typename V>
struct Modulus {
  using Doubles = typename V::Doubles;

  TANDEM_LANE_INLINE explicit Modulus(double p)
      : prime(V::all(p)), reciprocal(V::all(1 / p)), rounder(V::all(kRounder)) {}

  // a b for a constant b, of which ratio = b / p is known.
  TANDEM_LANE_INLINE Doubles times(Doubles a, Doubles b, Doubles ratio) const {
    const Doubles high = V::multiply(a, b);
    const Doubles quotient = V::subtract(V::plus(a, ratio, rounder), rounder);
    return V::add(V::from(quotient, prime, high), V::minus(a, b, high));
  }
  TANDEM_LANE_INLINE Doubles times(Doubles a, Doubles b) const {
    const Doubles high = V::multiply(a, b);
    const Doubles quotient = V::subtract(V::plus(high, reciprocal, rounder), rounder);
    return V::add(V::from(quotient, prime, high), V::minus(a, b, high));
  }
  TANDEM_LANE_INLINE Doubles reduced(Doubles a) const {
    return V::from(V::subtract(V::plus(a, reciprocal, rounder), rounder), prime, a);
  }

  Doubles prime;
  Doubles reciprocal;
  Doubles rounder;
};

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
