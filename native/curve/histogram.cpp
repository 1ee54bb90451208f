// See histogram.h. The selection and its bins are copied and checked first: JavaScript could change them while threads
// work.
#include "histogram.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "../joint-bins.h"
#include "../threads.h"
#include "list-sums.h"

namespace tandem {
namespace curve {

namespace {

constexpr std::size_t kGroupMax = 3;
constexpr std::size_t kJointCellsMax = std::size_t{1} << 16;
// Groups whose joint cells and lists are in memory at the same time.
constexpr std::size_t kJointBytesMax = std::size_t{64} << 20;
constexpr std::size_t kItemsMax = std::size_t{1} << 28;
constexpr std::size_t kNormaliseChunk = 1024;
constexpr std::size_t kCellCost = 6;

struct Selection {
  std::vector<std::uint32_t> rows;
  std::vector<BinColumn> columns;
};

Selection checkedSelection(const HistogramJob& job, std::size_t threads) {
  Selection selection;
  selection.rows.assign(job.rows, job.rows + job.selectedCount);
  for (const std::uint32_t row : selection.rows) {
    if (row >= job.rowCount) throw std::out_of_range("a row is out of range");
  }
  selection.columns.resize(job.features.size());
  parallelChunks(job.features.size(), 1, threads, [&](std::size_t f, std::size_t) {
    const HistogramJob::Feature& feature = job.features[f];
    BinColumn& column = selection.columns[f];
    column.binCount = feature.binCount;
    column.skippedBin = feature.skippedBin;
    column.bins.resize(selection.rows.size());
    for (std::size_t s = 0; s < selection.rows.size(); s++) {
      const std::uint16_t bin = feature.bins[selection.rows[s]];
      if (bin >= feature.binCount) throw std::out_of_range("a bin is out of range");
      column.bins[s] = bin;
    }
  });
  return selection;
}

// Groups by upper bounds: an addition costs so little here that counting the cells in use would cost as much as it
// saves. A joint cell costs about kCellCost additions to begin, to store and to normalise it, and one per feature.
std::vector<FeatureGroup> planGroups(const Selection& selection, bool allowJoint) {
  const std::size_t count = selection.columns.size();
  const std::size_t rows = selection.rows.size();
  std::vector<std::size_t> kept(count);
  for (std::size_t f = 0; f < count; f++) {
    const BinColumn& column = selection.columns[f];
    std::size_t skipped = 0;
    if (column.skippedBin >= 0) {
      for (const std::uint16_t bin : column.bins) skipped += column.isSkipped(bin) ? 1 : 0;
    }
    kept[f] = rows - skipped;
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto bins = [&](std::size_t f) { return selection.columns[f].binCount; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return kept[a] != kept[b] ? kept[a] > kept[b] : bins(a) < bins(b);
  });
  // best[i]: least cost of the first i features in order; size[i]: size of the group that ends there.
  std::vector<std::size_t> best(count + 1, 0);
  std::vector<std::size_t> size(count + 1, 0);
  for (std::size_t end = 1; end <= count; end++) {
    best[end] = best[end - 1] + kept[order[end - 1]];
    size[end] = 1;
    for (std::size_t members = 2; allowJoint && members <= std::min(kGroupMax, end); members++) {
      const FeatureGroup group(order.begin() + static_cast<std::ptrdiff_t>(end - members),
                               order.begin() + static_cast<std::ptrdiff_t>(end));
      const std::size_t cells = jointCellCount(selection.columns, group);
      if (cells > kJointCellsMax) break;
      std::size_t summed = 0;
      for (const std::size_t f : group) summed += kept[f];
      const std::size_t cost = best[end - members] + std::min(summed, rows) + cells * (kCellCost + members);
      if (cost >= best[end]) continue;
      best[end] = cost;
      size[end] = members;
    }
  }
  std::vector<FeatureGroup> groups;
  for (std::size_t end = count; end > 0; end -= size[end]) {
    groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(end - size[end]),
                        order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return groups;
}

class Batch {
 public:
  Batch(const HistogramJob& job, const Selection& selection, const std::vector<FeatureGroup>& groups)
      : job_(job), selection_(selection) {
    for (const FeatureGroup& group : groups) addGroup(group);
  }

  void run(const Kernel& kernel, std::size_t threads) const {
    const ListSums first(kernel, firstPass_);
    const ListSums second(kernel, secondPass_);
    Points sums(firstPass_.count());
    Addends joint(jointCells_);
    Points margins(secondPass_.count());
    for (const HistogramJob::Source& source : job_.sources) {
      for (std::size_t j = 0; j < source.width; j++) {
        first.run(source.points + j * job_.rowCount, sums.data(), threads);
        for (std::size_t list = jointCells_; list < sums.size(); list++) {
          source.sums[firstTargets_[list - jointCells_] * source.width + j] = sums[list];
        }
        if (jointCells_ == 0) continue;
        parallelChunks(jointCells_, kNormaliseChunk, threads, [&](std::size_t begin, std::size_t end) {
          kernel.addendsOf(sums.data() + begin, end - begin, joint.data() + begin);
        });
        second.run(joint.data(), margins.data(), threads);
        for (std::size_t list = 0; list < margins.size(); list++) {
          source.sums[secondTargets_[list] * source.width + j] = margins[list];
        }
      }
    }
  }

 private:
  // Groups of several features come first: their lists are the joint cells.
  void addGroup(const FeatureGroup& group) {
    const std::vector<BinColumn>& columns = selection_.columns;
    const std::size_t cellCount = jointCellCount(columns, group);
    const std::size_t count = selection_.rows.size();
    const bool isJoint = group.size() > 1;
    // As jointCell, feature by feature.
    std::vector<std::uint32_t> cells(count);
    for (const std::size_t feature : group) {
      const std::uint32_t binCount = static_cast<std::uint32_t>(columns[feature].binCount);
      const std::uint16_t* bins = columns[feature].bins.data();
      for (std::size_t s = 0; s < count; s++) cells[s] = cells[s] * binCount + bins[s];
    }
    std::vector<std::uint32_t> counts(cellCount);
    for (const std::uint32_t cell : cells) counts[cell]++;
    for (std::size_t cell = 0; cell < cellCount; cell++) {
      if (isJointCellSkipped(columns, group, cell)) counts[cell] = 0;
    }
    std::vector<std::uint32_t> cursor(cellCount);
    std::vector<std::int64_t> compact(cellCount, -1);
    for (std::size_t cell = 0; cell < cellCount; cell++) {
      cursor[cell] = counts[cell] == 0 ? kNoCell : firstPass_.offsets.back();
      if (isJoint && counts[cell] == 0) continue;  // only cells with rows are kept
      if (isJoint) compact[cell] = static_cast<std::int64_t>(jointCells_++);
      if (!isJoint) firstTargets_.push_back(job_.features[group[0]].firstCell + cell);
      firstPass_.offsets.push_back(firstPass_.offsets.back() + counts[cell]);
    }
    firstPass_.items.resize(firstPass_.offsets.back());
    for (std::size_t s = 0; s < count; s++) {
      std::uint32_t& at = cursor[cells[s]];
      if (at != kNoCell) firstPass_.items[at++] = selection_.rows[s];
    }
    if (isJoint) addMargins(group, compact);
  }

  // Every bin of every feature of the group is the sum of the joint cells that have it.
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

  static constexpr std::uint32_t kNoCell = static_cast<std::uint32_t>(-1);

  const HistogramJob& job_;
  const Selection& selection_;
  std::size_t jointCells_ = 0;
  Lists firstPass_;
  std::vector<std::size_t> firstTargets_;  // of the lists behind the joint cells
  Lists secondPass_;
  std::vector<std::size_t> secondTargets_;
};

}  // namespace

void histogram(const Kernel& kernel, const HistogramJob& job, std::size_t threads) {
  const Selection selection = checkedSelection(job, threads);
  std::vector<FeatureGroup> groups = planGroups(selection, job.jointBins);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const FeatureGroup& a, const FeatureGroup& b) { return a.size() > b.size(); });
  for (std::size_t begin = 0; begin < groups.size();) {
    std::size_t end = begin;
    std::size_t bytes = 0;
    std::size_t items = 0;
    do {
      if (groups[end].size() > 1) bytes += sizeof(StoredPoint) * jointCellCount(selection.columns, groups[end]);
      items += job.selectedCount;
      end++;
    } while (end < groups.size() && bytes < kJointBytesMax && items < kItemsMax);
    const Batch batch(
        job, selection,
        {groups.begin() + static_cast<std::ptrdiff_t>(begin), groups.begin() + static_cast<std::ptrdiff_t>(end)});
    batch.run(kernel, threads);
    begin = end;
  }
}

}  // namespace curve
}  // namespace tandem
