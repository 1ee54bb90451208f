// Loops over rows that a step of training takes for each node or tree: sums, partitions, bitmaps, and columns of nodes.
// Numbers that are added are integers in doubles and so are their sums, below 2^53: the order of additions does not
// matter, and every result has the bits of base/rows/row-loops.ts.
//
// Functions with rows return the index of the first one that does not exist, or -1: then the result is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

// Rows of a table with `rowCount` rows.
struct Rows {
  const std::uint32_t* data;
  std::size_t count;
  std::size_t rowCount;
};

struct RowGrid {
  double shift;
  double top;
  double resolution;
  double largest;
};

// Values up to this magnitude have their floor by additions alone.
constexpr double kGridMax = 1125899906842624.0;  // 2^50

// Bits that are set among the first `count`.
std::size_t countBits(const std::uint8_t* bitmap, std::size_t count, std::size_t threads);

// Per column the sum over the rows; with a bitmap over the rows, over those that are set.
long long sumRows(const std::vector<const double*>& columns, const Rows& rows, const std::uint8_t* bitmap,
                  double* result, std::size_t threads);

// The sum of the magnitudes.
long long sumSizes(const double* column, const Rows& rows, double* result, std::size_t threads);

// Rows whose bit is set, and the others, in their order. Both results have exactly that size.
void divideRows(const std::uint32_t* rows, std::size_t count, const std::uint8_t* bitmap, std::uint32_t* inside,
                std::uint32_t* outside, std::size_t threads);

// Bitmap over positions of another bitmap; `rowCount` is its number of bits.
long long pickBits(const std::uint8_t* bitmap, const Rows& positions, std::uint8_t* result, std::size_t threads);

// Bitmap over rows of table[bins[row]], 0 or 1. A bin beyond the table is refused like a row.
long long lookUpBits(const std::uint8_t* table, std::size_t tableSize, const std::uint16_t* bins, const Rows& rows,
                     std::uint8_t* result, std::size_t threads);

// result[placeOf[row]] = column[row], or result[row] if there are no places; a negative place is skipped. Numbers are
// taken modulo 2^32, as an Int32Array takes them.
long long placeRows(const double* column, const Rows& rows, const std::int32_t* placeOf, std::size_t placeCount,
                    std::int32_t* result, std::size_t threads);

// min(floor(min(value, top) / resolution + 0.5), largest) of every value. Returns the index of the first value below
// the shift, or that is not a number; -1 if there is none.
long long roundToGrid(const double* values, std::size_t count, const RowGrid& grid, double* result,
                      std::size_t threads);

// result[row] = number.
long long markRows(const Rows& rows, std::uint32_t number, std::uint32_t* result, std::size_t threads);

// numbers[first + stride * i] += weights[leaves[i]].
long long addByLeaf(const std::uint32_t* leaves, std::size_t count, const double* weights, std::size_t weightCount,
                    double* numbers, std::size_t first, std::size_t stride, std::size_t threads);

}  // namespace tandem
