// Quantile bins of a column of float32 values: the loops of src/gbdt/split/column-loops.ts, which says what they do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

struct ColumnRange {
  double presentCount;
  // The smallest and the largest value, and how many rows have it.
  double smallest;
  double smallestCount;
  double largest;
  double largestCount;
};

void countUpper(const float* values, std::size_t count, std::uint32_t* counts, ColumnRange& range);

// nextPlaces: null, or 256 per place. Returns false where a place is beyond nextPlaces, or beyond the counts.
bool countLower(const float* values, std::size_t count, const std::uint16_t* places, const std::uint16_t* nextPlaces,
                std::size_t nextPlaceCount, std::uint32_t* counts, std::size_t countedPlaces);

void binValues(const float* values, std::size_t count, const float* thresholds, std::size_t thresholdCount,
               std::uint16_t* bins);

}  // namespace tandem
