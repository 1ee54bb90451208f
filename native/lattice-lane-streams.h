// Key streams by the AES instructions, and counting of ones by table look-ups within a register. Included once per
// kernel.
//
// Constant-time: as the instructions are.

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

// Eight blocks at a time keep the unit busy.
TANDEM_LANE inline void keyStreamChunk(const AesKey& key, const std::uint8_t* prefix, std::uint64_t counter,
                                       std::uint8_t* result) {
  constexpr std::size_t kAtOnce = 8;
  const __m128i* keys = reinterpret_cast<const __m128i*>(key.roundKey(0));
  const __m128i start = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(prefix));
  __m128i* to = reinterpret_cast<__m128i*>(result);
  for (std::size_t block = 0; block < kChunkBlocks; block += kAtOnce) {
    __m128i state[kAtOnce];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kAtOnce; i++) {
      const auto own = static_cast<long long>(__builtin_bswap64(counter + block + i));
      state[i] = _mm_xor_si128(_mm_unpacklo_epi64(start, _mm_cvtsi64_si128(own)), keys[0]);
    }
    for (std::size_t round = 1; round < key.rounds(); round++) {
      const __m128i roundKey = keys[round];
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kAtOnce; i++) state[i] = _mm_aesenc_si128(state[i], roundKey);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kAtOnce; i++) {
      _mm_storeu_si128(to + block + i, _mm_aesenclast_si128(state[i], keys[key.rounds()]));
    }
  }
}

// Eight samples of 32 bits: the ones of the lower half minus those of the upper half.
TANDEM_LANE_INLINE __m256i binomials(const std::uint8_t* bytes) {
  const __m256i ones = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i low = _mm256_set1_epi8(15);
  const __m256i signs = _mm256_set1_epi32(static_cast<int>(0xffff0101));
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  const __m256i count = _mm256_add_epi8(_mm256_shuffle_epi8(ones, _mm256_and_si256(x, low)),
                                        _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
  return _mm256_madd_epi16(_mm256_maddubs_epi16(count, signs), _mm256_set1_epi16(1));
}

TANDEM_LANE inline void binomialChunk(const std::uint8_t* bytes, std::int8_t* result) {
  // Packing works within halves of a register: this puts the parts in order again.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (std::size_t i = 0; i < kChunkBytes / 4; i += 32) {
    const __m256i a = _mm256_packs_epi32(binomials(bytes + 4 * i), binomials(bytes + 4 * i + 32));
    const __m256i b = _mm256_packs_epi32(binomials(bytes + 4 * i + 64), binomials(bytes + 4 * i + 96));
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(result + i), packed);
  }
}

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
