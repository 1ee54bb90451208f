// A passive party's answer for a node: candidates' sums along chains, masked, multiplied by 8 and encoded. The only way
// for a sum to leave it: A = 8 (sum of bases + rho B), then for each value C = 8 (sum + noise B + rho S).
//
// Constant-time: in masks.
#pragma once

#include <vector>

#include "../chains.h"
#include "kernel.h"

namespace tandem {
namespace curve {

struct AnswerJob {
  const StoredPoint* bases;
  const StoredPoint* values;
  std::size_t width;
  Chains chains;
  std::vector<std::uint8_t> suppressed;  // per candidate
  std::vector<double> noise;             // per candidate and value; empty: none
  const std::vector<FixedTable>* keys;
  Limbs masks;  // kWideScalarBytes per candidate
  std::uint8_t* encodings;
};

void answer(const Kernel& kernel, const AnswerJob& job, std::size_t threads);

}  // namespace curve
}  // namespace tandem
