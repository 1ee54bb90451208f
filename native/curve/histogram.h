// Sums of the selected rows' points per feature and bin, directly or by way of joint cells (../joint-bins.h).
//
// Constant-time: no; the computing party knows rows and bins.
#pragma once

#include <vector>

#include "kernel.h"

namespace tandem {
namespace curve {

struct HistogramJob {
  struct Source {
    const StoredAddend* points;  // column by column: that of row i is at j * rowCount + i
    std::size_t width;
    StoredPoint* sums;  // cell by cell, `width` each
  };
  struct Feature {
    const std::uint16_t* bins;
    std::size_t binCount;
    std::int64_t skippedBin;
    std::size_t firstCell;
  };
  std::vector<Source> sources;
  const std::uint32_t* rows;
  std::size_t selectedCount;
  std::size_t rowCount;
  std::vector<Feature> features;
  bool jointBins;
};

void histogram(const Kernel& kernel, const HistogramJob& job, std::size_t threads);

}  // namespace curve
}  // namespace tandem
