// See column-bins.h.
#include "column-bins.h"

#include <cstring>

namespace tandem {

namespace {

constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::size_t kLowerCount = 256;

// Ascends with the value; -0 is 0.
std::uint32_t sortKey(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits <= kSign ? bits | kSign : ~bits;
}

}  // namespace

void countUpper(const float* values, std::size_t count, std::uint32_t* counts, ColumnRange& range) {
  for (std::size_t i = 0; i < count; i++) {
    const float x = values[i];
    if (x != x) continue;
    range.presentCount++;
    counts[sortKey(x) >> 16]++;
    if (x < range.smallest) {
      range.smallest = x;
      range.smallestCount = 0;
    }
    if (x > range.largest) {
      range.largest = x;
      range.largestCount = 0;
    }
    if (x == range.smallest) range.smallestCount++;
    if (x == range.largest) range.largestCount++;
  }
}

bool countLower(const float* values, std::size_t count, const std::uint16_t* places, const std::uint16_t* nextPlaces,
                std::size_t nextPlaceCount, std::uint32_t* counts, std::size_t countedPlaces) {
  for (std::size_t i = 0; i < count; i++) {
    const float x = values[i];
    if (x != x) continue;
    const std::uint32_t key = sortKey(x);
    std::size_t place = places[key >> 16];
    if (place == 0) continue;
    std::size_t next = key >> 8 & 0xff;
    if (nextPlaces != nullptr) {
      if (place > nextPlaceCount) return false;
      place = nextPlaces[(place - 1) * kLowerCount + next];
      if (place == 0) continue;
      next = key & 0xff;
    }
    if (place > countedPlaces) return false;
    counts[(place - 1) * kLowerCount + next]++;
  }
  return true;
}

void binValues(const float* values, std::size_t count, const float* thresholds, std::size_t thresholdCount,
               std::uint16_t* bins) {
  const float beyond = thresholds[thresholdCount - 1];
  for (std::size_t i = 0; i < count; i++) {
    const float x = values[i];
    // A step adds a masked number instead of branching: a processor would guess wrong every other time.
    const float* first = thresholds;
    std::size_t length = thresholdCount;
    while (length > 1) {
      const std::size_t half = length / 2;
      first += half & (std::size_t{0} - static_cast<std::size_t>(first[half - 1] <= x));
      length -= half;
    }
    const std::size_t below = static_cast<std::size_t>(first - thresholds);
    const std::size_t bin = x != x ? thresholdCount : x >= beyond ? thresholdCount + 1 : below;
    bins[i] = static_cast<std::uint16_t>(bin);
  }
}

}  // namespace tandem
