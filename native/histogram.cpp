// The histogram of public-operations.h: the sum of the selected instances' gradients per feature and bin, directly or
// by way of joint cells (joint-bins.h), as products of lists (segmented-products.h).
//
// The selection and its bins are copied and checked first: JavaScript could change them while threads work.
#include <algorithm>
#include <stdexcept>

#include "joint-bins.h"
#include "public-operations.h"
#include "segmented-products.h"

namespace tandem {

namespace {

// Joint cells are kept for as many groups at a time as fit this.
constexpr std::size_t kJointBytesMax = std::size_t{64} << 20;

struct Selection {
  std::vector<std::uint32_t> instances;
  std::vector<BinColumn> columns;
};

Selection checkedSelection(const HistogramJob& job) {
  Selection selection;
  selection.instances.assign(job.instances, job.instances + job.selectedCount);
  for (const std::uint32_t instance : selection.instances) {
    if (instance >= job.instanceCount) throw std::out_of_range("an instance index is out of range");
  }
  selection.columns.resize(job.features.size());
  for (std::size_t f = 0; f < job.features.size(); f++) {
    const HistogramJob::Feature& feature = job.features[f];
    BinColumn& column = selection.columns[f];
    column.binCount = feature.binCount;
    column.skippedBin = feature.skippedBin;
    column.bins.resize(selection.instances.size());
    for (std::size_t s = 0; s < selection.instances.size(); s++) {
      const std::uint16_t bin = feature.bins[selection.instances[s]];
      if (bin >= feature.binCount) throw std::out_of_range("a bin is out of range");
      column.bins[s] = bin;
    }
  }
  return selection;
}

// Groups whose joint cells are in memory at the same time.
class Batch {
 public:
  Batch(const HistogramJob& job, const Selection& selection, std::vector<FeatureGroup> groups)
      : job_(job), selection_(selection), groups_(std::move(groups)) {
    firstPass_.offsets.push_back(0);
    secondPass_.offsets.push_back(0);
    for (const FeatureGroup& group : groups_) addGroup(group);
  }

  std::size_t jointCells() const { return jointCells_; }

  // Ciphertext j of every instance.
  void run(const SquareRing& ring, std::size_t j, Limb* result, Limb* cells, std::size_t threads) const {
    const std::size_t size = ring.elementLimbs();
    const auto resultCell = [&](std::size_t cell) { return result + (cell * job_.perInstance + j) * size; };
    segmentedProducts(
        ring, firstPass_,
        [&](std::uint32_t item) {
          const std::size_t instance = selection_.instances[item];
          return job_.gradients + (instance * job_.perInstance + j) * size;
        },
        [&](std::size_t list) {
          const Target& target = firstTargets_[list];
          return target.isJoint ? cells + target.cell * size : resultCell(target.cell);
        },
        threads);
    segmentedProducts(
        ring, secondPass_, [&](std::uint32_t item) { return cells + item * size; },
        [&](std::size_t list) { return resultCell(secondTargets_[list]); }, threads);
  }

 private:
  // A cell of the result, or a joint cell.
  struct Target {
    bool isJoint;
    std::size_t cell;
  };

  void addGroup(const FeatureGroup& group) {
    const std::vector<BinColumn>& columns = selection_.columns;
    const std::size_t cellCount = jointCellCount(columns, group);
    const std::size_t count = selection_.instances.size();
    // Counting sort of the instances by cell. Skipped cells are not counted.
    std::vector<std::uint8_t> skipped(cellCount);
    for (std::size_t cell = 0; cell < cellCount; cell++) skipped[cell] = isJointCellSkipped(columns, group, cell);
    std::vector<std::uint32_t> cells(count);
    std::vector<std::uint32_t> counts(cellCount);
    for (std::size_t s = 0; s < count; s++) {
      cells[s] = static_cast<std::uint32_t>(jointCell(columns, group, s));
      if (!skipped[cells[s]]) counts[cells[s]]++;
    }
    const bool isJoint = group.size() > 1;
    std::vector<std::uint32_t> cursor(cellCount);
    std::vector<std::int64_t> compact(cellCount, -1);
    for (std::size_t cell = 0; cell < cellCount; cell++) {
      cursor[cell] = firstPass_.offsets.back();
      if (isJoint && counts[cell] == 0) continue;  // only cells with instances are kept
      if (isJoint) compact[cell] = static_cast<std::int64_t>(jointCells_++);
      const std::size_t target =
          isJoint ? static_cast<std::size_t>(compact[cell]) : job_.features[group[0]].firstCell + cell;
      firstTargets_.push_back({isJoint, target});
      firstPass_.offsets.push_back(firstPass_.offsets.back() + counts[cell]);
    }
    firstPass_.items.resize(firstPass_.offsets.back());
    for (std::size_t s = 0; s < count; s++) {
      if (!skipped[cells[s]]) firstPass_.items[cursor[cells[s]]++] = static_cast<std::uint32_t>(s);
    }
    if (isJoint) addMargins(group, compact);
  }

  // Every bin of every feature of the group is the product of the joint cells that have it.
  void addMargins(const FeatureGroup& group, const std::vector<std::int64_t>& compact) {
    for (std::size_t member = 0; member < group.size(); member++) {
      const BinColumn& column = selection_.columns[group[member]];
      std::vector<std::vector<std::uint32_t>> lists(column.binCount);
      for (std::size_t cell = 0; cell < compact.size(); cell++) {
        if (compact[cell] < 0) continue;
        const std::size_t bin = binInJointCell(selection_.columns, group, member, cell);
        if (!column.isSkipped(bin)) lists[bin].push_back(static_cast<std::uint32_t>(compact[cell]));
      }
      for (std::size_t bin = 0; bin < column.binCount; bin++) {
        secondPass_.items.insert(secondPass_.items.end(), lists[bin].begin(), lists[bin].end());
        secondPass_.offsets.push_back(static_cast<std::uint32_t>(secondPass_.items.size()));
        secondTargets_.push_back(job_.features[group[member]].firstCell + bin);
      }
    }
  }

  const HistogramJob& job_;
  const Selection& selection_;
  std::vector<FeatureGroup> groups_;
  std::size_t jointCells_ = 0;
  ProductLists firstPass_;
  std::vector<Target> firstTargets_;
  ProductLists secondPass_;
  std::vector<std::size_t> secondTargets_;
};

}  // namespace

void histogram(const PublicContext& context, const HistogramJob& job, Limb* result, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const Selection selection = checkedSelection(job);
  const std::vector<FeatureGroup> groups = planGroups(selection.columns, job.selectedCount, job.jointBins);
  const std::size_t cellBytes = ring.elementLimbs() * sizeof(Limb);
  // Item offsets have 32 bits; lists of this many instances are also enough to keep all threads busy.
  const std::size_t itemsMax = std::size_t{1} << 28;
  for (std::size_t begin = 0; begin < groups.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    std::size_t items = 0;
    do {
      if (groups[end].size() > 1) bytes += cellBytes * jointCellCount(selection.columns, groups[end]);
      items += job.selectedCount;
      end++;
    } while (end < groups.size() && bytes < kJointBytesMax && items < itemsMax);
    const Batch batch(
        job, selection,
        {groups.begin() + static_cast<std::ptrdiff_t>(begin), groups.begin() + static_cast<std::ptrdiff_t>(end)});
    std::vector<Limb> cells(batch.jointCells() * ring.elementLimbs());
    for (std::size_t j = 0; j < job.perInstance; j++) batch.run(ring, j, result, cells.data(), threads);
    begin = end;
  }
}

}  // namespace tandem
