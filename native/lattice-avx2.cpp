// The kernel `avx2` of the lattice scheme: AVX2, FMA and AES instructions.
#if defined(__x86_64__)

#include "lattice-avx2-vector.h"

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

using Widest = Four;

// kTile words of a hint.
struct Tile {
  TANDEM_LANE_INLINE static Tile load(const std::uint64_t* from) { return {loadFour(from), loadFour(from + 4)}; }
  TANDEM_LANE_INLINE void addTo(std::uint64_t* cell) const {
    storeFour(cell, _mm256_add_epi64(loadFour(cell), low));
    storeFour(cell + 4, _mm256_add_epi64(loadFour(cell + 4), high));
  }
  __m256i low;
  __m256i high;
};

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem

#include "lattice-lane-kernel.h"

namespace tandem {
namespace lattice {

std::unique_ptr<Kernel> makeAvx2Kernel(const Set& set) { return avx2::makeKernel(set); }

}  // namespace lattice
}  // namespace tandem

#endif
