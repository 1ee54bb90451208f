// See plain-histogram.h. Every index is checked where it is read: JavaScript could change the arrays meanwhile.
#include "plain-histogram.h"

#include <algorithm>
#include <cstring>

#include "threads.h"

namespace tandem {

namespace {

// Numbers of this many rows at a time are gathered side by side, for one feature after the other.
constexpr std::size_t kBlockRows = 2048;
// Below this many additions a second thread costs more than it saves.
constexpr std::size_t kAdditionsPerThread = 200000;

typedef double Pair __attribute__((vector_size(16)));

Pair loadPair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

// Two numbers per row, the usual case. Neighbours often are in the same bin: even and odd rows have cells of their own,
// so that no addition waits for the one before.
class PairCells {
 public:
  explicit PairCells(std::size_t binCount) : sums_(2 * binCount), counts_(2 * binCount) {}

  void add(std::size_t bin, std::size_t parity, const double* numbers) {
    sums_[2 * bin + parity] += loadPair(numbers);
    counts_[2 * bin + parity]++;
  }

  void write(double* result) const {
    for (std::size_t bin = 0; 2 * bin < sums_.size(); bin++) {
      const Pair sum = sums_[2 * bin] + sums_[2 * bin + 1];
      std::memcpy(result + 3 * bin, &sum, sizeof sum);
      result[3 * bin + 2] = static_cast<double>(counts_[2 * bin]) + static_cast<double>(counts_[2 * bin + 1]);
    }
  }

 private:
  std::vector<Pair> sums_;
  std::vector<std::uint32_t> counts_;
};

class ManyCells {
 public:
  ManyCells(std::size_t binCount, std::size_t columns) : columns_(columns), sums_(binCount * (columns + 1)) {}

  void add(std::size_t bin, std::size_t, const double* numbers) {
    double* cell = sums_.data() + bin * (columns_ + 1);
    for (std::size_t c = 0; c < columns_; c++) cell[c] += numbers[c];
    cell[columns_] += 1;
  }

  void write(double* result) const { std::copy(sums_.begin(), sums_.end(), result); }

 private:
  std::size_t columns_;
  std::vector<double> sums_;
};

// Some features, from the first to the last, over all selected rows.
template <typename Cells>
void sumFeatures(const PlainHistogramJob& job, std::vector<Cells>& cells, std::size_t first, FirstBad& bad) {
  const std::size_t columns = job.columns.size();
  std::vector<std::uint32_t> rows(kBlockRows);
  std::vector<double> numbers(kBlockRows * columns);
  for (std::size_t begin = 0; begin < job.selectedCount; begin += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, job.selectedCount - begin);
    for (std::size_t i = 0; i < count; i++) {
      const std::uint32_t row = job.selected[begin + i];
      if (row >= job.rowCount) return bad.report(begin + i);
      rows[i] = row;
    }
    for (std::size_t c = 0; c < columns; c++) {
      const double* const column = job.columns[c];
      for (std::size_t i = 0; i < count; i++) numbers[i * columns + c] = column[rows[i]];
    }
    for (std::size_t f = 0; f < cells.size(); f++) {
      const PlainHistogramJob::Feature& feature = job.features[first + f];
      for (std::size_t i = 0; i < count; i++) {
        const std::size_t bin = feature.bins[rows[i]];
        if (bin >= feature.binCount) return bad.report(begin + i);
        cells[f].add(bin, i & 1, numbers.data() + i * columns);
      }
    }
  }
}

}  // namespace

long long plainHistogram(const PlainHistogramJob& job, double* result, std::size_t threads) {
  const std::size_t features = job.features.size();
  if (features == 0) return -1;
  const std::size_t wanted = 1 + job.selectedCount * features / kAdditionsPerThread;
  const std::size_t used = std::min({threads, wanted, features});
  FirstBad bad;
  parallelChunks(features, (features + used - 1) / used, used, [&](std::size_t begin, std::size_t end) {
    const auto sum = [&](auto cells) {
      sumFeatures(job, cells, begin, bad);
      for (std::size_t f = begin; f < end; f++)
        cells[f - begin].write(result + job.features[f].firstRow * (job.columns.size() + 1));
    };
    if (job.columns.size() == 2) {
      std::vector<PairCells> cells;
      for (std::size_t f = begin; f < end; f++) cells.emplace_back(job.features[f].binCount);
      sum(std::move(cells));
    } else {
      std::vector<ManyCells> cells;
      for (std::size_t f = begin; f < end; f++) cells.emplace_back(job.features[f].binCount, job.columns.size());
      sum(std::move(cells));
    }
  });
  return bad.index();
}

}  // namespace tandem
