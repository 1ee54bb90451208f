// Column sums of several independent products at a time, one per lane: the inner loops of a kernel. A kernel's file
// includes its vectors first (avx2-vector.h, ifma-vector.h, emulated-vector.h), then this: everything here is compiled
// once per kernel, in a namespace of its own and for its own instructions. Hence no #pragma once.
//
// Layout: a number is `digits` vectors, digit j of all numbers in the 64-bit lanes of vector j. Column k of a product
// x y is the sum of x[i] y[k - i]. Columns are computed in blocks of up to kBlock neighbours, whose sums stay in
// registers: each x[i] is loaded once per block and multiplied by kBlock operands from the first-level cache, which
// keeps the multipliers of the core about 80% busy, and those of Zen 5 nearly always (other shapes, 4 to 12 columns by
// 1 to 4 rows, were measured slower). The 20 and 40 digits of 52 bits of a 2048-bit key are whole blocks of 10.
//
// Where a product of two digits has an upper half (kHasUpperHalves), the upper halves of column c have sums of their
// own, which belong to column c + 1; those of a block's last column leave it with the carry.
//
// Bound: with all digits below 2^28 a term x[i] y[j] is below 2^56, so that 255 terms fit 64 bits; see kDigitsUnfolded.
//
// Constant-time: branches and addresses depend on sizes only.

namespace tandem {
namespace TANDEM_LANES {

constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;

TANDEM_LANE_INLINE Vector digitMask() { return everywhere(kDigitMask); }
TANDEM_LANE_INLINE Vector carryOf(Vector sum) { return shiftRight<kDigitBits>(sum); }

// Unrolled by the front end, so that every index is a constant and the sums live in registers: loops that the optimiser
// unrolls come too late for that.
template <int... index, typename Body>
TANDEM_LANE_INLINE void unrollOver(std::integer_sequence<int, index...>, const Body& body) {
  (body(std::integral_constant<int, index>()), ...);
}
template <int count, typename Body>
TANDEM_LANE_INLINE void unroll(const Body& body) {
  unrollOver(std::make_integer_sequence<int, count>(), body);
}

template <int columns>
struct Sums {
  Vector at[columns];
  Vector upper[columns];

  TANDEM_LANE_INLINE void clear() {
    unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA { at[c] = upper[c] = zero(); });
  }
  TANDEM_LANE_INLINE void twice() {
    unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA {
      at[c] = add(at[c], at[c]);
      upper[c] = add(upper[c], upper[c]);
    });
  }
  // at[c] += x y.
  TANDEM_LANE_INLINE void addProduct(int c, Vector x, Vector y) {
    at[c] = plusLow(at[c], x, y);
    upper[c] = plusHigh(upper[c], x, y);
  }
  // What column c is once the upper halves of the column before are in it.
  template <typename Column>
  TANDEM_LANE_INLINE Vector sumOf(Column c, Vector carry) const {
    const Vector sum = add(at[c], carry);
    if constexpr (kHasUpperHalves && c > 0) return add(sum, upper[c - 1]);
    return sum;
  }
  // What leaves the top column besides its carry.
  TANDEM_LANE_INLINE Vector left(Vector carry) const {
    if constexpr (kHasUpperHalves) return add(carry, upper[columns - 1]);
    return carry;
  }
  TANDEM_LANE_INLINE void plus(const Vector* digits) {
    unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA { at[c] = add(at[c], digits[c]); });
  }

  // at[c] += x[0] y[c] + x[1] y[c - 1] + ... + x[count - 1] y[c - count + 1].
  TANDEM_LANE_INLINE void addRows(const Vector* x, const Vector* y, std::ptrdiff_t count) {
    for (std::ptrdiff_t t = 0; t < count; t++, y--) {
      // Hides from the compiler that the next iteration reads nearly the same operands: it would keep them in registers
      // that the sums need.
      __asm__("" : "+r"(y));
      const Vector factor = x[t];
      unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA { addProduct(c, factor, y[c]); });
    }
  }

  // at[c] += x[row] y[c - row] for the columns c >= row, row from 1 on.
  TANDEM_LANE_INLINE void addRightTriangle(const Vector* x, const Vector* y) {
    unroll<columns>([&](auto row) TANDEM_LANE_LAMBDA {
      if constexpr (row > 0) {
        const Vector factor = x[row];
        unroll<columns - row>([&](auto c) TANDEM_LANE_LAMBDA { addProduct(row + c, factor, y[c]); });
      }
    });
  }

  // at[c] += x[row] y[c - row - 1] for the columns c <= row, row up to columns - 2; y is the end of the number.
  TANDEM_LANE_INLINE void addLeftTriangle(const Vector* x, const Vector* yEnd) {
    unroll<columns>([&](auto row) TANDEM_LANE_LAMBDA {
      if constexpr (row < columns - 1) {
        const Vector factor = x[row];
        unroll<row + 1>([&](auto c) TANDEM_LANE_LAMBDA { addProduct(c, factor, yEnd[c - row - 1]); });
      }
    });
  }

  // The columns first .. first + columns - 1 of x y, all below the number of digits: rows 0 .. first meet every column,
  // the rest is a triangle.
  TANDEM_LANE_INLINE void addLow(const Vector* x, const Vector* y, std::ptrdiff_t first) {
    addRows(x, y + first, first + 1);
    addRightTriangle(x + first, y);
  }

  // The same for columns from `digits` on: a triangle first, then rows that meet every column.
  TANDEM_LANE_INLINE void addHigh(const Vector* x, const Vector* y, std::ptrdiff_t first, std::ptrdiff_t digits) {
    addLeftTriangle(x + (first - digits + 1), y + digits);
    const std::ptrdiff_t full = first - digits + columns;
    addRows(x + full, y + (first - full), digits - full);
  }

  // Rows of x x from `from` on: every product of two different digits once, all doubled at the end, plus the squares.
  // Rows below half of `first` meet every column; then comes the triangle at the diagonal.
  template <int parity>
  TANDEM_LANE_INLINE void addSquareRows(const Vector* x, std::ptrdiff_t first, std::ptrdiff_t from) {
    const std::ptrdiff_t half = (first + parity) / 2;
    addRows(x + from, x + (first - from), half - from);
    const Vector* middle = x + half;
    unroll<(columns - parity + 1) / 2>([&](auto row) TANDEM_LANE_LAMBDA {
      const Vector factor = middle[row];
      constexpr int start = 2 * row + parity + 1;
      if constexpr (start < columns) {
        unroll<columns - start>([&](auto c) TANDEM_LANE_LAMBDA { addProduct(start + c, factor, middle[row + 1 + c]); });
      }
    });
    twice();
    unroll<(columns - parity + 1) / 2>(
        [&](auto row) TANDEM_LANE_LAMBDA { addProduct(2 * row + parity, middle[row], middle[row]); });
  }

  TANDEM_LANE_INLINE void addSquareRowsFrom(const Vector* x, std::ptrdiff_t first, std::ptrdiff_t from) {
    if (first % 2 == 0) {
      addSquareRows<0>(x, first, from);
    } else {
      addSquareRows<1>(x, first, from);
    }
  }

  // The columns of x x below the number of digits, and from there on. Sums must be clear.
  TANDEM_LANE_INLINE void addLowSquare(const Vector* x, std::ptrdiff_t first) { addSquareRowsFrom(x, first, 0); }
  TANDEM_LANE_INLINE void addHighSquare(const Vector* x, std::ptrdiff_t first, std::ptrdiff_t digits) {
    const std::ptrdiff_t full = first - digits + columns;
    // Near the top, where the triangle would meet the diagonal, columns are short: a plain product costs less than
    // branches.
    if (full > first / 2 || (first + 1) / 2 + columns > digits) return addHigh(x, x, first, digits);
    addLeftTriangle(x + (full - columns + 1), x + digits);
    addSquareRowsFrom(x, first, full);
  }

  // Leaves digits below 2^kDigitBits plus carries; what leaves the top column is returned. Only where there are no
  // upper halves: with them nothing grows so large.
  TANDEM_LANE_INLINE Vector fold() {
    const Vector mask = digitMask();
    Vector carry = zero();
    unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA {
      const Vector next = carryOf(at[c]);
      at[c] = add(bitAnd(at[c], mask), carry);
      carry = next;
    });
    return carry;
  }

  // Clears low columns one by one, adding multiples of N; each gives a digit of the quotient.
  TANDEM_LANE_INLINE void reduce(Vector* quotient, const Vector* modulus, Vector negatedInverse, Vector& carry) {
    const Vector mask = digitMask();
    unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA {
      at[c] = sumOf(c, carry);
      const Vector digit = bitAnd(plusLow(zero(), at[c], negatedInverse), mask);
      quotient[c] = digit;
      addProduct(c, digit, modulus[0]);
      carry = carryOf(at[c]);
      unroll<columns - 1 - c>([&](auto later)
                                  TANDEM_LANE_LAMBDA { addProduct(c + 1 + later, digit, modulus[1 + later]); });
    });
    carry = left(carry);
  }

  // High columns are result digits once carries are passed on.
  TANDEM_LANE_INLINE void write(Vector* result, Vector& carry) const {
    const Vector mask = digitMask();
    unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA {
      const Vector sum = sumOf(c, carry);
      result[c] = bitAnd(sum, mask);
      carry = carryOf(sum);
    });
    carry = left(carry);
  }
};

}  // namespace TANDEM_LANES
}  // namespace tandem
