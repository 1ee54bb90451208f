// What the active party makes ahead of a node: <w(G_c), s> of all candidates, for many nodes' secrets at once; and what
// it opens with them.
//
// Hint words stand in tiles of kTile columns: [tile][coefficient][kTile]. A column is a candidate's word shifted up to
// 64 bits (set A), or one of two parts of it, the upper 54 bits and then the lower 50 (set B). Sums of the first are
// modulo 2^64, which is modulo 2^F for words; sums of lower parts do not overflow: 8,192 x 2^50 < 2^63.
//
// For five secrets at a time every coefficient has a pattern, a number of five ternary digits. Words are summed by
// pattern, once for all five; then each secret's inner product is what has its digit 2 minus what has its digit 0.
//
// Constant-time: no.
#pragma once

#include "lattice-context.h"

namespace tandem {
namespace lattice {

inline std::size_t columnsOf(const Set& set, std::size_t candidates) { return candidates * set.wordParts; }
inline std::size_t tileCount(const Set& set, std::size_t candidates) {
  return (columnsOf(set, candidates) + kTile - 1) / kTile;
}
inline std::size_t tableSize(const Set& set, std::size_t candidates) {
  return tileCount(set, candidates) * set.degree * kTile;
}
// Per secret of a seed a column's inner product: group by group.
inline std::size_t dotCount(const Set& set, std::size_t candidates) { return set.groups * columnsOf(set, candidates); }

// Puts words of candidates [first, first + count) into the table.
void loadHints(const Context& context, const std::uint8_t* words, std::size_t first, std::size_t count,
               std::uint64_t* table, std::size_t threads);

// dots has dotCount numbers per seed.
void dots(const Context& context, const std::uint64_t* table, std::size_t candidates, const std::uint8_t* seeds,
          std::size_t seedCount, std::uint64_t* dots, std::size_t threads);

// Sums of g and h of the candidates at `positions` (null: of the first `count`), which `words` are the answer for.
void open(const Context& context, const std::uint64_t* dots, std::size_t candidates, const std::uint8_t* words,
          std::size_t count, const std::uint32_t* positions, double* sums);

}  // namespace lattice
}  // namespace tandem
