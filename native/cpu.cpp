// See cpu.h.
#include "cpu.h"

namespace tandem {

namespace {

bool hasAdx() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("adx") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

bool hasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

bool hasIfma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512ifma");
#else
  return false;
#endif
}

}  // namespace

bool isAvailable(Kernel kernel) {
  switch (kernel) {
    case Kernel::kScalar:
      return true;
    case Kernel::kAdx:
      return hasAdx();
    case Kernel::kAvx2:
      return hasAvx2();
    case Kernel::kIfma:
      return hasIfma();
    case Kernel::kIfmaEmulated:
      return true;
  }
  return false;
}

RowFunction rowsOf(Kernel kernel) {
  // Vector kernels use the fastest available rows for single numbers.
  return kernel != Kernel::kScalar && hasAdx() ? addProductRowAdx : addProductRow;
}

}  // namespace tandem
