// Which kernels of the lattice scheme this processor runs. See lattice-kernel.h.
#include <stdexcept>

#include "lattice-kernel.h"

namespace tandem {
namespace lattice {

namespace {

bool hasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("aes");
#else
  return false;
#endif
}

bool hasAvx512() {
#if defined(__x86_64__)
  return hasAvx2() && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

std::unique_ptr<Kernel> makeKernel(KernelName name, const Set& set) {
  if (!isAvailable(name)) throw std::invalid_argument("this processor has no such kernel");
#if defined(__x86_64__)
  if (name == KernelName::kAvx2) return makeAvx2Kernel(set);
  if (name == KernelName::kAvx512) return makeAvx512Kernel(set);
#endif
  return makeScalarKernel(set);
}

template <KernelName name>
const Kernel& sharedKernel(const Set& set) {
  if (set.name == kSetA.name) {
    static const std::unique_ptr<Kernel> kernelA = makeKernel(name, kSetA);
    return *kernelA;
  }
  static const std::unique_ptr<Kernel> kernelB = makeKernel(name, kSetB);
  return *kernelB;
}

}  // namespace

bool isAvailable(KernelName name) {
  switch (name) {
    case KernelName::kScalar:
      return true;
    case KernelName::kAvx2:
      return hasAvx2();
    case KernelName::kAvx512:
      return hasAvx512();
  }
  return false;
}

const Kernel& kernelOf(KernelName name, const Set& set) {
  switch (name) {
    case KernelName::kAvx2:
      return sharedKernel<KernelName::kAvx2>(set);
    case KernelName::kAvx512:
      return sharedKernel<KernelName::kAvx512>(set);
    default:
      return sharedKernel<KernelName::kScalar>(set);
  }
}

}  // namespace lattice
}  // namespace tandem
