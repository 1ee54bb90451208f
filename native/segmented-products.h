// Products of many lists of elements at once: result[t] = product of the elements in list t. Histograms are computed as
// such products.
//
// The lists are laid end to end and cut into segments of equal work, one per lane of every thread: a lane walks through
// its segment, its running product stays in the lane, and only the factors are fetched (and prefetched) from memory. A
// list that a cut falls into is put together at the end. Multiplication modulo N^2 is exact, commutes and has one
// reduced result, so neither the cuts nor the threads show.
//
// Constant-time: no; which elements are multiplied is known to the computing party.
#pragma once

#include <functional>

#include "square-ring.h"

namespace tandem {

struct ProductLists {
  // List t consists of items[offsets[t]] .. items[offsets[t + 1] - 1], indices of elements.
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> items;
};

// element(item) and result(list) give addresses; a list without items is set to 1.
void segmentedProducts(const SquareRing& ring, const ProductLists& lists,
                       const std::function<const Limb*(std::uint32_t)>& element,
                       const std::function<Limb*(std::size_t)>& result, std::size_t threads);

}  // namespace tandem
