// Sums of lists of points, in lanes. See lane-points.h.

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

// Points that are fetched ahead of the one that is added.
constexpr std::size_t kAhead = 6;

// One piece per lane.
TANDEM_LANE_CALL Point pieceSums(const StoredAddend* points, const Piece* pieces, std::size_t count) {
  const std::uint32_t* items[kLanes];
  std::size_t lengths[kLanes];
  std::size_t longest = 0;
  std::size_t shortest = static_cast<std::size_t>(-1);
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    items[lane] = lane < count ? pieces[lane].items : nullptr;
    lengths[lane] = lane < count ? pieces[lane].length : 0;
    longest = std::max(longest, lengths[lane]);
    shortest = std::min(shortest, lengths[lane]);
  }
  Point sum = neutralPoint();
  const StoredAddend* at[kLanes];
  const std::size_t ahead = shortest > kAhead ? shortest - kAhead : 0;
  std::size_t k = 0;
  for (; k < ahead; k++) {
    for (std::size_t lane = 0; lane < kLanes; lane++) {
      at[lane] = points + items[lane][k];
      const char* next = reinterpret_cast<const char*>(points + items[lane][k + kAhead]);
      __builtin_prefetch(next);
      __builtin_prefetch(next + 64);
    }
    sum = plus(sum, loadAddends(at));
  }
  for (; k < longest; k++) {
    for (std::size_t lane = 0; lane < kLanes; lane++) {
      at[lane] = k < lengths[lane] ? points + items[lane][k] : &kNeutralAddend;
    }
    sum = sumOf(sum, loadAddends(at));
  }
  return sum;
}

// One chain per lane.
TANDEM_LANE_CALL void chainSums(const Chain* chains, std::size_t count, const StoredPoint* from, StoredPoint* to,
                                std::size_t width) {
  std::size_t longest = 0;
  for (std::size_t lane = 0; lane < count; lane++) longest = std::max(longest, chains[lane].length);
  Point sum = neutralPoint();
  for (std::size_t step = 0; step < longest; step++) {
    const StoredPoint* sources[kLanes];
    for (std::size_t lane = 0; lane < kLanes; lane++) {
      const bool isActive = lane < count && step < chains[lane].length;
      sources[lane] = isActive ? from + chains[lane].sources[step] * width : &kNeutralPoint;
    }
    sum = sumOf(sum, loadPoints(sources, kLanes));
    StoredPoint stored[kLanes];
    storePoints(sum, stored, kLanes);
    for (std::size_t lane = 0; lane < count; lane++) {
      if (step >= chains[lane].length || chains[lane].targets[step] < 0) continue;
      to[static_cast<std::size_t>(chains[lane].targets[step]) * width] = stored[lane];
    }
  }
}

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
