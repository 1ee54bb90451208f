// The hash index of src/base/text/text-index.ts, over the same arrays: Latin-1 characters of all texts, the end of
// each, and slots with a text's index plus one and the highest bits of its hash.
#pragma once

#include <cstddef>
#include <cstdint>

#include "csv-numbers.h"

namespace tandem {

struct TextIndex {
  std::uint8_t* units;
  std::size_t unitsMax;
  std::uint32_t* ends;
  std::size_t textsMax;
  std::uint32_t* slots;
  // Of a power of two slots, minus one.
  std::size_t slotMask;
  std::uint32_t count;

  std::uint32_t startOf(std::size_t index) const { return index == 0 ? 0 : ends[index - 1]; }
};

// Of a slot: where the bits of the hash begin. There are fewer texts than 2^27.
constexpr unsigned kIndexBits = 27;
constexpr std::uint32_t kIndexMask = (1u << kIndexBits) - 1;

// How an id is normalised (src/psi/normalise.ts), in this order.
constexpr std::uint32_t kLowercase = 1;
constexpr std::uint32_t kDigits = 2;
constexpr std::uint32_t kStripLeadingZeros = 4;

// Puts all texts into slots that are free. Returns false if two of them are the same. Both functions throw where an
// array does not fit the others.
bool placeTexts(const TextIndex& index);

// Adds cells from row `first` on, normalised, and writes the index of each. There must be room for all of them.
// Returns the first row that it cannot read, which is not ASCII, has quotes in it or is empty; or the number of rows.
std::size_t addCells(const CsvColumn& column, std::size_t first, std::uint32_t rules, TextIndex& index,
                     std::uint32_t* found);

}  // namespace tandem
