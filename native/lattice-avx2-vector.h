// Four doubles or 64-bit integers of AVX2: the operations that the lattice-lane-*.h files use. Included by
// lattice-avx2.cpp, and by the vectors of AVX-512, which are wider in some places only.
#pragma once

// GCC 12 warns about registers that its own intrinsics leave uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <cstring>

#include "lattice-kernel.h"
#include "lattice-roots.h"

#ifndef TANDEM_LANES
#define TANDEM_LANES avx2
#define TANDEM_LANE_TARGET "avx2,fma,aes"
#endif
#define TANDEM_LANE __attribute__((target(TANDEM_LANE_TARGET)))
#define TANDEM_LANE_INLINE __attribute__((target(TANDEM_LANE_TARGET), always_inline)) inline

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

struct Four {
  using Doubles = __m256d;
  static constexpr std::size_t kCount = 4;
  TANDEM_LANE_INLINE static Doubles load(const double* from) { return _mm256_load_pd(from); }
  TANDEM_LANE_INLINE static void store(double* to, Doubles a) { _mm256_store_pd(to, a); }
  TANDEM_LANE_INLINE static Doubles all(double x) { return _mm256_set1_pd(x); }
  TANDEM_LANE_INLINE static Doubles add(Doubles a, Doubles b) { return _mm256_add_pd(a, b); }
  TANDEM_LANE_INLINE static Doubles subtract(Doubles a, Doubles b) { return _mm256_sub_pd(a, b); }
  TANDEM_LANE_INLINE static Doubles multiply(Doubles a, Doubles b) { return _mm256_mul_pd(a, b); }
  // a b + c, a b - c and c - a b, rounded once.
  TANDEM_LANE_INLINE static Doubles plus(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
  TANDEM_LANE_INLINE static Doubles minus(Doubles a, Doubles b, Doubles c) { return _mm256_fmsub_pd(a, b, c); }
  TANDEM_LANE_INLINE static Doubles from(Doubles a, Doubles b, Doubles c) { return _mm256_fnmadd_pd(a, b, c); }
  TANDEM_LANE_INLINE static Doubles backwards(Doubles a) { return _mm256_permute4x64_pd(a, 0x1b); }
};

// Numbers from JavaScript are aligned to 8 bytes only.
TANDEM_LANE_INLINE __m256i loadFour(const std::uint64_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
TANDEM_LANE_INLINE void storeFour(std::uint64_t* to, __m256i a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a);
}

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
