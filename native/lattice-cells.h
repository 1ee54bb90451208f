// A passive party's histogram: every record is added to the cell of its bin of every feature. A cell is kLanes numbers,
// residues from 0 to p - 1.
//
// Trust: bins row by row come from layRowBins. Others would be added to a wrong cell, never out of bounds.
#pragma once

#include "lattice-context.h"

namespace tandem {
namespace lattice {

// A bin is one byte if no feature has more than 256 of them, otherwise two.
std::size_t binBytes(const std::vector<std::uint32_t>& binCounts);

// Bins row by row. False if one is out of range.
bool layRowBins(const std::vector<const std::uint16_t*>& bins, const std::vector<std::uint32_t>& binCounts,
                std::size_t rows, std::uint8_t* result, std::size_t threads);

struct AccumulateJob {
  const std::uint8_t* rowBins;  // of the first record's row, and on
  std::vector<std::uint32_t> binCounts;
  const std::uint8_t* records;
  std::size_t count;
  std::uint64_t* cells;
};

// The first record that is not canonical, or -1. Nothing is added then.
long long accumulate(const Context& context, const AccumulateJob& job, std::size_t threads);

// The first record that is not canonical, or -1. Lanes of all records are written.
long long unpackChecked(const Context& context, const std::uint8_t* records, std::size_t count, std::uint64_t* lanes);

}  // namespace lattice
}  // namespace tandem
