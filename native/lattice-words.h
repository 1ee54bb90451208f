// Words: 2^F x / q, rounded, of residues modulo q. They are what hints and answers are sent as: differences of words
// are taken modulo 2^F as differences of residues are modulo q, and F bits are enough for the sums.
//
// With y_l = x (q / p_l)^-1 modulo p_l, x / q is the sum of y_l / p_l modulo 1. E bits (64 or 128) of it are
// y_l 2^(E-50) + floor(y_l m_l / 2^50), m_l = floor(2^(E+50) / p_l) - 2^E; the upper F of them, rounded half up, are
// the word. |word - 2^F x / q| < 0.52.
#pragma once

#include "lattice-sets.h"

namespace tandem {
namespace lattice {

class Words {
 public:
  explicit Words(const Set& set);

  // The word of y_0, y_1 and so on; wordBytes bytes, little-endian.
  void write(const std::uint64_t* y, std::uint8_t* result) const {
    if (set_.wordParts == 1) {
      const std::uint64_t word = rounded64(y);
      std::memcpy(result, &word, 7);
    } else {
      const Wide word = rounded128(y);
      std::memcpy(result, &word, 13);
    }
  }

 private:
  std::uint64_t rounded64(const std::uint64_t* y) const {
    std::uint64_t sum = 128;
    for (std::size_t l = 0; l < 2; l++) {
      sum += (y[l] << 14) + static_cast<std::uint64_t>((static_cast<Wide>(y[l]) * fractions_[l][0]) >> 50);
    }
    return sum >> 8;
  }
  Wide rounded128(const std::uint64_t* y) const {
    Wide sum = Wide{1} << 23;
    for (std::size_t l = 0; l < 3; l++) {
      const Wide high = static_cast<Wide>(y[l]) * fractions_[l][1];  // m_l < 2^99
      sum += (static_cast<Wide>(y[l]) << 78) + (high << 14) + ((static_cast<Wide>(y[l]) * fractions_[l][0]) >> 50);
    }
    return sum >> 24;
  }

  const Set& set_;
  std::uint64_t fractions_[kLimbsMax][2];  // m_l, the lower 64 bits first
};

// A word from the wire.
inline Wide readWord(const std::uint8_t* bytes, std::size_t wordBytes) {
  Wide word = 0;
  std::memcpy(&word, bytes, wordBytes);
  return word;
}

}  // namespace lattice
}  // namespace tandem
