// Numbers modulo l = 2^252 + 27742317777372353535851937790883648493, the order of the base point, and their digits.
//
// Constant-time: everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../limbs.h"

namespace tandem {
namespace curve {

constexpr std::size_t kScalarWords = 4;
constexpr std::size_t kWideScalarBytes = 64;

// Below l, lowest word first.
struct Scalar {
  std::uint64_t words[kScalarWords];
};
using Scalars = std::vector<Scalar, WipingAllocator<Scalar>>;

// 512 random bits are reduced to a number whose distance from uniform is below 2^-256.
Scalar reducedScalar(const std::uint8_t* wide);
Scalar signedScalar(std::int64_t value);
Scalar addScalars(const Scalar& a, const Scalar& b);
Scalar negatedScalar(const Scalar& a);
// a 2^256: what multiplyPrepared takes as its second factor.
Scalar preparedScalar(const Scalar& a);
Scalar multiplyPrepared(const Scalar& a, const Scalar& prepared);

// Digits of `bits` bits in [-2^(bits-1), 2^(bits-1)), lowest first. A scalar needs bits * windows >= 254.
template <int bits, int windows>
inline void signedDigits(const Scalar& scalar, std::int8_t* digits) {
  int carry = 0;
  for (int i = 0; i < windows; i++) {
    const std::size_t at = static_cast<std::size_t>(i * bits);
    const std::size_t word = at / 64;
    const std::size_t shift = at % 64;
    std::uint64_t value = word < kScalarWords ? scalar.words[word] >> shift : 0;
    if (shift + bits > 64 && word + 1 < kScalarWords) value |= scalar.words[word + 1] << (64 - shift);
    const int digit = static_cast<int>(value & ((1 << bits) - 1)) + carry;
    carry = (digit + (1 << (bits - 1))) >> bits;  // 1 for digits from 2^(bits-1) on
    digits[i] = static_cast<std::int8_t>(digit - (carry << bits));
  }
}

}  // namespace curve
}  // namespace tandem
