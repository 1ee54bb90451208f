// The histogram of public-operations.h: the sum of the selected instances' gradients per feature and bin.
//
// Work is cut into tasks: groups of up to kLanes features, so that one instance's gradient is read once for several
// independent products; and, where there are fewer groups than threads, ranges of instances, whose partial histograms
// are multiplied together at the end. Products modulo n^2 are exact and commute, so the cut does not show in the result.
#include <algorithm>
#include <stdexcept>

#include "public-operations.h"
#include "threads.h"

namespace tandem {

namespace {

struct Cut {
  std::size_t groups;
  std::size_t ranges;
};

Cut cutFor(std::size_t features, std::size_t instances, std::size_t threads) {
  // A multiple of the threads, so that all end at about the same time.
  const std::size_t atLeast = (features + kLanes - 1) / kLanes;
  const std::size_t even = (atLeast + threads - 1) / threads * threads;
  const std::size_t groups = std::max<std::size_t>(1, std::min(even, features));
  const std::size_t ranges = groups >= threads ? 1 : (threads + groups - 1) / groups;
  return {groups, std::max<std::size_t>(1, std::min(ranges, instances))};
}

// The cells of one range of instances.
struct Cells {
  Limb* limbs;
  std::vector<std::uint8_t> filled;
};

class Accumulation {
 public:
  Accumulation(const PublicContext& context, const HistogramJob& job)
      : modulus_(*context.modulus), limbs_(context.limbs()), job_(job) {}

  // Adds the instances [from, to) to the cells of the features [first, last), last - first <= kLanes.
  void run(Cells& cells, std::size_t first, std::size_t last, std::size_t from, std::size_t to) const {
    Product jobs[kLanes];
    for (std::size_t s = from; s < to; s++) {
      const std::size_t instance = job_.instances[s];
      if (instance >= job_.instanceCount) throw std::out_of_range("an instance index is out of range");
      for (std::size_t j = 0; j < job_.perInstance; j++) {
        const Limb* gradient = job_.gradients + (instance * job_.perInstance + j) * limbs_;
        std::size_t lanes = 0;
        for (std::size_t f = first; f < last; f++) {
          const HistogramJob::Feature& feature = job_.features[f];
          const std::size_t bin = feature.bins[instance];
          if (bin >= feature.binCount) throw std::out_of_range("a bin is out of range");
          if (static_cast<std::int64_t>(bin) == feature.skippedBin) continue;
          const std::size_t cell = (feature.firstCell + bin) * job_.perInstance + j;
          Limb* sum = cells.limbs + cell * limbs_;
          if (cells.filled[cell] != 0) {
            jobs[lanes++] = {sum, sum, gradient};
          } else {
            copyLimbs(sum, gradient, limbs_);
            cells.filled[cell] = 1;
          }
        }
        modulus_.products(jobs, lanes);
      }
    }
  }

  // cells[0] becomes the product of all ranges; cells that nobody filled become 1.
  void merge(std::vector<Cells>& cells, std::size_t cell) const {
    Limb* sum = cells[0].limbs + cell * limbs_;
    bool filled = cells[0].filled[cell] != 0;
    for (std::size_t r = 1; r < cells.size(); r++) {
      if (cells[r].filled[cell] == 0) continue;
      const Limb* part = cells[r].limbs + cell * limbs_;
      if (filled) {
        modulus_.product(sum, sum, part);
      } else {
        copyLimbs(sum, part, limbs_);
      }
      filled = true;
    }
    if (!filled) copyLimbs(sum, modulus_.one(), limbs_);
  }

 private:
  const Modulus& modulus_;
  std::size_t limbs_;
  const HistogramJob& job_;
};

}  // namespace

void histogram(const PublicContext& context, const HistogramJob& job, Limb* result, std::size_t threads) {
  const std::size_t features = job.features.size();
  const std::size_t cellCount = job.cellCount * job.perInstance;
  const Cut cut = cutFor(features, job.selectedCount, threads);
  std::vector<Limb> partial((cut.ranges - 1) * cellCount * context.limbs());
  std::vector<Cells> cells(cut.ranges);
  for (std::size_t r = 0; r < cut.ranges; r++) {
    cells[r].limbs = r == 0 ? result : partial.data() + (r - 1) * cellCount * context.limbs();
    cells[r].filled.assign(cellCount, 0);
  }
  const Accumulation accumulation(context, job);
  parallelChunks(cut.groups * cut.ranges, 1, threads, [&](std::size_t task, std::size_t) {
    const std::size_t group = task / cut.ranges;
    const std::size_t range = task % cut.ranges;
    accumulation.run(cells[range], features * group / cut.groups, features * (group + 1) / cut.groups,
                     job.selectedCount * range / cut.ranges, job.selectedCount * (range + 1) / cut.ranges);
  });
  parallelChunks(cellCount, 64, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; cell++) accumulation.merge(cells, cell);
  });
}

}  // namespace tandem
