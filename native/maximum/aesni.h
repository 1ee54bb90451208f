// AES and carry-less products with the instructions of x86-64, for the kernels `aesni` and `vaes`.
#pragma once
#if defined(__x86_64__)

#include <immintrin.h>

#include <vector>

#include "kernel.h"

#define TANDEM_AESNI __attribute__((target("aes,pclmul,sse4.1")))
#define TANDEM_AESNI_INLINE __attribute__((target("aes,pclmul,sse4.1"), always_inline)) inline

namespace tandem {
namespace maximum {

TANDEM_AESNI_INLINE __m128i loadBlock(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
TANDEM_AESNI_INLINE void storeBlock(void* to, __m128i block) { _mm_storeu_si128(static_cast<__m128i*>(to), block); }

// Blocks that are encrypted together, so that the instructions' latencies overlap.
constexpr std::size_t kTogether = 8;

class AesniKernel : public Kernel {
 public:
  void encrypt(const AesKey& key, std::uint8_t* blocks, std::size_t count) const override;
  void columnHashes(const std::uint8_t* point, const std::uint32_t* columns, std::size_t blockCount,
                    std::size_t columnCount, std::uint32_t* hashes) const override;
};

}  // namespace maximum
}  // namespace tandem

#endif
