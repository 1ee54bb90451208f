// Inverses and roots in lanes. See lane-points.h.

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

using Fields = std::vector<Field, WipingAllocator<Field>>;
using PointVectors = std::vector<Point, WipingAllocator<Point>>;
using AddendVectors = std::vector<Addend, WipingAllocator<Addend>>;

template <std::size_t chains>
TANDEM_LANE_CALL void squared(Field* to, const Field* from, int times) {
  Field a[chains];
  TANDEM_UNROLL for (std::size_t i = 0; i < chains; i++) a[i] = from[i];
  for (int n = 0; n < times; n++) {
    TANDEM_UNROLL for (std::size_t i = 0; i < chains; i++) a[i] = square(a[i]);
  }
  TANDEM_UNROLL for (std::size_t i = 0; i < chains; i++) to[i] = a[i];
}
// a^(2^250 - 1) and a^11 of `chains` independent elements side by side.
template <std::size_t chains>
TANDEM_LANE_CALL void powers(const Field* a, Field* long250, Field* eleventh) {
  Field second[chains], ninth[chains], t[chains], five[chains], fifty[chains], u[chains];
  const auto squares = squared<chains>;
  const auto products = [](Field* to, const Field* p, const Field* q) TANDEM_LANE {
    for (std::size_t i = 0; i < chains; i++) to[i] = product(p[i], q[i]);
  };
  squares(second, a, 1);
  squares(t, second, 2);
  products(ninth, t, a);
  products(eleventh, ninth, second);
  squares(t, eleventh, 1);
  products(five, t, ninth);  // 2^5 - 1
  squares(t, five, 5);
  products(five, t, five);  // 2^10 - 1
  squares(t, five, 10);
  products(u, t, five);  // 2^20 - 1
  squares(t, u, 20);
  products(t, t, u);  // 2^40 - 1
  squares(t, t, 10);
  products(fifty, t, five);  // 2^50 - 1
  squares(t, fifty, 50);
  products(u, t, fifty);  // 2^100 - 1
  squares(t, u, 100);
  products(t, t, u);  // 2^200 - 1
  squares(t, t, 50);
  products(long250, t, fifty);
}
TANDEM_LANE_CALL Field inverse(const Field& a) {
  Field power;
  Field eleventh;
  powers<1>(&a, &power, &eleventh);
  squared<1>(&power, &power, 5);
  return product(power, eleventh);  // a^(p - 2)
}
// Replaces each by its inverse: three products each, and one inversion. None is 0: Z of a point on the curve is not.
TANDEM_LANE_CALL void invertAll(Field* a, std::size_t count, Field* scratch) {
  if (count == 0) return;
  Field product = a[0];
  for (std::size_t i = 1; i < count; i++) {
    scratch[i] = product;
    product = multiply(product, a[i]);
  }
  Field rest = inverse(product);
  for (std::size_t i = count - 1; i > 0; i--) {
    const Field own = multiply(rest, scratch[i]);
    rest = multiply(rest, a[i]);
    a[i] = own;
  }
  a[0] = rest;
}
// 1 / (2 Z) of each.
TANDEM_LANE_CALL Fields halfInverses(const Point* points, std::size_t count) {
  Fields z(count);
  Fields scratch(count);
  for (std::size_t i = 0; i < count; i++) z[i] = add(points[i].z, points[i].z);
  invertAll(z.data(), count, scratch.data());
  return z;
}
TANDEM_LANE_CALL Addend addendOf(const Point& a, const Field& halfInverse) {
  Addend r;
  r.m = multiply(a.m, halfInverse);
  r.s = multiply(a.s, halfInverse);
  r.t = multiply(multiply(add(r.s, r.m), subtract(r.s, r.m)), everywhere(kD));
  return r;
}
TANDEM_LANE_CALL void normalise(const Point* points, Addend* addends, std::size_t count) {
  const Fields z = halfInverses(points, count);
  for (std::size_t i = 0; i < count; i++) addends[i] = addendOf(points[i], z[i]);
}

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
