// Between 64-bit limbs and 28-bit digits in four lanes. Two digits are 56 bits, that is 7 bytes: one unaligned 8-byte
// load per lane gives two digits. Included by avx2-ring.cpp only.
//
// Constant-time: as avx2-columns.h.
#pragma once

#include "avx2-columns.h"
#include "limbs.h"

namespace tandem {
namespace avx2 {

// The 8 bytes from byte `at` on; what lies beyond the end reads 0.
inline Word loadTail(const Limb* value, std::size_t sizeBytes, std::size_t at) {
  Word word = 0;
  if (at < sizeBytes) {
    const std::size_t count = sizeBytes - at < 8 ? sizeBytes - at : 8;
    std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(value) + at, count);
  }
  return word;
}

TANDEM_AVX2_INLINE __m128i loadTwo(const std::uint8_t* low, const std::uint8_t* high) {
  const __m128i one = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(low));
  return _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(one), reinterpret_cast<const double*>(high)));
}

TANDEM_AVX2_INLINE void storeTwoDigits(Vector* digits, std::size_t at, std::size_t count, Vector both) {
  const Vector mask = _mm256_set1_epi64x(static_cast<long long>(kDigitMask));
  digits[at] = _mm256_and_si256(both, mask);
  if (at + 1 < count) digits[at + 1] = _mm256_and_si256(carryOf(both), mask);
}

// digits = the four values, each of `limbs` limbs and below 2^(28 count).
TANDEM_AVX2 inline void digitsFromLimbs(Vector* digits, std::size_t count, const Limb* const* values,
                                        std::size_t limbs) {
  const std::size_t sizeBytes = 8 * limbs;
  const std::uint8_t* bytes[4];
  for (int lane = 0; lane < 4; lane++) bytes[lane] = reinterpret_cast<const std::uint8_t*>(values[lane]);
  std::size_t digit = 0;
  std::size_t at = 0;
  for (; digit < count && at + 8 <= sizeBytes; digit += 2, at += 7) {
    const __m128i low = loadTwo(bytes[0] + at, bytes[1] + at);
    const __m128i high = loadTwo(bytes[2] + at, bytes[3] + at);
    storeTwoDigits(digits, digit, count, _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1));
  }
  for (; digit < count; digit += 2, at += 7) {
    const auto tail = [&](int lane) { return static_cast<long long>(loadTail(values[lane], sizeBytes, at)); };
    storeTwoDigits(digits, digit, count, _mm256_set_epi64x(tail(3), tail(2), tail(1), tail(0)));
  }
}

// One lane's value: `limbs` limbs of the buffer, which must have room for all digits and 8 bytes more.
inline void limbsFromDigits(Limb* value, std::size_t limbs, const Word* digits, std::size_t count, std::size_t lane) {
  std::uint8_t* bytes = reinterpret_cast<std::uint8_t*>(value);
  std::memset(value, 0, limbs * sizeof(Limb));
  std::size_t at = 0;
  for (std::size_t digit = 0; digit < count; digit += 2, at += 7) {
    const Word high = digit + 1 < count ? digits[4 * (digit + 1) + lane] : 0;
    const Word both = digits[4 * digit + lane] | (high << kDigitBits);
    std::memcpy(bytes + at, &both, 8);
  }
}

}  // namespace avx2
}  // namespace tandem
