// Which kernels of the curve scheme this processor runs. See kernel.h.
#include <stdexcept>

#include "kernel.h"

namespace tandem {
namespace curve {

namespace {

std::unique_ptr<Kernel> makeKernel(KernelName name) {
  if (!isAvailable(name)) throw std::invalid_argument("this processor has no such kernel");
#if defined(__x86_64__)
  if (name == KernelName::kAvx2) return makeAvx2Kernel();
  if (name == KernelName::kIfma) return makeIfmaKernel();
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
    case KernelName::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case KernelName::kIfma:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512ifma");
#endif
    default:
      return false;
  }
}

const Kernel& kernelOf(KernelName name) {
  switch (name) {
    case KernelName::kAvx2:
      return sharedKernel<KernelName::kAvx2>();
    case KernelName::kIfma:
      return sharedKernel<KernelName::kIfma>();
    default:
      return sharedKernel<KernelName::kScalar>();
  }
}

}  // namespace curve
}  // namespace tandem
