// See answers.h.
#include "answers.h"

#include <algorithm>

#include "../threads.h"

namespace tandem {
namespace curve {

namespace {

constexpr std::size_t kChunkMin = 32;
constexpr std::size_t kChunkMax = 256;

// Running sums of one column; those of suppressed candidates are empty.
void candidateSums(const Kernel& kernel, const AnswerJob& job, const StoredPoint* from, StoredPoint* to,
                   std::size_t width, std::size_t threads) {
  std::vector<Chain> chains;
  for (std::size_t c = 0; c + 1 < job.chains.offsets.size(); c++) {
    const std::size_t first = job.chains.offsets[c];
    const std::size_t length = job.chains.offsets[c + 1] - first;
    chains.push_back({job.chains.sources.data() + first, job.chains.targets.data() + first, length});
  }
  parallelChunks(chains.size(), kernel.lanes(), threads, [&](std::size_t begin, std::size_t end) {
    kernel.runChains(chains.data() + begin, end - begin, from, to, width);
  });
  for (std::size_t i = 0; i < job.suppressed.size(); i++) {
    if (job.suppressed[i] != 0) to[i * width] = kNeutralPoint;
  }
}

}  // namespace

void answer(const Kernel& kernel, const AnswerJob& job, std::size_t threads) {
  const std::size_t count = job.suppressed.size();
  Scalars masks(count);
  for (std::size_t i = 0; i < count; i++) {
    masks[i] = reducedScalar(reinterpret_cast<const std::uint8_t*>(job.masks.data()) + i * kWideScalarBytes);
  }
  Points bases(count);
  Points values(count * job.width);
  candidateSums(kernel, job, job.bases, bases.data(), 1, threads);
  for (std::size_t j = 0; j < job.width; j++) {
    candidateSums(kernel, job, job.values + j, values.data() + j, job.width, threads);
  }
  const std::size_t stride = (1 + job.width) * kPointBytes;
  std::vector<MaskColumn> columns;
  columns.push_back({bases.data(), 1, &kernel.base(), masks.data(), nullptr, job.encodings, stride});
  for (std::size_t j = 0; j < job.width; j++) {
    const double* noise = job.noise.empty() ? nullptr : job.noise.data() + j;
    std::uint8_t* encodings = job.encodings + (1 + j) * kPointBytes;
    columns.push_back({values.data() + j, job.width, &(*job.keys)[j], masks.data(), noise, encodings, stride});
  }
  // Chunks share an inversion, and leave no thread without work.
  const std::size_t share = (count + threads - 1) / threads;
  const std::size_t chunk = std::clamp((share + kLanesMax - 1) / kLanesMax * kLanesMax, kChunkMin, kChunkMax);
  parallelChunks(count, chunk, threads,
                 [&](std::size_t begin, std::size_t end) { kernel.maskColumns(columns, begin, end); });
}

}  // namespace curve
}  // namespace tandem
