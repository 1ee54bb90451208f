// A table of logarithms to the base P = 64 B: baby steps and giant steps (Shanks). An entry has y of k P, for k from 0
// to `babies`; y of -k P is the same. With Q = (x1, y1) and jG = (x2, y2), G = (2 babies + 1) P, the y of Q + jG and of
// Q - jG are
//
//   (y1 y2 +- x1 x2) / (1 -+ d x1 x2 y1 y2),
//
// so three products make both numerators and denominators.
//
// Addresses depend on the sums that are looked up; the number of steps depends on bounds only.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "kernel.h"

namespace tandem {
namespace curve {

constexpr std::uint64_t kReachMax = std::uint64_t{1} << 35;

class Logarithms {
 public:
  // j (2 babies + 1) P
  struct Giant {
    std::uint64_t x[kLimbs];
    std::uint64_t y[kLimbs];
    std::uint64_t dxy[kLimbs];
  };

  // The table for sums of at most this magnitude; not filled yet.
  explicit Logarithms(std::uint64_t reach);

  std::uint64_t reach() const { return reach_; }
  std::uint64_t babies() const { return babies_; }
  std::uint64_t stride() const { return 2 * babies_ + 1; }
  // Giant steps to each side.
  std::uint64_t steps(std::uint64_t bound) const {
    return bound <= babies_ ? 0 : (bound - babies_ + stride() - 1) / stride();
  }

  // Fills the table, once.
  void fill(const Kernel& kernel, std::size_t threads);
  bool isFilled() const { return isFilled_; }

  std::vector<Giant>& giants() { return giants_; }
  const std::vector<Giant>& giants() const { return giants_; }

  // By the two lowest limbs of y. May be called by several threads.
  void insert(std::uint64_t limb0, std::uint64_t limb1, std::uint32_t multiple);
  const void* address(std::uint64_t limb0) const { return slots_.get() + (limb0 & slotMask_); }
  // Calls found(k) for every k whose stored bits of y match.
  template <typename Found>
  void look(std::uint64_t limb0, std::uint64_t limb1, const Found& found) const {
    const std::uint32_t tag = static_cast<std::uint32_t>(limb1);
    for (std::uint64_t at = limb0 & slotMask_;; at = (at + 1) & slotMask_) {
      const std::uint64_t entry = slots_[at].load(std::memory_order_relaxed);
      if (entry == 0) return;
      if (static_cast<std::uint32_t>(entry) == tag) found(static_cast<std::uint32_t>(entry >> 32) - 1);
    }
  }

 private:
  struct Free {
    void operator()(std::atomic<std::uint64_t>* memory) const;
  };

  std::uint64_t reach_;
  std::uint64_t babies_;
  std::uint64_t slotMask_;
  // (multiple + 1) 2^32 + 32 bits of y, at a place by other bits of y; 0: free. Half of all slots are.
  std::unique_ptr<std::atomic<std::uint64_t>[], Free> slots_;
  std::vector<Giant> giants_;
  std::mutex filling_;
  std::atomic<bool> isFilled_{false};
};

}  // namespace curve
}  // namespace tandem
