// A column's cells as float32 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "csv-text.h"

namespace tandem {

// One column of rows that csv-rows.h has read.
struct CsvColumn {
  const std::uint8_t* bytes;
  std::size_t byteCount;
  const std::uint32_t* cells;
  std::size_t rowCount;
  std::size_t columnCount;
  std::size_t column;

  // Writes a cell, trimmed. Returns false where quotes stand doubled in it. Throws where it lies beyond the bytes.
  bool cellAt(std::size_t row, Text& cell) const;
};

// NaN where a value is missing: empty, NA or NaN in any case, or one of `missing`. Returns false where a cell is text,
// or a number that float32 does not have or that JavaScript must read: then every cell is to be read there.
bool readNumbers(const CsvColumn& column, const std::vector<Text>& missing, float* values);

}  // namespace tandem
