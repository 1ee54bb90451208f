// ifma-vector.h in plain C++, so that the kernel's arithmetic is tested on every processor. Never chosen by itself: it
// is slow. Included by emulated-ring.cpp only.
#pragma once

#include "lane-common.h"

#define TANDEM_LANES emulated
#define TANDEM_LANE
#define TANDEM_LANE_INLINE inline
#define TANDEM_LANE_LAMBDA

namespace tandem {
namespace emulated {

constexpr std::size_t kLanes = 8;
constexpr int kDigitBits = 52;
constexpr bool kHasUpperHalves = true;
constexpr int kBlock = 10;
constexpr std::size_t kDigitsMax = 79;
constexpr std::size_t kDigitsUnfolded = kDigitsMax;

struct alignas(64) Vector {
  Word lane[kLanes];
};

template <typename Each>
inline Vector perLane(const Each& each) {
  Vector result;
  for (std::size_t i = 0; i < kLanes; i++) result.lane[i] = each(i);
  return result;
}

// The lower 52 bits of both count, as in the instructions.
inline DoubleLimb product(Word x, Word y) {
  constexpr Word mask = (Word{1} << kDigitBits) - 1;
  return static_cast<DoubleLimb>(x & mask) * (y & mask);
}

inline Vector zero() {
  return perLane([](std::size_t) { return Word{0}; });
}
inline Vector everywhere(Word value) {
  return perLane([&](std::size_t) { return value; });
}
inline Vector add(const Vector& a, const Vector& b) {
  return perLane([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
}
inline Vector bitAnd(const Vector& a, const Vector& b) {
  return perLane([&](std::size_t i) { return a.lane[i] & b.lane[i]; });
}
inline Vector bitOr(const Vector& a, const Vector& b) {
  return perLane([&](std::size_t i) { return a.lane[i] | b.lane[i]; });
}
inline Vector bitXor(const Vector& a, const Vector& b) {
  return perLane([&](std::size_t i) { return a.lane[i] ^ b.lane[i]; });
}
template <int bits>
inline Vector shiftRight(const Vector& a) {
  return perLane([&](std::size_t i) { return a.lane[i] >> bits; });
}
template <int bits>
inline Vector shiftLeft(const Vector& a) {
  return perLane([&](std::size_t i) { return a.lane[i] << bits; });
}
inline Vector equalLanes(const Vector& a, const Vector& b) {
  return perLane([&](std::size_t i) { return a.lane[i] == b.lane[i] ? ~Word{0} : Word{0}; });
}
inline Vector plusLow(const Vector& sum, const Vector& x, const Vector& y) {
  constexpr Word mask = (Word{1} << kDigitBits) - 1;
  return perLane(
      [&](std::size_t i) { return sum.lane[i] + (static_cast<Word>(product(x.lane[i], y.lane[i])) & mask); });
}
inline Vector plusHigh(const Vector& sum, const Vector& x, const Vector& y) {
  return perLane(
      [&](std::size_t i) { return sum.lane[i] + static_cast<Word>(product(x.lane[i], y.lane[i]) >> kDigitBits); });
}
inline Vector loadBytes(const std::uint8_t* const* values, std::size_t at) {
  return perLane([&](std::size_t i) {
    Word word;
    std::memcpy(&word, values[i] + at, sizeof word);
    return word;
  });
}

using TableDigit = Word;
inline Vector loadTableDigits(const TableDigit* digits) {
  return perLane([&](std::size_t i) { return digits[i]; });
}
inline void storeTableDigits(TableDigit* digits, const Vector& row) { std::memcpy(digits, row.lane, sizeof row.lane); }
inline void transpose(Vector* rows) {
  for (std::size_t i = 0; i < kLanes; i++) {
    for (std::size_t j = 0; j < i; j++) std::swap(rows[i].lane[j], rows[j].lane[i]);
  }
}

}  // namespace emulated
}  // namespace tandem
