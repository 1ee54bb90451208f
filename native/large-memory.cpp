// See large-memory.h.
#include "large-memory.h"

#include <new>

#include "limbs.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tandem {

namespace {

constexpr std::size_t kPageBytes = std::size_t{2} << 20;

}  // namespace

LargeMemory::LargeMemory(std::size_t sizeBytes)
    : sizeBytes_(sizeBytes),
      alignment_(sizeBytes < kPageBytes ? kAlignment : kPageBytes),
      bytes_(static_cast<std::uint8_t*>(::operator new(sizeBytes, std::align_val_t(alignment_)))) {
#if defined(MADV_HUGEPAGE)
  // Only advice: without large pages everything works as before. The last page may hold memory of others.
  if (alignment_ == kPageBytes) madvise(bytes_, sizeBytes_ / kPageBytes * kPageBytes, MADV_HUGEPAGE);
#endif
}

LargeMemory::~LargeMemory() {
  wipe(bytes_, sizeBytes_);
  ::operator delete(bytes_, std::align_val_t(alignment_));
}

}  // namespace tandem
