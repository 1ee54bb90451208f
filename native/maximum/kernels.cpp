// Which kernels this processor runs. See kernel.h.
#include <stdexcept>

#include "kernel.h"

namespace tandem {
namespace maximum {

namespace {

std::unique_ptr<Kernel> makeKernel(KernelName name) {
  if (!isAvailable(name)) throw std::invalid_argument("this processor has no such kernel");
#if defined(__x86_64__)
  if (name == KernelName::kAesni) return makeAesniKernel();
  if (name == KernelName::kVaes) return makeVaesKernel();
#endif
  return makeScalarKernel();
}

template <KernelName name>
const Kernel& sharedKernel() {
  static const std::unique_ptr<Kernel> kernel = makeKernel(name);
  return *kernel;
}

}  // namespace

bool isAvailable(KernelName name) {
  switch (name) {
    case KernelName::kScalar:
      return true;
#if defined(__x86_64__)
    case KernelName::kAesni:
      return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    case KernelName::kVaes:
      return isAvailable(KernelName::kAesni) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vaes");
#endif
    default:
      return false;
  }
}

const Kernel& kernelOf(KernelName name) {
  switch (name) {
    case KernelName::kAesni:
      return sharedKernel<KernelName::kAesni>();
    case KernelName::kVaes:
      return sharedKernel<KernelName::kVaes>();
    default:
      return sharedKernel<KernelName::kScalar>();
  }
}

}  // namespace maximum
}  // namespace tandem
