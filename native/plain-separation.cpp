// See plain-separation.h.
#include "plain-separation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace tandem {

namespace {

constexpr std::size_t kBytes = 8;
constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

std::uint64_t keyOf(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double valueOf(std::uint64_t key) {
  const std::uint64_t bits = (key & kSign) != 0 ? key & ~kSign : ~key;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::size_t byteOf(std::uint64_t key, std::size_t byte) { return (key >> (8 * byte)) & 255; }

// A radix sort, byte by byte from the lowest: a double's bits, with the sign flipped, sort in its order.
void sortNumbers(double* values, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::vector<std::uint64_t> other(count);
  std::array<std::array<std::size_t, 256>, kBytes> counts{};
  for (std::size_t i = 0; i < count; i++) {
    keys[i] = keyOf(values[i]);
    for (std::size_t byte = 0; byte < kBytes; byte++) counts[byte][byteOf(keys[i], byte)]++;
  }
  for (std::size_t byte = 0; byte < kBytes; byte++) {
    if (count == 0 || counts[byte][byteOf(keys[0], byte)] == count) continue;  // all have the same
    std::array<std::size_t, 256> next{};
    for (std::size_t b = 1; b < 256; b++) next[b] = next[b - 1] + counts[byte][b - 1];
    for (const std::uint64_t key : keys) other[next[byteOf(key, byte)]++] = key;
    std::swap(keys, other);
  }
  for (std::size_t i = 0; i < count; i++) values[i] = valueOf(keys[i]);
}

// As mergedGroups visits them: equal scores together, from the lowest up.
Separation merged(const double* positives, std::size_t positiveCount, const double* negatives,
                  std::size_t negativeCount) {
  const double allPositives = static_cast<double>(positiveCount);
  const double allNegatives = static_cast<double>(negativeCount);
  double wins = 0;
  double largest = 0;
  std::size_t p = 0;
  std::size_t n = 0;
  while (p < positiveCount || n < negativeCount) {
    const bool isPositive = n >= negativeCount || (p < positiveCount && positives[p] < negatives[n]);
    const double score = isPositive ? positives[p] : negatives[n];
    const std::size_t pBefore = p;
    const std::size_t nBefore = n;
    while (p < positiveCount && positives[p] == score) p++;
    while (n < negativeCount && negatives[n] == score) n++;
    // Volatile: no compiler may round product and sum at once.
    const volatile double won =
        static_cast<double>(p - pBefore) * (static_cast<double>(nBefore) + static_cast<double>(n - nBefore) / 2);
    wins += won;
    const double apart = static_cast<double>(p) / allPositives - static_cast<double>(n) / allNegatives;
    largest = std::max(largest, std::fabs(apart));
  }
  return {wins / (allPositives * allNegatives), largest};
}

}  // namespace

long long plainSeparation(const double* scores, const double* labels, std::size_t count, double* positives,
                          std::size_t positiveCount, double* negatives, std::size_t negativeCount, Separation& result) {
  std::size_t p = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; i++) {
    const double label = labels[i];
    const bool isPositive = label == 1;
    const bool fits = isPositive ? p < positiveCount : label == 0 && n < negativeCount;
    if (!fits || std::isnan(scores[i])) return static_cast<long long>(i);
    if (isPositive)
      positives[p++] = scores[i];
    else
      negatives[n++] = scores[i];
  }
  if (p != positiveCount || n != negativeCount) return static_cast<long long>(count);
  sortNumbers(positives, positiveCount);
  sortNumbers(negatives, negativeCount);
  result = merged(positives, positiveCount, negatives, negativeCount);
  return -1;
}

}  // namespace tandem
