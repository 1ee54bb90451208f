// See lattice-cells.h.
#include "lattice-cells.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "threads.h"

namespace tandem {
namespace lattice {

namespace {

// Records below 2^50 that fit a folded cell below 2^51.
constexpr std::size_t kRecordsPerFold = 8192;
// Fewer are added before another thread has started.
constexpr std::size_t kRecordsPerThread = 16384;
// Features whose cells stay in the first-level cache together, at 32 bins.
constexpr std::size_t kFeaturesPerTile = 24;

// Features of a tile, with cells of their own: all as far apart as the largest needs, so that no table is needed to
// find one. The stride is never a power of two, for which cells of all features would share few sets of the cache.
struct TilePlan {
  std::size_t firstFeature;
  std::size_t features;
  std::size_t strideCells;
  std::size_t firstCell;
};

std::vector<TilePlan> planTiles(const std::vector<std::uint32_t>& binCounts) {
  if (binCounts.empty()) return {{0, 0, 0, 0}};  // records are checked even so
  std::vector<TilePlan> plans;
  std::size_t firstCell = 0;
  for (std::size_t f = 0; f < binCounts.size(); f += kFeaturesPerTile) {
    const std::size_t features = std::min(kFeaturesPerTile, binCounts.size() - f);
    const auto from = binCounts.begin() + static_cast<std::ptrdiff_t>(f);
    const std::size_t stride = *std::max_element(from, from + static_cast<std::ptrdiff_t>(features)) + 2;
    plans.push_back({f, features, stride, firstCell});
    firstCell += features * stride;
  }
  return plans;
}

// The first non-canonical record; called only after one has been detected.
std::size_t firstRefused(const Context& context, const std::uint8_t* records, std::size_t count) {
  for (std::size_t i = 0; i < count; i++) {
    std::uint8_t padded[32 + kRecordSlack] = {};
    std::uint64_t lanes[kLanes];
    std::copy(records, records + context.set.recordBytes, padded);
    if (!context.kernel.unpackRecords(padded, 1, lanes)) return i;
    records += context.set.recordBytes;
  }
  return count;
}

// Calls work(records, first, count) such that a kernel may read kRecordSlack bytes beyond: the last record is copied.
template <typename Work>
void withSlack(const Context& context, const std::uint8_t* records, std::size_t count, const Work& work) {
  if (count == 0) return;
  std::uint8_t padded[32 + kRecordSlack] = {};
  const std::uint8_t* last = records + (count - 1) * context.set.recordBytes;
  std::copy(last, last + context.set.recordBytes, padded);
  work(records, std::size_t{0}, count - 1);
  work(padded, count - 1, std::size_t{1});
}

// Cells of one thread's records.
template <typename Bin>
class Cells {
 public:
  // A bin is an index whatever its value: what it points to is within the cells and as many behind as a Bin can count.
  Cells(const Context& context, const AccumulateJob& job, const std::vector<TilePlan>& plans)
      : context_(context),
        job_(job),
        plans_(plans),
        planned_(plans.back().firstCell + plans.back().features * plans.back().strideCells),
        cells_(kLanes * (planned_ + std::numeric_limits<Bin>::max() + 1)) {}

  // Records [begin, end) of the job. False if one is not canonical.
  bool add(std::size_t begin, std::size_t end) {
    bool isCanonical = true;
    const Bin* bins = reinterpret_cast<const Bin*>(job_.rowBins);
    const std::size_t rowBins = job_.binCounts.size();
    for (std::size_t i = begin; i < end; i += kRecordsPerFold) {
      const std::uint8_t* records = job_.records + i * context_.set.recordBytes;
      const auto addSome = [&](const std::uint8_t* from, std::size_t first, std::size_t count) {
        for (const TilePlan& plan : plans_) {
          const CellTile tile{cells_.data() + kLanes * plan.firstCell, kLanes * plan.strideCells, plan.features};
          const Bin* own = bins + (i + first) * rowBins + plan.firstFeature;
          isCanonical &= context_.kernel.addRecords(from, count, own, rowBins, tile);
        }
      };
      withSlack(context_, records, std::min(kRecordsPerFold, end - i), addSome);
      context_.kernel.foldCells(cells_.data(), planned_);
    }
    return isCanonical;
  }

  // Adds to the job's cells.
  void addTo(std::uint64_t* to) const {
    for (const TilePlan& plan : plans_) {
      for (std::size_t f = 0; f < plan.features; f++) {
        const std::uint64_t* own = cells_.data() + kLanes * (plan.firstCell + f * plan.strideCells);
        const std::size_t numbers = kLanes * job_.binCounts[plan.firstFeature + f];
        for (std::size_t i = 0; i < numbers; i++) {
          const std::size_t limb = i % kLanes % context_.set.limbs;
          const std::int64_t before = fold(static_cast<SignedWide>(to[i]), limb);
          to[i] = canonicalOfFolded(before + static_cast<std::int64_t>(own[i]), limb);
        }
        to += numbers;
      }
    }
  }

 private:
  const Context& context_;
  const AccumulateJob& job_;
  const std::vector<TilePlan>& plans_;
  std::size_t planned_;
  Array<std::uint64_t> cells_;
};

template <typename Bin>
long long accumulateBins(const Context& context, const AccumulateJob& job, std::size_t threads) {
  const std::vector<TilePlan> plans = planTiles(job.binCounts);
  // Every thread has its own cells: few records are not worth them.
  const std::size_t perThread = std::max((job.count + threads - 1) / threads, kRecordsPerThread);
  std::vector<std::unique_ptr<Cells<Bin>>> parts((job.count + perThread - 1) / perThread);
  FirstBad refused;
  parallelChunks(job.count, perThread, threads, [&](std::size_t begin, std::size_t end) {
    auto part = std::make_unique<Cells<Bin>>(context, job, plans);
    if (!part->add(begin, end)) {
      refused.report(begin + firstRefused(context, job.records + begin * context.set.recordBytes, end - begin));
    }
    parts[begin / perThread] = std::move(part);
  });
  if (refused.index() < 0) {
    for (const auto& part : parts) part->addTo(job.cells);
  }
  return refused.index();
}

template <typename Bin>
bool layBins(const std::vector<const std::uint16_t*>& bins, const std::vector<std::uint32_t>& binCounts,
             std::size_t rows, Bin* result, std::size_t threads) {
  std::atomic<bool> isInRange{true};
  parallelChunks(rows, 4096, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = 0; f < bins.size(); f++) {
      for (std::size_t i = begin; i < end; i++) {
        const std::uint16_t bin = bins[f][i];
        if (bin >= binCounts[f]) isInRange = false;
        result[i * bins.size() + f] = static_cast<Bin>(bin);
      }
    }
  });
  return isInRange;
}

}  // namespace

std::size_t binBytes(const std::vector<std::uint32_t>& binCounts) {
  return std::all_of(binCounts.begin(), binCounts.end(), [](std::uint32_t count) { return count <= 256; }) ? 1 : 2;
}

bool layRowBins(const std::vector<const std::uint16_t*>& bins, const std::vector<std::uint32_t>& binCounts,
                std::size_t rows, std::uint8_t* result, std::size_t threads) {
  if (binBytes(binCounts) == 1) return layBins(bins, binCounts, rows, result, threads);
  return layBins(bins, binCounts, rows, reinterpret_cast<std::uint16_t*>(result), threads);
}

long long accumulate(const Context& context, const AccumulateJob& job, std::size_t threads) {
  if (binBytes(job.binCounts) == 1) return accumulateBins<std::uint8_t>(context, job, threads);
  return accumulateBins<std::uint16_t>(context, job, threads);
}

long long unpackChecked(const Context& context, const std::uint8_t* records, std::size_t count, std::uint64_t* lanes) {
  bool isCanonical = true;
  withSlack(context, records, count, [&](const std::uint8_t* from, std::size_t first, std::size_t some) {
    isCanonical &= context.kernel.unpackRecords(from, some, lanes + kLanes * first);
  });
  return isCanonical ? -1 : static_cast<long long>(firstRefused(context, records, count));
}

}  // namespace lattice
}  // namespace tandem
