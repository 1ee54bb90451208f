// Column sums of four independent products at a time: the inner loops of avx2-ring.cpp. Included there only.
//
// Layout: a number is `digits` vectors, digit j of four numbers in the four 64-bit lanes of vector j, radix 2^28. Column k
// of a product x y is the sum of x[i] y[k - i]. Columns are computed in blocks of up to kBlock neighbours, whose sums stay
// in registers: each x[i] is loaded once per block and multiplied by kBlock operands from the first-level cache, which
// keeps both multipliers of the core about 80% busy (other shapes, 4 to 12 columns by 1 to 4 rows, were measured slower).
//
// Bound: with all digits below 2^28 a term x[i] y[j] is below 2^56, so that 255 terms fit 64 bits; see kDigitsUnfolded.
//
// Constant-time: branches and addresses depend on sizes only.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#define TANDEM_AVX2 __attribute__((target("avx2")))
#define TANDEM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace tandem {
namespace avx2 {

using Vector = __m256i;

constexpr int kDigitBits = 28;
constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;
constexpr int kBlock = 8;
// A column of the second reduction has 3 * digits terms. Up to this many digits they fit 64 bits with room for carries
// (252 * 2^56 + 2^38 < 2^64); beyond, carries are folded out after every `digits` terms.
constexpr std::size_t kDigitsUnfolded = 84;

TANDEM_AVX2_INLINE Vector add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
TANDEM_AVX2_INLINE Vector addProduct(Vector sum, Vector x, Vector y) { return add(sum, _mm256_mul_epu32(x, y)); }
TANDEM_AVX2_INLINE Vector carryOf(Vector sum) { return _mm256_srli_epi64(sum, kDigitBits); }

// sums[c] += x[0] y[c] + x[1] y[c - 1] + ... + x[count - 1] y[c - count + 1].
template <int columns>
TANDEM_AVX2_INLINE void addRows(Vector* sums, const Vector* x, const Vector* y, std::ptrdiff_t count) {
  Vector s[columns];
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) s[c] = sums[c];
  for (std::ptrdiff_t t = 0; t < count; t++, y--) {
    // Hides from the compiler that the next turn reads nearly the same operands: it would keep them in registers that the
    // sums need.
    __asm__("" : "+r"(y));
    const Vector factor = x[t];
#pragma GCC unroll 8
    for (int c = 0; c < columns; c++) s[c] = addProduct(s[c], factor, y[c]);
  }
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) sums[c] = s[c];
}

// The columns first .. first + columns - 1 of x y, all below `digits`: rows 0 .. first meet every column, the rest is a
// triangle.
template <int columns>
TANDEM_AVX2_INLINE void addLowColumns(Vector* sums, const Vector* x, const Vector* y, std::ptrdiff_t first) {
  addRows<columns>(sums, x, y + first, first + 1);
#pragma GCC unroll 8
  for (int row = 1; row < columns; row++) {
    const Vector factor = x[first + row];
#pragma GCC unroll 8
    for (int c = row; c < columns; c++) sums[c] = addProduct(sums[c], factor, y[c - row]);
  }
}

// The same for columns from `digits` on: a triangle first, then rows that meet every column.
template <int columns>
TANDEM_AVX2_INLINE void addHighColumns(Vector* sums, const Vector* x, const Vector* y, std::ptrdiff_t first,
                                       std::ptrdiff_t digits) {
  const std::ptrdiff_t lowest = first - digits + 1;
#pragma GCC unroll 8
  for (int row = 0; row < columns - 1; row++) {
    const Vector factor = x[lowest + row];
#pragma GCC unroll 8
    for (int c = 0; c <= row; c++) sums[c] = addProduct(sums[c], factor, y[digits - 1 - row + c]);
  }
  const std::ptrdiff_t full = lowest + columns - 1;
  addRows<columns>(sums, x + full, y + (first - full), digits - full);
}

// The columns first .. first + columns - 1 of x x: every product of two different digits once, doubled, plus squares.
// Rows from `from` up to below half of `first` meet every column; then comes the triangle at the diagonal.
template <int columns, int parity>
TANDEM_AVX2_INLINE void addSquareRows(Vector* sums, const Vector* x, std::ptrdiff_t first, std::ptrdiff_t from) {
  const std::ptrdiff_t half = (first + parity) / 2;
  addRows<columns>(sums, x + from, x + (first - from), half - from);
#pragma GCC unroll 8
  for (int row = 0; 2 * row + parity < columns; row++) {
    const Vector factor = x[half + row];
#pragma GCC unroll 8
    for (int c = 2 * row + parity + 1; c < columns; c++) {
      sums[c] = addProduct(sums[c], factor, x[half - parity + c - row]);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) sums[c] = add(sums[c], sums[c]);
#pragma GCC unroll 8
  for (int c = parity; c < columns; c += 2) {
    const Vector digit = x[half + (c - parity) / 2];
    sums[c] = addProduct(sums[c], digit, digit);
  }
}

template <int columns>
TANDEM_AVX2_INLINE void addLowSquareColumns(Vector* sums, const Vector* x, std::ptrdiff_t first) {
  if (first % 2 == 0) {
    addSquareRows<columns, 0>(sums, x, first, 0);
  } else {
    addSquareRows<columns, 1>(sums, x, first, 0);
  }
}

// Near the top the triangles overlap: column by column.
template <int columns>
TANDEM_AVX2_INLINE void addTopSquareColumns(Vector* sums, const Vector* x, std::ptrdiff_t first, std::ptrdiff_t digits) {
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    const std::ptrdiff_t column = first + c;
    Vector sum = sums[c];
    for (std::ptrdiff_t i = column - digits + 1; 2 * i < column; i++) sum = addProduct(sum, x[i], x[column - i]);
    sum = add(sum, sum);
    if (column % 2 == 0 && column / 2 < digits) sum = addProduct(sum, x[column / 2], x[column / 2]);
    sums[c] = sum;
  }
}

template <int columns>
TANDEM_AVX2_INLINE void addHighSquareColumns(Vector* sums, const Vector* x, std::ptrdiff_t first,
                                             std::ptrdiff_t digits) {
  const std::ptrdiff_t full = first - digits + columns;
  // The triangle of addHighColumns must end before the diagonal, and the one at the diagonal inside the number.
  if (full > first / 2 || (first + 1) / 2 + columns > digits) {
    addTopSquareColumns<columns>(sums, x, first, digits);
    return;
  }
  const std::ptrdiff_t lowest = full - columns + 1;
#pragma GCC unroll 8
  for (int row = 0; row < columns - 1; row++) {
    const Vector factor = x[lowest + row];
#pragma GCC unroll 8
    for (int c = 0; c <= row; c++) sums[c] = addProduct(sums[c], factor, x[digits - 1 - row + c]);
  }
  if (first % 2 == 0) {
    addSquareRows<columns, 0>(sums, x, first, full);
  } else {
    addSquareRows<columns, 1>(sums, x, first, full);
  }
}

// Leaves digits below 2^28 plus carries in the sums; what leaves the top column is returned.
template <int columns>
TANDEM_AVX2_INLINE Vector foldColumns(Vector* sums) {
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
  Vector carry = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    const Vector next = carryOf(sums[c]);
    sums[c] = add(_mm256_and_si256(sums[c], mask), carry);
    carry = next;
  }
  return carry;
}

}  // namespace avx2
}  // namespace tandem
