// 128 rows and columns of bits exchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernel.h"

namespace tandem {
namespace maximum {

// Whole blocks at once, which compilers do not do by themselves at every level of optimisation.
using Block = std::uint64_t __attribute__((vector_size(16), may_alias));

template <int level>
inline void exchangeBits(Block* square, std::uint64_t mask) {
  constexpr std::size_t step = std::size_t{1} << level;
  const Block masks = {mask, mask};
  for (std::size_t first = 0; first < kColumns; first += 2 * step) {
    for (std::size_t k = first; k < first + step; k++) {
      const Block swap = ((square[k] >> step) ^ square[k + step]) & masks;
      square[k + step] ^= swap;
      square[k] ^= swap << step;
    }
  }
}

// In place; bit j of row i, lowest first, changes places with bit i of row j.
inline void transpose(Block* square) {
  for (std::size_t k = 0; k < 64; k++) {
    const std::uint64_t upper = square[k][1];
    square[k][1] = square[k + 64][0];
    square[k + 64][0] = upper;
  }
  exchangeBits<5>(square, 0x00000000ffffffff);
  exchangeBits<4>(square, 0x0000ffff0000ffff);
  exchangeBits<3>(square, 0x00ff00ff00ff00ff);
  exchangeBits<2>(square, 0x0f0f0f0f0f0f0f0f);
  exchangeBits<1>(square, 0x3333333333333333);
  exchangeBits<0>(square, 0x5555555555555555);
}

}  // namespace maximum
}  // namespace tandem
