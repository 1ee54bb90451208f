// See lattice-samplers.h.
#include "lattice-samplers.h"

#include <cstring>

#include "lattice-residues.h"

namespace tandem {
namespace lattice {

namespace {

constexpr std::size_t kDigitsPerByte = 5;
constexpr std::uint8_t kByteLimit = 243;  // 3^5

// Of every byte its five digits, minus 1 each, and three zeros: eight can be copied at once.
struct TernaryDigits {
  TernaryDigits() {
    for (int byte = 0; byte < 256; byte++) {
      int rest = byte;
      for (std::size_t i = 0; i < kDigitsPerByte; i++, rest /= 3) of[byte][i] = static_cast<std::int8_t>(rest % 3 - 1);
    }
  }
  std::int8_t of[256][8] = {};
};

}  // namespace

void drawUniform(KeyStream& stream, std::size_t limb, double* result, std::size_t count) {
  const std::uint64_t prime = kPrimes[limb];
  for (std::size_t drawn = 0; drawn < count;) {
    const std::uint8_t* bytes = stream.nextChunk();
    for (std::size_t at = 0; at < kChunkBytes && drawn < count; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes + at, sizeof word);
      word &= kPrimeMask;
      if (word < prime) result[drawn++] = balanced(word, prime);
    }
  }
}

void drawTernary(KeyStream& stream, std::int8_t* result, std::size_t count) {
  static const TernaryDigits digits;
  for (std::size_t drawn = 0; drawn < count;) {
    const std::uint8_t* bytes = stream.nextChunk();
    for (std::size_t at = 0; at < kChunkBytes && drawn < count; at++) {
      if (bytes[at] >= kByteLimit) continue;
      const std::size_t left = count - drawn;
      const std::int8_t* own = digits.of[bytes[at]];
      if (left >= 8) {
        std::memcpy(result + drawn, own, 8);
      } else {
        std::memcpy(result + drawn, own, left < kDigitsPerByte ? left : kDigitsPerByte);
      }
      drawn += left < kDigitsPerByte ? left : kDigitsPerByte;
    }
  }
}

void drawBinomial(const Kernel& kernel, KeyStream& stream, std::int8_t* result, std::size_t count) {
  for (std::size_t drawn = 0; drawn < count; drawn += kChunkBytes / 4) {
    kernel.binomialChunk(stream.nextChunk(), result + drawn);
  }
}

Smudging::Smudging(Wide width) : width_(width), mask_(0) {
  while (mask_ < 2 * width - 1) mask_ = 2 * mask_ + 1;
}

Wide Smudging::drawBelow(KeyStream& stream) const {
  for (;;) {
    Wide drawn = stream.nextWord();
    // 16 bytes where 2 W > 2^64.
    if ((mask_ >> 64) != 0) drawn |= static_cast<Wide>(stream.nextWord()) << 64;
    drawn &= mask_;
    if (drawn < 2 * width_) return drawn;
  }
}

SignedWide Smudging::draw(KeyStream& stream) const {
  SignedWide sum = -4 * static_cast<SignedWide>(width_);
  for (int i = 0; i < 4; i++) sum += static_cast<SignedWide>(drawBelow(stream));
  return sum;
}

}  // namespace lattice
}  // namespace tandem
