// Which instances can make up a sum: all subsets of a given size whose keys add up to a target modulo 2^52. Two facts
// about them are kept, and both are proofs: the instances that are in none of them, and those that are in all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem {

constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 52) - 1;

struct Subsets {
  // Nothing is known: there are too many to look at.
  bool gaveUp = false;
  // How often each member was met, of `total` times.
  std::vector<std::uint64_t> met;
  std::uint64_t total = 0;
};

// About how many steps a search takes; infinity if it is not tried.
double searchCost(std::size_t count, std::size_t size);

// 0 < size < keys.size(), and searchCost is finite.
Subsets searchSubsets(const std::vector<std::uint64_t>& keys, std::size_t size, std::uint64_t target);

}  // namespace tandem
