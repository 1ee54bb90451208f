// Arithmetic modulo one odd number in Montgomery form (Montgomery, Math. Comp. 1985): x is held as x R mod N with
// R = 2^(64 limbs), and product(a, b) = a b R^-1 mod N, fully reduced. So every residue has one form only, and results
// do not depend on the order of operations.
//
// For single numbers: constants, the edges of batches, and the scalar kernels. Batches run on square-ring.h.
//
// Constant-time: product, subtract and the conversions branch and index on lengths and pointers only; the final
// subtraction is masked. The constructor is constant-time too. invert is variable-time: for public values only.
#pragma once

#include "limbs.h"

namespace tandem {

class Modulus {
 public:
  // `value` is odd and above 1; its top limb may be zero.
  Modulus(const Limb* value, std::size_t limbs, RowFunction rows);

  std::size_t limbs() const { return limbs_; }
  const Limb* value() const { return value_.data(); }
  // 1 in Montgomery form: R mod N.
  const Limb* one() const { return one_.data(); }

  RowFunction rows() const { return rows_; }
  // -N^-1 modulo 2^64.
  Limb negatedInverseOfValue() const { return negatedInverse_; }

  // result = a * b * R^-1. One factor is below N, the other below R. result may be a or b; a == b is squared.
  void product(Limb* result, const Limb* a, const Limb* b) const;

  // result = a - b mod N, both below N.
  void subtract(Limb* result, const Limb* a, const Limb* b) const;
  // a is below R; the result is a mod N in Montgomery form.
  void toMontgomery(Limb* result, const Limb* a) const { product(result, a, rSquared_.data()); }
  void fromMontgomery(Limb* result, const Limb* a) const { product(result, a, plainOne_.data()); }
  // a has up to twice as many limbs as N; the result is a mod N in Montgomery form.
  void toMontgomeryWide(Limb* result, const Limb* a, std::size_t limbsOfA) const;
  // a mod N, not in Montgomery form, for the same a.
  void remainderWide(Limb* result, const Limb* a, std::size_t limbsOfA) const {
    toMontgomeryWide(result, a, limbsOfA);
    fromMontgomery(result, result);
  }
  // Inverse of an element in Montgomery form, in Montgomery form; false if there is none. Variable-time.
  bool invert(Limb* result, const Limb* a) const;

 private:
  // result = t * R^-1 mod N for t < R N; t has 2 * limbs limbs and is overwritten.
  void reduce(Limb* result, Limb* t) const;

  std::size_t limbs_;
  RowFunction rows_;
  Limb negatedInverse_;
  Limbs value_;
  Limbs one_;
  Limbs rSquared_;
  Limbs rCubed_;
  Limbs plainOne_;
};

}  // namespace tandem
