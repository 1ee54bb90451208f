// What a passive party answers: for every candidate and group the word of
//
//   u_c = sum of the records of its rows + <p, r_c> + f_c,
//
// p the mask records, f_c smudging noise that is drawn for this answer only.
//
// Constant-time: no.
#pragma once

#include "chains.h"
#include "lattice-context.h"

namespace tandem {
namespace lattice {

// products = <p, r_c> of every candidate and lane, as whole numbers. The first mask record that is not canonical, or
// -1.
long long maskProducts(const Context& context, const std::uint8_t* masks, const std::uint8_t* records,
                       std::size_t candidates, std::int64_t* products, std::size_t threads);

// Smudging noise comes from streams of this many candidates each.
constexpr std::size_t kSmudgingCandidates = 256;

struct AnswerJob {
  const std::uint64_t* cells;
  Chains chains;
  const std::int64_t* products;
  Array<std::int64_t> noise;  // per candidate what is added to g and to h; empty: nothing
  Wide smudgingWidth;
  const std::uint8_t* seed;
  std::size_t candidates;
  std::uint8_t* words;
};

void answer(const Context& context, const AnswerJob& job, std::size_t threads);

}  // namespace lattice
}  // namespace tandem
