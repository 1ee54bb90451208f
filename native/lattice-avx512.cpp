// The kernel `avx512` of the lattice scheme: as `avx2`, with transforms and inner products twice as wide.
#if defined(__x86_64__)

#define TANDEM_LANES avx512
#define TANDEM_LANE_TARGET "avx2,fma,aes,avx512f"
#include "lattice-avx2-vector.h"

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

struct Eight {
  using Doubles = __m512d;
  static constexpr std::size_t kCount = 8;
  TANDEM_LANE_INLINE static Doubles load(const double* from) { return _mm512_load_pd(from); }
  TANDEM_LANE_INLINE static void store(double* to, Doubles a) { _mm512_store_pd(to, a); }
  TANDEM_LANE_INLINE static Doubles all(double x) { return _mm512_set1_pd(x); }
  TANDEM_LANE_INLINE static Doubles add(Doubles a, Doubles b) { return _mm512_add_pd(a, b); }
  TANDEM_LANE_INLINE static Doubles subtract(Doubles a, Doubles b) { return _mm512_sub_pd(a, b); }
  TANDEM_LANE_INLINE static Doubles multiply(Doubles a, Doubles b) { return _mm512_mul_pd(a, b); }
  TANDEM_LANE_INLINE static Doubles plus(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
  TANDEM_LANE_INLINE static Doubles minus(Doubles a, Doubles b, Doubles c) { return _mm512_fmsub_pd(a, b, c); }
  TANDEM_LANE_INLINE static Doubles from(Doubles a, Doubles b, Doubles c) { return _mm512_fnmadd_pd(a, b, c); }
  TANDEM_LANE_INLINE static Doubles backwards(Doubles a) {
    return _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), a);
  }
};

using Widest = Eight;

// kTile words of a hint.
struct Tile {
  TANDEM_LANE_INLINE static Tile load(const std::uint64_t* from) { return {_mm512_loadu_si512(from)}; }
  TANDEM_LANE_INLINE void addTo(std::uint64_t* cell) const {
    _mm512_storeu_si512(cell, _mm512_add_epi64(_mm512_loadu_si512(cell), words));
  }
  __m512i words;
};

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem

#include "lattice-lane-kernel.h"

namespace tandem {
namespace lattice {

std::unique_ptr<Kernel> makeAvx512Kernel(const Set& set) { return avx512::makeKernel(set); }

}  // namespace lattice
}  // namespace tandem

#endif
