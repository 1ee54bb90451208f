// Random transfers: streams of the leaves of trees, summed up to columns, and rows from columns.
#pragma once

#include <vector>

#include "kernel.h"

namespace tandem {
namespace maximum {

// Of all trees; a leaf that is missing stands first and has no stream.
struct Leaves {
  const Kernel* kernel;
  std::size_t treeCount;
  std::size_t leafCount;
  // Bits of a leaf's number.
  std::size_t depth = 0;
  bool hasMissing;
  // Tree after tree.
  std::vector<std::unique_ptr<AesKey>> keys;
};

struct StreamPlace {
  std::uint64_t batch;
  std::uint32_t block;
};

// Per tree its columns, plane b the sum of all leaves whose number has bit b, and the sum of all leaves.
void fold(const Leaves& leaves, StreamPlace place, std::size_t blockCount, std::uint32_t* columns, std::uint32_t* sums,
          std::size_t threads);

// Rows of all blocks of the columns but the last.
void rows(const std::uint32_t* columns, std::size_t blockCount, std::uint32_t* result, std::size_t threads);

}  // namespace maximum
}  // namespace tandem
