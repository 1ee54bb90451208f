// Sums of many lists of points at once. Lists are cut into pieces, pieces are sorted by length, and pieces of like
// length are summed side by side: no lane waits long for another, whatever the sizes of the lists. Sums have one
// encoding, so neither the cuts nor the threads show.
//
// Constant-time: no; which points are added is known to the computing party.
#pragma once

#include "kernel.h"

namespace tandem {
namespace curve {

struct Lists {
  // List t consists of items[offsets[t]] .. items[offsets[t + 1] - 1], indices of points.
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> items;

  std::size_t count() const { return offsets.size() - 1; }
};

// Made once, used for every column of points.
class ListSums {
 public:
  ListSums(const Kernel& kernel, const Lists& lists);
  // One sum per list.
  void run(const StoredAddend* points, StoredPoint* sums, std::size_t threads) const;

 private:
  const Kernel& kernel_;
  std::size_t listCount_;
  std::vector<Piece> pieces_;
  // Pieces by list: those of list t are slots_[firstSlot_[t]] and so on.
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint32_t> firstSlot_;
};

}  // namespace curve
}  // namespace tandem
