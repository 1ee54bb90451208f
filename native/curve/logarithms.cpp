// See logarithms.h.
#include "logarithms.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include "../threads.h"

namespace tandem {
namespace curve {

namespace {

constexpr int kBabyBitsMin = 18;
constexpr int kBabyBitsMax = 22;
// Giant steps to both sides with the least table.
constexpr std::uint64_t kReachPerBaby = 128;
constexpr std::uint32_t kInsertChunk = 8192;
// Lookups go anywhere: with large pages they miss caches only, not address translations too.
constexpr std::size_t kLargePage = std::size_t{1} << 21;

}  // namespace

Logarithms::Logarithms(std::uint64_t reach) {
  if (reach > kReachMax) throw std::invalid_argument("the reach of logarithms is out of range");
  int bits = kBabyBitsMin;
  while (bits < kBabyBitsMax && (kReachPerBaby << bits) < reach) bits++;
  babies_ = std::uint64_t{1} << bits;
  reach_ = bits == kBabyBitsMax ? kReachMax : kReachPerBaby << bits;
  const std::size_t slots = 2 * babies_;
  slotMask_ = slots - 1;
  const std::size_t bytes = slots * sizeof(std::uint64_t);
  static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t), "a slot is one word");
  void* memory = std::aligned_alloc(kLargePage, bytes);
  if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, bytes);
  slots_.reset(static_cast<std::atomic<std::uint64_t>*>(memory));
}

void Logarithms::Free::operator()(std::atomic<std::uint64_t>* memory) const { std::free(memory); }

void Logarithms::insert(std::uint64_t limb0, std::uint64_t limb1, std::uint32_t multiple) {
  const std::uint64_t entry = (static_cast<std::uint64_t>(multiple) + 1) << 32 | static_cast<std::uint32_t>(limb1);
  for (std::uint64_t at = limb0 & slotMask_;; at = (at + 1) & slotMask_) {
    std::uint64_t free = 0;
    if (slots_[at].compare_exchange_strong(free, entry, std::memory_order_relaxed)) return;
  }
}

void Logarithms::fill(const Kernel& kernel, std::size_t threads) {
  const std::lock_guard<std::mutex> lock(filling_);
  if (isFilled_) return;
  insert(1, 0, 0);  // the neutral point has y = 1
  parallelChunks(babies_, kInsertChunk, threads, [&](std::size_t begin, std::size_t end) {
    kernel.insertBabies(*this, static_cast<std::uint32_t>(begin + 1), static_cast<std::uint32_t>(end - begin));
  });
  giants_.resize(steps(reach_));
  kernel.makeGiants(*this);
  isFilled_ = true;
}

}  // namespace curve
}  // namespace tandem
