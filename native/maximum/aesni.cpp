// The kernel `aesni`: AES and carry-less multiplication instructions on single blocks.
#if defined(__x86_64__)

#include "aesni.h"

namespace tandem {
namespace maximum {

namespace {

template <std::size_t n>
TANDEM_AESNI void encryptTogether(const AesKey& key, std::uint8_t* blocks) {
  __m128i x[n];
  const __m128i first = loadBlock(key.roundKey(0));
  for (std::size_t i = 0; i < n; i++) x[i] = _mm_xor_si128(loadBlock(blocks + kBlockBytes * i), first);
  for (std::size_t round = 1; round < key.rounds(); round++) {
    const __m128i roundKey = loadBlock(key.roundKey(round));
    for (std::size_t i = 0; i < n; i++) x[i] = _mm_aesenc_si128(x[i], roundKey);
  }
  const __m128i last = loadBlock(key.roundKey(key.rounds()));
  for (std::size_t i = 0; i < n; i++) storeBlock(blocks + kBlockBytes * i, _mm_aesenclast_si128(x[i], last));
}

// An unreduced product of 255 bits, in three parts.
struct Wide {
  __m128i low;
  __m128i middle;
  __m128i high;
};

TANDEM_AESNI_INLINE void addProduct(Wide& sum, __m128i a, __m128i b) {
  sum.low = _mm_xor_si128(sum.low, _mm_clmulepi64_si128(a, b, 0x00));
  sum.high = _mm_xor_si128(sum.high, _mm_clmulepi64_si128(a, b, 0x11));
  sum.middle = _mm_xor_si128(sum.middle, _mm_clmulepi64_si128(a, b, 0x01));
  sum.middle = _mm_xor_si128(sum.middle, _mm_clmulepi64_si128(a, b, 0x10));
}

// Modulo x^128 + x^7 + x^2 + x + 1: each of the upper words times 0x87 comes 128 bits lower.
TANDEM_AESNI_INLINE __m128i reduced(const Wide& sum) {
  const __m128i factor = _mm_set_epi64x(0, 0x87);
  __m128i low = _mm_xor_si128(sum.low, _mm_slli_si128(sum.middle, 8));
  __m128i high = _mm_xor_si128(sum.high, _mm_srli_si128(sum.middle, 8));
  const __m128i top = _mm_clmulepi64_si128(high, factor, 0x01);
  high = _mm_xor_si128(high, _mm_srli_si128(top, 8));
  low = _mm_xor_si128(low, _mm_slli_si128(top, 8));
  return _mm_xor_si128(low, _mm_clmulepi64_si128(high, factor, 0x00));
}

}  // namespace

TANDEM_AESNI void AesniKernel::encrypt(const AesKey& key, std::uint8_t* blocks, std::size_t count) const {
  std::size_t i = 0;
  for (; i + kTogether <= count; i += kTogether) encryptTogether<kTogether>(key, blocks + kBlockBytes * i);
  for (; i < count; i++) encryptTogether<1>(key, blocks + kBlockBytes * i);
}

TANDEM_AESNI void AesniKernel::columnHashes(const std::uint8_t* point, const std::uint32_t* columns,
                                            std::size_t blockCount, std::size_t columnCount,
                                            std::uint32_t* hashes) const {
  struct alignas(16) Block {
    std::uint8_t bytes[kBlockBytes];
  };
  std::vector<Block> powers(blockCount);
  __m128i power = loadBlock(point);
  for (std::size_t i = blockCount; i > 0; i--) {
    storeBlock(&powers[i - 1], power);
    Wide next{_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    addProduct(next, power, loadBlock(point));
    power = reduced(next);
  }
  for (std::size_t column = 0; column < columnCount; column++) {
    const std::uint32_t* blocks = columns + kWordsPerBlock * blockCount * column;
    Wide sum{_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    for (std::size_t i = 0; i < blockCount; i++)
      addProduct(sum, loadBlock(blocks + kWordsPerBlock * i), loadBlock(&powers[i]));
    storeBlock(hashes + kWordsPerBlock * column, reduced(sum));
  }
}

std::unique_ptr<Kernel> makeAesniKernel() { return std::make_unique<AesniKernel>(); }

}  // namespace maximum
}  // namespace tandem

#endif
