// Eight lanes of AVX-512 with digits of 52 bits: the operations that the lane-*.h files use. A product of two digits
// has 104 bits; IFMA adds its lower 52 to one sum and its upper 52 to another. Included by ifma-ring.cpp only;
// emulated-vector.h is the same in plain C++.
//
// Constant-time: as the instructions are.
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

#include "lane-common.h"

#define TANDEM_LANES ifma
#define TANDEM_LANE __attribute__((target("avx512f,avx512ifma")))
#define TANDEM_LANE_INLINE __attribute__((target("avx512f,avx512ifma"), always_inline)) inline
#define TANDEM_LANE_LAMBDA __attribute__((target("avx512f,avx512ifma"), always_inline))

namespace tandem {
namespace ifma {

using Vector = __m512i;

constexpr std::size_t kLanes = 8;
constexpr int kDigitBits = 52;
constexpr bool kHasUpperHalves = true;
// A column has at most 8 * digits terms below 2^52, so 64 bits never overflow.
constexpr int kBlock = 10;
constexpr std::size_t kDigitsMax = 79;  // 4096 bits and 4 to spare
constexpr std::size_t kDigitsUnfolded = kDigitsMax;

TANDEM_LANE_INLINE Vector zero() { return _mm512_setzero_si512(); }
TANDEM_LANE_INLINE Vector everywhere(Word value) { return _mm512_set1_epi64(static_cast<long long>(value)); }
TANDEM_LANE_INLINE Vector add(Vector a, Vector b) { return _mm512_add_epi64(a, b); }
TANDEM_LANE_INLINE Vector bitAnd(Vector a, Vector b) { return _mm512_and_si512(a, b); }
TANDEM_LANE_INLINE Vector bitOr(Vector a, Vector b) { return _mm512_or_si512(a, b); }
TANDEM_LANE_INLINE Vector bitXor(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
template <int bits>
TANDEM_LANE_INLINE Vector shiftRight(Vector a) {
  return _mm512_srli_epi64(a, bits);
}
template <int bits>
TANDEM_LANE_INLINE Vector shiftLeft(Vector a) {
  return _mm512_slli_epi64(a, bits);
}
// All ones in the lanes that are equal.
TANDEM_LANE_INLINE Vector equalLanes(Vector a, Vector b) {
  return _mm512_maskz_set1_epi64(_mm512_cmpeq_epi64_mask(a, b), -1);
}
// sum + the lower or upper 52 bits of x y, of which the lower 52 bits count.
TANDEM_LANE_INLINE Vector plusLow(Vector sum, Vector x, Vector y) { return _mm512_madd52lo_epu64(sum, x, y); }
TANDEM_LANE_INLINE Vector plusHigh(Vector sum, Vector x, Vector y) { return _mm512_madd52hi_epu64(sum, x, y); }

TANDEM_LANE_INLINE __m128i loadTwo(const std::uint8_t* low, const std::uint8_t* high) {
  const __m128i one = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(low));
  return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(one), reinterpret_cast<const double*>(high)));
}
TANDEM_LANE_INLINE __m256i loadFour(const std::uint8_t* const* values, std::size_t at) {
  const __m128i low = loadTwo(values[0] + at, values[1] + at);
  const __m128i high = loadTwo(values[2] + at, values[3] + at);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
// The 8 bytes from byte `at` on of one number per lane. (A gather takes several times as long.)
TANDEM_LANE_INLINE Vector loadBytes(const std::uint8_t* const* values, std::size_t at) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(loadFour(values, at)), loadFour(values + 4, at), 1);
}

// A digit in a table, and one lane's next eight of them, read and written.
using TableDigit = Word;
TANDEM_LANE_INLINE Vector loadTableDigits(const TableDigit* digits) { return _mm512_loadu_si512(digits); }
TANDEM_LANE_INLINE void storeTableDigits(TableDigit* digits, Vector row) { _mm512_storeu_si512(digits, row); }

// Rows 0, 2, 4 and 6, or 1, 3, 5 and 7, of a transposed matrix, from pairs of its rows in the lanes of two.
TANDEM_LANE_INLINE void transposeHalf(Vector* rows, Vector p01, Vector p23, Vector p45, Vector p67) {
  const Vector low04 = _mm512_shuffle_i64x2(p01, p23, 0x88);
  const Vector low26 = _mm512_shuffle_i64x2(p01, p23, 0xdd);
  const Vector high04 = _mm512_shuffle_i64x2(p45, p67, 0x88);
  const Vector high26 = _mm512_shuffle_i64x2(p45, p67, 0xdd);
  rows[0] = _mm512_shuffle_i64x2(low04, high04, 0x88);
  rows[2] = _mm512_shuffle_i64x2(low26, high26, 0x88);
  rows[4] = _mm512_shuffle_i64x2(low04, high04, 0xdd);
  rows[6] = _mm512_shuffle_i64x2(low26, high26, 0xdd);
}

// Row i has element j of what was row j's element i.
TANDEM_LANE_INLINE void transpose(Vector* rows) {
  const Vector even01 = _mm512_unpacklo_epi64(rows[0], rows[1]);
  const Vector odd01 = _mm512_unpackhi_epi64(rows[0], rows[1]);
  const Vector even23 = _mm512_unpacklo_epi64(rows[2], rows[3]);
  const Vector odd23 = _mm512_unpackhi_epi64(rows[2], rows[3]);
  const Vector even45 = _mm512_unpacklo_epi64(rows[4], rows[5]);
  const Vector odd45 = _mm512_unpackhi_epi64(rows[4], rows[5]);
  const Vector even67 = _mm512_unpacklo_epi64(rows[6], rows[7]);
  const Vector odd67 = _mm512_unpackhi_epi64(rows[6], rows[7]);
  transposeHalf(rows, even01, even23, even45, even67);
  transposeHalf(rows + 1, odd01, odd23, odd45, odd67);
}

}  // namespace ifma
}  // namespace tandem
