// The kernel `vaes`: AES instructions on two blocks at once.
#if defined(__x86_64__)

#include "aesni.h"

#define TANDEM_VAES __attribute__((target("vaes,avx2,aes,pclmul")))

namespace tandem {
namespace maximum {

namespace {

TANDEM_VAES void encryptTogether(const AesKey& key, std::uint8_t* blocks) {
  __m256i x[kTogether];
  const auto keyOf = [&key](std::size_t round)
                         TANDEM_VAES { return _mm256_broadcastsi128_si256(loadBlock(key.roundKey(round))); };
  const __m256i first = keyOf(0);
  __m256i* pairs = reinterpret_cast<__m256i*>(blocks);
  for (std::size_t i = 0; i < kTogether; i++) x[i] = _mm256_xor_si256(_mm256_loadu_si256(pairs + i), first);
  for (std::size_t round = 1; round < key.rounds(); round++) {
    const __m256i roundKey = keyOf(round);
    for (std::size_t i = 0; i < kTogether; i++) x[i] = _mm256_aesenc_epi128(x[i], roundKey);
  }
  const __m256i last = keyOf(key.rounds());
  for (std::size_t i = 0; i < kTogether; i++) _mm256_storeu_si256(pairs + i, _mm256_aesenclast_epi128(x[i], last));
}

class VaesKernel : public AesniKernel {
 public:
  void encrypt(const AesKey& key, std::uint8_t* blocks, std::size_t count) const override {
    std::size_t i = 0;
    for (; i + 2 * kTogether <= count; i += 2 * kTogether) encryptTogether(key, blocks + kBlockBytes * i);
    AesniKernel::encrypt(key, blocks + kBlockBytes * i, count - i);
  }
};

}  // namespace

std::unique_ptr<Kernel> makeVaesKernel() { return std::make_unique<VaesKernel>(); }

}  // namespace maximum
}  // namespace tandem

#endif
