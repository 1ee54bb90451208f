// See montgomery.h.
#include "montgomery.h"

#include <stdexcept>

namespace tandem {

Modulus::Modulus(const Limb* value, std::size_t limbs, RowFunction rows)
    : limbs_(limbs),
      rows_(rows),
      negatedInverse_(negatedInverse(value[0])),
      value_(value, value + limbs),
      one_(limbs),
      rSquared_(limbs),
      rCubed_(limbs),
      plainOne_(limbs) {
  if (limbs == 0 || limbs > kLimbsMax || (value[0] & 1) == 0) throw std::invalid_argument("a modulus is odd");
  plainOne_[0] = 1;
  // Doubling 1 modulo N: R after 64 * limbs steps, R^2 after twice as many.
  Limbs power(plainOne_);
  Limbs reduced(limbs);
  for (std::size_t step = 0; step < 2 * kLimbBits * limbs; step++) {
    if (step == kLimbBits * limbs) one_ = power;
    const Limb carry = addLimbs(power.data(), power.data(), power.data(), limbs);
    const Limb borrow = subtractLimbs(reduced.data(), power.data(), value_.data(), limbs);
    const Limb keep = 0 - (borrow & ~carry & 1);
    for (std::size_t i = 0; i < limbs; i++) power[i] = (power[i] & keep) | (reduced[i] & ~keep);
  }
  rSquared_ = power;
  product(rCubed_.data(), rSquared_.data(), rSquared_.data());
}

void Modulus::product(Limb* result, const Limb* a, const Limb* b) const {
  Limb t[2 * kLimbsMax];
  if (a == b) {
    squareFull(rows_, t, a, limbs_);
  } else {
    multiplyFull(rows_, t, a, b, limbs_);
  }
  reduce(result, t);
}

void Modulus::reduce(Limb* result, Limb* t) const {
  const std::size_t limbs = limbs_;
  Limb carry = 0;
  for (std::size_t i = 0; i < limbs; i++) {
    const Limb rowCarry = rows_(t + i, value_.data(), limbs, t[i] * negatedInverse_);
    const DoubleLimb sum = static_cast<DoubleLimb>(t[i + limbs]) + rowCarry + carry;
    t[i + limbs] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
  // The value (carry, high half) is below 2 N: N is subtracted once or not at all, without a branch.
  const Limb* high = t + limbs;
  const Limb borrow = subtractLimbs(t, high, value_.data(), limbs);
  const Limb keep = 0 - (borrow & ~carry & 1);
  for (std::size_t i = 0; i < limbs; i++) result[i] = (high[i] & keep) | (t[i] & ~keep);
}

void Modulus::subtract(Limb* result, const Limb* a, const Limb* b) const {
  const Limb borrow = subtractLimbs(result, a, b, limbs_);
  addMasked(result, value_.data(), 0 - borrow, limbs_);
}

void Modulus::toMontgomeryWide(Limb* result, const Limb* a, std::size_t limbsOfA) const {
  if (limbsOfA > 2 * limbs_) throw std::invalid_argument("a wide value has at most twice the modulus's limbs");
  // a = low + high R, so a R = low R^2 R^-1 + high R^3 R^-1.
  Limb low[kLimbsMax] = {0};
  Limb high[kLimbsMax] = {0};
  const std::size_t lowLimbs = limbsOfA < limbs_ ? limbsOfA : limbs_;
  copyLimbs(low, a, lowLimbs);
  copyLimbs(high, a + lowLimbs, limbsOfA - lowLimbs);
  product(low, low, rSquared_.data());
  product(high, high, rCubed_.data());
  // low + high = low - (N - high) modulo N; high = 0 gives N - 0 = N, and low - N + N = low.
  subtractLimbs(high, value_.data(), high, limbs_);
  subtract(result, low, high);
}

bool Modulus::invert(Limb* result, const Limb* a) const {
  // Binary extended Euclid: u = x a and v = y a modulo N throughout; v ends as gcd(a, N).
  const std::size_t limbs = limbs_;
  Limbs u(a, a + limbs);
  Limbs v(value_);
  Limbs x(plainOne_);
  Limbs y(limbs);
  const auto halve = [&](Limbs& value, Limbs& coefficient) {
    shiftRightOne(value.data(), value.data(), 0, limbs);
    Limb carry = 0;
    if ((coefficient[0] & 1) != 0) carry = addLimbs(coefficient.data(), coefficient.data(), value_.data(), limbs);
    shiftRightOne(coefficient.data(), coefficient.data(), carry, limbs);
  };
  if (isZero(u.data(), limbs)) return false;
  while (!isZero(u.data(), limbs)) {
    while ((u[0] & 1) == 0) halve(u, x);
    while ((v[0] & 1) == 0) halve(v, y);
    if (compare(u.data(), v.data(), limbs) >= 0) {
      subtractLimbs(u.data(), u.data(), v.data(), limbs);
      subtract(x.data(), x.data(), y.data());
    } else {
      subtractLimbs(v.data(), v.data(), u.data(), limbs);
      subtract(y.data(), y.data(), x.data());
    }
  }
  if (compare(v.data(), plainOne_.data(), limbs) != 0) return false;
  // y = (a R)^-1; times R^3 R^-1 gives a^-1 R.
  product(result, y.data(), rCubed_.data());
  return true;
}

}  // namespace tandem
