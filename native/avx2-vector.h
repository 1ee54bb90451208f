// Four lanes of AVX2 with digits of 28 bits: the operations that the lane-*.h files use. A product of two digits is one
// number of 56 bits. Included by avx2-ring.cpp only.
//
// Constant-time: as the instructions are.
#pragma once

#include <immintrin.h>

#include "lane-common.h"

#define TANDEM_LANES avx2
#define TANDEM_LANE __attribute__((target("avx2")))
#define TANDEM_LANE_INLINE __attribute__((target("avx2"), always_inline)) inline
#define TANDEM_LANE_LAMBDA __attribute__((target("avx2"), always_inline))

namespace tandem {
namespace avx2 {

using Vector = __m256i;

constexpr std::size_t kLanes = 4;
constexpr int kDigitBits = 28;
constexpr bool kHasUpperHalves = false;
// A column of the second reduction has 3 * digits terms. Up to this many digits they fit 64 bits with room for carries
// (252 * 2^56 + 2^38 < 2^64); beyond, carries are folded out after every `digits` terms.
constexpr std::size_t kDigitsUnfolded = 84;
constexpr int kBlock = 8;
constexpr std::size_t kDigitsMax = 147;  // 4096 bits and 4 to spare

TANDEM_LANE_INLINE Vector zero() { return _mm256_setzero_si256(); }
TANDEM_LANE_INLINE Vector everywhere(Word value) { return _mm256_set1_epi64x(static_cast<long long>(value)); }
TANDEM_LANE_INLINE Vector add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
TANDEM_LANE_INLINE Vector bitAnd(Vector a, Vector b) { return _mm256_and_si256(a, b); }
TANDEM_LANE_INLINE Vector bitOr(Vector a, Vector b) { return _mm256_or_si256(a, b); }
TANDEM_LANE_INLINE Vector bitXor(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
template <int bits>
TANDEM_LANE_INLINE Vector shiftRight(Vector a) {
  return _mm256_srli_epi64(a, bits);
}
template <int bits>
TANDEM_LANE_INLINE Vector shiftLeft(Vector a) {
  return _mm256_slli_epi64(a, bits);
}
// All ones in the lanes that are equal.
TANDEM_LANE_INLINE Vector equalLanes(Vector a, Vector b) { return _mm256_cmpeq_epi64(a, b); }
// sum + x y, which is the whole product here.
TANDEM_LANE_INLINE Vector plusLow(Vector sum, Vector x, Vector y) { return add(sum, _mm256_mul_epu32(x, y)); }
TANDEM_LANE_INLINE Vector plusHigh(Vector sum, Vector, Vector) { return sum; }

TANDEM_LANE_INLINE __m128i loadTwo(const std::uint8_t* low, const std::uint8_t* high) {
  const __m128i one = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(low));
  return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(one), reinterpret_cast<const double*>(high)));
}
// The 8 bytes from byte `at` on of one number per lane.
TANDEM_LANE_INLINE Vector loadBytes(const std::uint8_t* const* values, std::size_t at) {
  const __m128i low = loadTwo(values[0] + at, values[1] + at);
  const __m128i high = loadTwo(values[2] + at, values[3] + at);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// A digit in a table, and one lane's next four of them, read and written.
using TableDigit = std::uint32_t;
TANDEM_LANE_INLINE Vector loadTableDigits(const TableDigit* digits) {
  return _mm256_cvtepu32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(digits)));
}
TANDEM_LANE_INLINE void storeTableDigits(TableDigit* digits, Vector row) {
  const __m256i packed = _mm256_permutevar8x32_epi32(row, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(digits), _mm256_castsi256_si128(packed));
}

// Row i has element j of what was row j's element i.
TANDEM_LANE_INLINE void transpose(Vector* rows) {
  const Vector even01 = _mm256_unpacklo_epi64(rows[0], rows[1]);
  const Vector odd01 = _mm256_unpackhi_epi64(rows[0], rows[1]);
  const Vector even23 = _mm256_unpacklo_epi64(rows[2], rows[3]);
  const Vector odd23 = _mm256_unpackhi_epi64(rows[2], rows[3]);
  rows[0] = _mm256_permute2x128_si256(even01, even23, 0x20);
  rows[1] = _mm256_permute2x128_si256(odd01, odd23, 0x20);
  rows[2] = _mm256_permute2x128_si256(even01, even23, 0x31);
  rows[3] = _mm256_permute2x128_si256(odd01, odd23, 0x31);
}

}  // namespace avx2
}  // namespace tandem
