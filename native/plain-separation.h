// How well scores separate two classes (gbdt/metric/ranking-metrics.ts, whose bits these are): both classes are sorted,
// then merged.
#pragma once

#include <cstddef>

namespace tandem {

struct Separation {
  double auc;
  double ks;
};

// Divides `scores` by labels of 1 and 0 into two arrays, each in ascending order. Returns the first row whose score is
// NaN or that does not fit there; -1 if all do. Then `result` is set.
long long plainSeparation(const double* scores, const double* labels, std::size_t count, double* positives,
                          std::size_t positiveCount, double* negatives, std::size_t negativeCount, Separation& result);

}  // namespace tandem
