// A node's records: b = a s + e + D z, one per row, after the mask row's a* s + e. Everything but z comes from the
// seed.
//
// Constant-time: drawing is not (lattice-samplers.h); the rest is.
#pragma once

#include "lattice-context.h"

namespace tandem {
namespace lattice {

// Records of a node from record `first` on; records 0 to N - 1 are the mask row, record N + i is row i. A block of N
// records costs the same whether all of it is asked for or a part.
struct SealJob {
  const std::uint8_t* seed;
  const std::int32_t* columns[kColumns];  // of all rows
  std::size_t first;
  std::size_t count;
  std::uint8_t* records;
};

void seal(const Context& context, const SealJob& job, std::size_t threads);

// A node's ternary secrets, group by group.
Array<std::int8_t> drawSecrets(const Context& context, const AesKey& key);

}  // namespace lattice
}  // namespace tandem
