// Column sums of four independent products at a time: the inner loops of avx2-ring.cpp. Included there only.
//
// Layout: a number is `digits` vectors, digit j of four numbers in the four 64-bit lanes of vector j, radix 2^28.
// Column k of a product x y is the sum of x[i] y[k - i]. Columns are computed in blocks of up to kBlock neighbours,
// whose sums stay in registers: each x[i] is loaded once per block and multiplied by kBlock operands from the
// first-level cache, which keeps both multipliers of the core about 80% busy (other shapes, 4 to 12 columns by 1 to 4
// rows, were measured slower).
//
// Bound: with all digits below 2^28 a term x[i] y[j] is below 2^56, so that 255 terms fit 64 bits; see kDigitsUnfolded.
//
// Constant-time: branches and addresses depend on sizes only.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#define TANDEM_AVX2 __attribute__((target("avx2")))
#define TANDEM_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline
#define TANDEM_AVX2_LAMBDA __attribute__((target("avx2"), always_inline))

namespace tandem {
namespace avx2 {

using Vector = __m256i;

constexpr int kDigitBits = 28;
constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;
constexpr int kBlock = 8;
// A column of the second reduction has 3 * digits terms. Up to this many digits they fit 64 bits with room for carries
// (252 * 2^56 + 2^38 < 2^64); beyond, carries are folded out after every `digits` terms.
constexpr std::size_t kDigitsUnfolded = 84;

TANDEM_AVX2_INLINE Vector zero() { return _mm256_setzero_si256(); }
TANDEM_AVX2_INLINE Vector digitMask() { return _mm256_set1_epi64x(static_cast<long long>(kDigitMask)); }
TANDEM_AVX2_INLINE Vector add(Vector a, Vector b) { return _mm256_add_epi64(a, b); }
TANDEM_AVX2_INLINE Vector addProduct(Vector sum, Vector x, Vector y) { return add(sum, _mm256_mul_epu32(x, y)); }
TANDEM_AVX2_INLINE Vector carryOf(Vector sum) { return _mm256_srli_epi64(sum, kDigitBits); }

// Unrolled by the front end, so that every index is a constant and the sums live in registers: loops that the optimiser
// unrolls come too late for that.
template <int... index, typename Body>
TANDEM_AVX2_INLINE void unrollOver(std::integer_sequence<int, index...>, const Body& body) {
  (body(std::integral_constant<int, index>()), ...);
}
template <int count, typename Body>
TANDEM_AVX2_INLINE void unroll(const Body& body) {
  unrollOver(std::make_integer_sequence<int, count>(), body);
}

template <int columns>
struct Sums {
  Vector at[columns];

  TANDEM_AVX2_INLINE void clear() {
    unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA { at[c] = zero(); });
  }
  TANDEM_AVX2_INLINE void twice() {
    unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA { at[c] = add(at[c], at[c]); });
  }
  TANDEM_AVX2_INLINE void plus(const Vector* digits) {
    unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA { at[c] = add(at[c], digits[c]); });
  }

  // at[c] += x[0] y[c] + x[1] y[c - 1] + ... + x[count - 1] y[c - count + 1].
  TANDEM_AVX2_INLINE void addRows(const Vector* x, const Vector* y, std::ptrdiff_t count) {
    for (std::ptrdiff_t t = 0; t < count; t++, y--) {
      // Hides from the compiler that the next turn reads nearly the same operands: it would keep them in registers that
      // the sums need.
      __asm__("" : "+r"(y));
      const Vector factor = x[t];
      unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA { at[c] = addProduct(at[c], factor, y[c]); });
    }
  }

  // at[c] += x[row] y[c - row] for the columns c >= row, row from 1 on.
  TANDEM_AVX2_INLINE void addRightTriangle(const Vector* x, const Vector* y) {
    unroll<columns>([&](auto row) TANDEM_AVX2_LAMBDA {
      if constexpr (row > 0) {
        const Vector factor = x[row];
        unroll<columns - row>([&](auto c) TANDEM_AVX2_LAMBDA { at[row + c] = addProduct(at[row + c], factor, y[c]); });
      }
    });
  }

  // at[c] += x[row] y[c - row - 1] for the columns c <= row, row up to columns - 2; y is the end of the number.
  TANDEM_AVX2_INLINE void addLeftTriangle(const Vector* x, const Vector* yEnd) {
    unroll<columns>([&](auto row) TANDEM_AVX2_LAMBDA {
      if constexpr (row < columns - 1) {
        const Vector factor = x[row];
        unroll<row + 1>([&](auto c) TANDEM_AVX2_LAMBDA { at[c] = addProduct(at[c], factor, yEnd[c - row - 1]); });
      }
    });
  }

  // The columns first .. first + columns - 1 of x y, all below the number of digits: rows 0 .. first meet every column,
  // the rest is a triangle.
  TANDEM_AVX2_INLINE void addLow(const Vector* x, const Vector* y, std::ptrdiff_t first) {
    addRows(x, y + first, first + 1);
    addRightTriangle(x + first, y);
  }

  // The same for columns from `digits` on: a triangle first, then rows that meet every column.
  TANDEM_AVX2_INLINE void addHigh(const Vector* x, const Vector* y, std::ptrdiff_t first, std::ptrdiff_t digits) {
    addLeftTriangle(x + (first - digits + 1), y + digits);
    const std::ptrdiff_t full = first - digits + columns;
    addRows(x + full, y + (first - full), digits - full);
  }

  // Rows of x x from `from` on: every product of two different digits once, all doubled at the end, plus the squares.
  // Rows below half of `first` meet every column; then comes the triangle at the diagonal.
  template <int parity>
  TANDEM_AVX2_INLINE void addSquareRows(const Vector* x, std::ptrdiff_t first, std::ptrdiff_t from) {
    const std::ptrdiff_t half = (first + parity) / 2;
    addRows(x + from, x + (first - from), half - from);
    const Vector* middle = x + half;
    unroll<(columns - parity + 1) / 2>([&](auto row) TANDEM_AVX2_LAMBDA {
      const Vector factor = middle[row];
      constexpr int start = 2 * row + parity + 1;
      if constexpr (start < columns) {
        unroll<columns - start>(
            [&](auto c) TANDEM_AVX2_LAMBDA { at[start + c] = addProduct(at[start + c], factor, middle[row + 1 + c]); });
      }
    });
    twice();
    unroll<(columns - parity + 1) / 2>([&](auto row) TANDEM_AVX2_LAMBDA {
      at[2 * row + parity] = addProduct(at[2 * row + parity], middle[row], middle[row]);
    });
  }

  TANDEM_AVX2_INLINE void addSquareRowsFrom(const Vector* x, std::ptrdiff_t first, std::ptrdiff_t from) {
    if (first % 2 == 0) {
      addSquareRows<0>(x, first, from);
    } else {
      addSquareRows<1>(x, first, from);
    }
  }

  // The columns of x x below the number of digits, and from there on. Sums must be clear.
  TANDEM_AVX2_INLINE void addLowSquare(const Vector* x, std::ptrdiff_t first) { addSquareRowsFrom(x, first, 0); }
  TANDEM_AVX2_INLINE void addHighSquare(const Vector* x, std::ptrdiff_t first, std::ptrdiff_t digits) {
    const std::ptrdiff_t full = first - digits + columns;
    // Near the top, where the triangle would meet the diagonal, columns are short: a plain product costs less than
    // branches.
    if (full > first / 2 || (first + 1) / 2 + columns > digits) return addHigh(x, x, first, digits);
    addLeftTriangle(x + (full - columns + 1), x + digits);
    addSquareRowsFrom(x, first, full);
  }

  // Leaves digits below 2^28 plus carries; what leaves the top column is returned.
  TANDEM_AVX2_INLINE Vector fold() {
    const Vector mask = digitMask();
    Vector carry = zero();
    unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA {
      const Vector next = carryOf(at[c]);
      at[c] = add(_mm256_and_si256(at[c], mask), carry);
      carry = next;
    });
    return carry;
  }

  // Clears low columns one by one, adding multiples of N; each gives a digit of the quotient.
  TANDEM_AVX2_INLINE void reduce(Vector* quotient, const Vector* modulus, Vector negatedInverse, Vector& carry) {
    const Vector mask = digitMask();
    unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA {
      const Vector sum = add(at[c], carry);
      const Vector digit = _mm256_and_si256(_mm256_mul_epu32(sum, negatedInverse), mask);
      quotient[c] = digit;
      carry = carryOf(addProduct(sum, digit, modulus[0]));
      unroll<columns - 1 - c>([&](auto later) TANDEM_AVX2_LAMBDA {
        at[c + 1 + later] = addProduct(at[c + 1 + later], digit, modulus[1 + later]);
      });
    });
  }

  // High columns are result digits once carries are passed on.
  TANDEM_AVX2_INLINE void write(Vector* result, Vector& carry) const {
    const Vector mask = digitMask();
    unroll<columns>([&](auto c) TANDEM_AVX2_LAMBDA {
      const Vector sum = add(at[c], carry);
      result[c] = _mm256_and_si256(sum, mask);
      carry = carryOf(sum);
    });
  }
};

}  // namespace avx2
}  // namespace tandem
