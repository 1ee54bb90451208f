// Hints: what the sum of a candidate's public rows is, masked. For each candidate, in R_q,
//
//   G_c = sum over blocks k of a~_k B_(c,k) + a~* r_c + e'_c,    a~(X) = a(1/X),
//
// with ternary r_c and binomial e'_c that belong to this hint only, sent as words.
//
// A mask is r_c as the answers need it: four digits (plus 1) are a number in base 3, lowest first; numbers of eight
// times four digits stand together, candidate by candidate: [N / 32][candidate][8].
//
// Constant-time: no.
#pragma once

#include "chains.h"
#include "lattice-context.h"

namespace tandem {
namespace lattice {

inline std::size_t maskBytes(const Set& set) { return set.degree / kDigitsPerPattern; }

struct HintJob {
  std::vector<const std::uint16_t*> bins;  // per feature, of all rows
  std::vector<std::uint32_t> binCounts;
  Chains chains;  // each within one feature
  const std::uint8_t* seed;
  std::size_t candidates;
  std::uint8_t* words;
  std::uint8_t* masks;
};

// Whether every chain has bins of one feature only.
bool chainsStayInFeatures(const Chains& chains, const std::vector<std::uint32_t>& binCounts);

// False if a bin is out of range.
bool makeHints(const Context& context, const HintJob& job, std::size_t threads);

}  // namespace lattice
}  // namespace tandem
