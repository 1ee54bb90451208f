// See joint-bins.h.
#include "joint-bins.h"

#include <algorithm>
#include <numeric>

namespace tandem {

namespace {

constexpr std::size_t kGroupMax = 3;
constexpr std::size_t kJointCellsMax = std::size_t{1} << 16;
// Beginning and ending a list costs about this much of a product (conversion to and from the kernel's form).
constexpr double kListCost = 0.25;
// Below this many instances nothing is gained.
constexpr std::size_t kInstancesMin = 64;

double directCost(const BinColumn& column) {
  std::vector<bool> seen(column.binCount);
  std::size_t items = 0;
  std::size_t lists = 0;
  for (const std::uint16_t bin : column.bins) {
    if (column.isSkipped(bin)) continue;
    items++;
    lists += seen[bin] ? 0 : 1;
    seen[bin] = true;
  }
  return static_cast<double>(items - lists) + kListCost * static_cast<double>(lists);
}

double jointCost(const std::vector<BinColumn>& columns, const FeatureGroup& group, std::size_t instances) {
  std::vector<bool> seen(jointCellCount(columns, group));
  std::size_t items = 0;
  std::size_t cells = 0;
  std::size_t marginItems = 0;
  for (std::size_t position = 0; position < instances; position++) {
    const std::size_t cell = jointCell(columns, group, position);
    if (seen[cell]) {
      items++;
      continue;
    }
    if (isJointCellSkipped(columns, group, cell)) continue;
    seen[cell] = true;
    items++;
    cells++;
    for (std::size_t member = 0; member < group.size(); member++) {
      const BinColumn& column = columns[group[member]];
      if (!column.isSkipped(column.bins[position])) marginItems++;
    }
  }
  return static_cast<double>(items - cells + marginItems) + 2 * kListCost * static_cast<double>(cells);
}

}  // namespace

std::size_t jointCellCount(const std::vector<BinColumn>& columns, const FeatureGroup& group) {
  std::size_t count = 1;
  for (const std::size_t feature : group) {
    count *= columns[feature].binCount;
    if (count > kJointCellsMax) return kJointCellsMax + 1;
  }
  return count;
}

std::size_t jointCell(const std::vector<BinColumn>& columns, const FeatureGroup& group, std::size_t position) {
  std::size_t cell = 0;
  for (const std::size_t feature : group) cell = cell * columns[feature].binCount + columns[feature].bins[position];
  return cell;
}

std::size_t binInJointCell(const std::vector<BinColumn>& columns, const FeatureGroup& group, std::size_t member,
                           std::size_t cell) {
  for (std::size_t later = group.size() - 1; later > member; later--) cell /= columns[group[later]].binCount;
  return cell % columns[group[member]].binCount;
}

bool isJointCellSkipped(const std::vector<BinColumn>& columns, const FeatureGroup& group, std::size_t cell) {
  for (std::size_t member = 0; member < group.size(); member++) {
    if (!columns[group[member]].isSkipped(binInJointCell(columns, group, member, cell))) return false;
  }
  return true;
}

std::vector<FeatureGroup> planGroups(const std::vector<BinColumn>& columns, std::size_t instances, bool allowJoint) {
  const std::size_t count = columns.size();
  std::vector<double> direct(count);
  for (std::size_t f = 0; f < count; f++) direct[f] = directCost(columns[f]);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return direct[a] > direct[b]; });
  // best[i]: least cost of the first i features in order; size[i]: size of the group that ends there.
  std::vector<double> best(count + 1, 0);
  std::vector<std::size_t> size(count + 1, 0);
  for (std::size_t end = 1; end <= count; end++) {
    best[end] = best[end - 1] + direct[order[end - 1]];
    size[end] = 1;
    if (!allowJoint || instances < kInstancesMin) continue;
    for (std::size_t members = 2; members <= std::min(kGroupMax, end); members++) {
      const FeatureGroup group(order.begin() + static_cast<std::ptrdiff_t>(end - members),
                               order.begin() + static_cast<std::ptrdiff_t>(end));
      const std::size_t cells = jointCellCount(columns, group);
      // With more cells than twice the instances hardly two instances share one; a third feature must save half the
      // instances to beat a pair, and its cells cost two products each. Not worth counting otherwise.
      if (cells > kJointCellsMax || cells > (members == 2 ? 2 * instances : instances / 2)) break;
      const double cost = best[end - members] + jointCost(columns, group, instances);
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

}  // namespace tandem
