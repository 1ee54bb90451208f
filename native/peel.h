// Attack A2 of src/privacy/attack: decomposes exact sums over anonymous instances. Every instance has a set of possible
// parts of one feature; every equation gives the number of instances of a node in some of the parts, and the sum of
// their keys. Deduction narrows the sets until nothing more follows, or the time limit is reached.
// src/privacy/attack/peel-portable.ts is the oracle.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

struct PeelInput {
  // Per tree the keys of all instances, each below 2^52.
  const double* keys;
  std::size_t instances;
  // Per node its tree, and its members.
  const std::uint32_t* nodeTrees;
  const std::uint32_t* memberOffsets;
  const std::uint32_t* members;
  std::size_t nodes;
  // Per tree how many bits of a sum tell subsets apart: larger searches would find too many.
  const double* treeBits;
  // Per equation its node, its count, and the parts as `words` words of bits; no two equations of a node share a part.
  const std::uint32_t* equations;
  const double* sums;
  std::size_t equationCount;
  std::size_t words;
  // Per instance the possible parts, as `words` words of bits: narrowed in place.
  std::uint32_t* possible;
  double seconds;
};

constexpr long long kPeelDone = -1;
constexpr long long kPeelTimeOver = -2;

// Returns one of these, or the number of an equation that contradicts the others: then `possible` means nothing.
long long peel(const PeelInput& input);

}  // namespace tandem
