// How numbers are drawn from a key stream.
//
// Constant-time: no. A ternary digit is looked up in a table of 2 KB, and what is drawn again depends on the stream.
#pragma once

#include "lattice-streams.h"

namespace tandem {
namespace lattice {

// `count` numbers below the limb's prime, balanced: 8 bytes, low 50 bits, drawn again if too large.
void drawUniform(KeyStream& stream, std::size_t limb, double* result, std::size_t count);

// `count` of -1, 0, 1: a byte below 243 is five digits, the lowest first; other bytes are skipped.
void drawTernary(KeyStream& stream, std::int8_t* result, std::size_t count);

// `count` (a multiple of 256) centred binomials of 16 pairs: variance 8, at most 16.
void drawBinomial(const Kernel& kernel, KeyStream& stream, std::int8_t* result, std::size_t count);

// Sums of four uniform numbers on [-width, width): no Gaussian, no tail.
class Smudging {
 public:
  // 1 <= width <= 2^76.
  explicit Smudging(Wide width);
  SignedWide draw(KeyStream& stream) const;

 private:
  Wide drawBelow(KeyStream& stream) const;

  Wide width_;
  Wide mask_;
};

}  // namespace lattice
}  // namespace tandem
