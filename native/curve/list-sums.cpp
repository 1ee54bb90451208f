// See list-sums.h.
#include "list-sums.h"

#include <algorithm>
#include <numeric>

#include "../threads.h"

namespace tandem {
namespace curve {

namespace {

// A piece is worth the addition that joins it to its list from about this length on.
constexpr std::size_t kPieceMin = 64;
// Vectors of pieces, so that the last ones leave no thread idle for long.
constexpr std::size_t kVectorsMin = 48;

}  // namespace

ListSums::ListSums(const Kernel& kernel, const Lists& lists) : kernel_(kernel), listCount_(lists.count()) {
  const std::size_t lengthMax = std::max(kPieceMin, lists.items.size() / (kVectorsMin * kernel.lanes()));
  std::vector<Piece> unsorted;
  firstSlot_.push_back(0);
  for (std::size_t list = 0; list < listCount_; list++) {
    const std::size_t length = lists.offsets[list + 1] - lists.offsets[list];
    const std::size_t parts = (length + lengthMax - 1) / lengthMax;
    for (std::size_t part = 0; part < parts; part++) {
      const std::size_t from = length * part / parts;
      const std::size_t to = length * (part + 1) / parts;
      unsorted.push_back({lists.items.data() + lists.offsets[list] + from, static_cast<std::uint32_t>(to - from)});
    }
    firstSlot_.push_back(static_cast<std::uint32_t>(unsorted.size()));
  }
  std::vector<std::uint32_t> order(unsorted.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return unsorted[a].length > unsorted[b].length; });
  slots_.resize(order.size());
  for (std::size_t i = 0; i < order.size(); i++) {
    pieces_.push_back(unsorted[order[i]]);
    slots_[order[i]] = static_cast<std::uint32_t>(i);
  }
}

void ListSums::run(const StoredAddend* points, StoredPoint* sums, std::size_t threads) const {
  Points parts(pieces_.size());
  parallelChunks(pieces_.size(), kernel_.lanes(), threads, [&](std::size_t begin, std::size_t end) {
    kernel_.sumPieces(points, pieces_.data() + begin, end - begin, parts.data() + begin);
  });
  std::vector<Chain> chains;
  std::vector<std::int32_t> targets(slots_.size(), -1);
  for (std::size_t list = 0; list < listCount_; list++) {
    const std::size_t first = firstSlot_[list];
    const std::size_t length = firstSlot_[list + 1] - first;
    if (length == 0) sums[list] = kNeutralPoint;
    if (length == 1) sums[list] = parts[slots_[first]];
    if (length < 2) continue;
    targets[first + length - 1] = static_cast<std::int32_t>(list);
    chains.push_back({slots_.data() + first, targets.data() + first, length});
  }
  std::stable_sort(chains.begin(), chains.end(), [](const Chain& a, const Chain& b) { return a.length > b.length; });
  kernel_.runChains(chains.data(), chains.size(), parts.data(), sums, 1);
}

}  // namespace curve
}  // namespace tandem
