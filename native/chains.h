// Chains of additions over bins: each target is the sum of a chain so far (src/scheme/candidates/candidate-plan.ts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

struct Chains {
  std::size_t count() const { return offsets.size() - 1; }

  std::vector<std::uint32_t> offsets;  // where each chain begins, and where the last one ends
  std::vector<std::uint32_t> sources;  // bins, counted over all features one after the other
  std::vector<std::int32_t> targets;   // what is complete after the step, or -1
};

}  // namespace tandem
