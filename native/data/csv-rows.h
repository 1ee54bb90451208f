// Rows of CSV text: where each cell stands. src/data/csv-rows.ts has the same in TypeScript, and what it all means.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

// The highest bit of a cell's length: quotes stand doubled in it.
constexpr std::uint32_t kDoubledQuotes = 0x80000000u;

// As src/data/csv-rows.ts numbers them.
enum class RowsEnd { kText, kRoom, kQuote, kCellCount, kRowCount, kLongCell, kBlankLines };

struct RowsState {
  // The next byte to read; afterwards that of the first row that was not read.
  std::uint32_t first;
  std::uint32_t end;
  // No more text follows.
  std::uint32_t isLast;
  std::uint32_t delimiter;
  // 0: \n, 1: \r\n, 2: \r
  std::uint32_t newline;
  std::uint32_t columnCount;
  std::uint32_t cellCharsMax;
  std::uint32_t rowsLeft;
  std::uint32_t blankLinesLeft;
  // Of `first`.
  std::uint32_t line;
  // Written: how many rows were read, and the number of cells or the column that is wrong in the next one.
  std::uint32_t rowCount;
  std::uint32_t detail;
};

// Writes start and length of each cell, row by row, and the line of each row. `end` is below 2^31.
RowsEnd scanRows(const std::uint8_t* bytes, RowsState& state, std::uint32_t* cells, std::uint32_t* lines,
                 std::size_t rowsMax);

}  // namespace tandem
