// Plain histograms: per feature and bin the sums of the selected rows' numbers, and how many rows there are. All
// numbers are integers in doubles and so are their sums, below 2^53: the order of additions does not matter, and the
// result has the bits of gbdt/split/histogram.ts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

struct PlainHistogramJob {
  struct Feature {
    const std::uint16_t* bins;
    std::size_t binCount;
    // Where its rows begin in the result, counted in rows.
    std::size_t firstRow;
  };
  // What is summed: a number per row each.
  std::vector<const double*> columns;
  std::size_t rowCount;
  const std::uint32_t* selected;
  std::size_t selectedCount;
  std::vector<Feature> features;
};

// Writes columns + 1 numbers per bin, the count last. Returns the place of a selected row that does not exist, or that
// is in no bin of some feature; -1 if all are. Then the result means nothing.
long long plainHistogram(const PlainHistogramJob& job, double* result, std::size_t threads);

}  // namespace tandem
