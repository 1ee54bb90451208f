// Transforms modulo the primes in 64-bit integers, for the kernel `scalar`.
//
// Constant-time: no branch and no address depends on values.
#pragma once

#include <cstring>

#include "lattice-roots.h"

namespace tandem {
namespace lattice {

// Products of any two residues (Barrett).
class Multiplier {
 public:
  explicit Multiplier(std::uint64_t prime)
      : prime_(prime), reciprocal_(static_cast<std::uint64_t>((Wide{1} << 112) / prime)) {}

  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    const Wide product = static_cast<Wide>(a) * b;
    const std::uint64_t high = static_cast<std::uint64_t>(product >> 48);
    const std::uint64_t estimate = static_cast<std::uint64_t>((static_cast<Wide>(high) * reciprocal_) >> 64);
    // The estimate is at most 3 too small.
    const std::uint64_t rest = static_cast<std::uint64_t>(product) - estimate * prime_;
    return lessPrime(lessPrime(rest, 2 * prime_), prime_);
  }

 private:
  std::uint64_t prime_;
  std::uint64_t reciprocal_;
};

class ScalarTransform {
 public:
  ScalarTransform(const Set& set, std::uint64_t prime) : degree_(set.degree), prime_(prime) {
    const std::uint64_t psi = leastRoot(set, prime);
    for (const std::uint64_t root : reversedPowers(set, psi, prime)) roots_.emplace_back(root, prime);
    for (const std::uint64_t root : reversedPowers(set, lattice::inverse(psi, prime), prime)) {
      inverseRoots_.emplace_back(root, prime);
    }
  }

  // Cooley and Tukey, decimation in time; then Gentleman and Sande back, but for the factor N.
  void forward(double* x) const {
    Array<std::uint64_t> a = residues(x);
    for (std::size_t m = 1, t = degree_ / 2; m < degree_; m *= 2, t /= 2) {
      for (std::size_t i = 0; i < m; i++) {
        for (std::size_t j = 2 * i * t; j < (2 * i + 1) * t; j++) {
          const std::uint64_t u = a[j];
          const std::uint64_t v = roots_[m + i].times(a[j + t], prime_);
          a[j] = lessPrime(u + v, prime_);
          a[j + t] = lessPrime(u + prime_ - v, prime_);
        }
      }
    }
    store(a, x);
  }
  void inverse(double* x) const {
    Array<std::uint64_t> a = residues(x);
    for (std::size_t m = degree_ / 2, t = 1; m >= 1; m /= 2, t *= 2) {
      for (std::size_t i = 0; i < m; i++) {
        for (std::size_t j = 2 * i * t; j < (2 * i + 1) * t; j++) {
          const std::uint64_t u = a[j];
          const std::uint64_t v = a[j + t];
          a[j] = lessPrime(u + v, prime_);
          a[j + t] = inverseRoots_[m + i].times(u + prime_ - v, prime_);
        }
      }
    }
    store(a, x);
  }

 private:
  Array<std::uint64_t> residues(const double* x) const {
    Array<std::uint64_t> a(degree_);
    for (std::size_t i = 0; i < degree_; i++) a[i] = lessPrime(canonical(x[i], prime_), prime_);
    return a;
  }
  void store(const Array<std::uint64_t>& a, double* x) const {
    for (std::size_t i = 0; i < degree_; i++) x[i] = balanced(a[i], prime_);
  }

  std::size_t degree_;
  std::uint64_t prime_;
  std::vector<Factor> roots_;
  std::vector<Factor> inverseRoots_;
};

}  // namespace lattice
}  // namespace tandem
