// See plain-sort.h. A radix sort, byte by byte from the lowest: a double's bits, with the sign turned, are in its
// order.
#include "plain-sort.h"

#include <array>
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

}  // namespace

void plainSort(double* values, std::size_t count) {
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

}  // namespace tandem
