// Between 64-bit limbs and the digits of a kernel's lanes. Two digits are whole bytes; a digit and the 4 bits that it
// may be shifted by are in 8 of them. Included once per kernel, after lane-columns.h.
//
// Constant-time: as lane-columns.h.

namespace tandem {
namespace TANDEM_LANES {

// The 8 bytes from byte `at` on; what lies beyond the end reads 0.
inline Word loadTail(const Limb* value, std::size_t sizeBytes, std::size_t at) {
  Word word = 0;
  if (at < sizeBytes) {
    const std::size_t count = sizeBytes - at < 8 ? sizeBytes - at : 8;
    std::memcpy(&word, reinterpret_cast<const std::uint8_t*>(value) + at, count);
  }
  return word;
}

constexpr std::size_t byteOf(std::size_t digit) { return digit * kDigitBits / 8; }
constexpr std::size_t shiftOf(std::size_t digit) { return digit * kDigitBits % 8; }

inline Word digitOf(const Limb* value, std::size_t sizeBytes, std::size_t digit) {
  return (loadTail(value, sizeBytes, byteOf(digit)) >> shiftOf(digit)) & kDigitMask;
}

// digits = one value per lane, each of `limbs` limbs and below 2^(kDigitBits count).
TANDEM_LANE inline void digitsFromLimbs(Vector* digits, std::size_t count, const Limb* const* values,
                                        std::size_t limbs) {
  const std::size_t sizeBytes = 8 * limbs;
  const std::uint8_t* bytes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) bytes[lane] = reinterpret_cast<const std::uint8_t*>(values[lane]);
  const Vector mask = digitMask();
  std::size_t digit = 0;
  for (; digit + 1 < count && byteOf(digit + 1) + 8 <= sizeBytes; digit += 2) {
    digits[digit] = bitAnd(loadBytes(bytes, byteOf(digit)), mask);
    digits[digit + 1] = bitAnd(shiftRight<kDigitBits % 8>(loadBytes(bytes, byteOf(digit + 1))), mask);
  }
  for (; digit < count; digit++) {
    Word* lanes = reinterpret_cast<Word*>(digits + digit);
    for (std::size_t lane = 0; lane < kLanes; lane++) lanes[lane] = digitOf(values[lane], sizeBytes, digit);
  }
}

// One lane's value: `limbs` limbs of the buffer, which must have room for all digits and 8 bytes more.
inline void limbsFromDigits(Limb* value, std::size_t limbs, const Word* digits, std::size_t count, std::size_t lane) {
  std::uint8_t* bytes = reinterpret_cast<std::uint8_t*>(value);
  std::memset(value, 0, limbs * sizeof(Limb));
  for (std::size_t digit = 0; digit < count; digit++) {
    // The digit before may end within the first byte: it begins at a byte then.
    const std::size_t bits = shiftOf(digit) == 0 ? 0 : 8 * (byteOf(digit) - byteOf(digit - 1));
    const Word before = bits == 0 ? 0 : digits[kLanes * (digit - 1) + lane] >> bits;
    const Word word = before | (digits[kLanes * digit + lane] << shiftOf(digit));
    std::memcpy(bytes + byteOf(digit), &word, 8);
  }
}

}  // namespace TANDEM_LANES
}  // namespace tandem
