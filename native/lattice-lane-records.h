// Records in lanes: a register holds the four residues of a record, or one residue of four records. Included once per
// kernel, after lattice-lane-modulus.h.
//
// Constant-time: sealing is, as the instructions are. Adding takes addresses from bins.

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

// Between 0 and p - 1, as integers; |x| < 4p.
TANDEM_LANE_INLINE __m256i canonicalFour(__m256d x, const Modulus<Four>& modulus) {
  x = modulus.reduced(x);
  const __m256d isNegative = _mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_LT_OQ);
  x = Four::add(x, _mm256_and_pd(isNegative, modulus.prime));
  return _mm256_sub_epi64(_mm256_castpd_si256(Four::add(x, modulus.rounder)), _mm256_castpd_si256(modulus.rounder));
}

// Four small numbers.
TANDEM_LANE_INLINE __m256d fourBytes(const std::int8_t* from) {
  int four;
  std::memcpy(&four, from, sizeof four);
  return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(four)));
}

template <const Set& kSet>
struct LaneRecords {
  // Field i begins at bit 50 i: byte 6 i, shifted by 2 i. What is left of the last byte stands in a lane of its own.
  TANDEM_LANE_INLINE static __m256i unpack(const std::uint8_t* record) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(record));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(record + 12));
    const __m128i order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 8, 9, 10, 11, 12, 13);
    const __m256i fields = _mm256_broadcastsi128_si256(order);
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    const __m256i shifted = _mm256_srlv_epi64(_mm256_shuffle_epi8(both, fields), _mm256_setr_epi64x(0, 2, 4, 6));
    constexpr long long kMask = static_cast<long long>(kPrimeMask);
    return _mm256_and_si256(shifted, _mm256_setr_epi64x(kMask, kMask, kMask, kSet.lanes == 4 ? kMask : 3));
  }

  // The largest canonical value of each lane.
  TANDEM_LANE_INLINE static __m256i largest() {
    return _mm256_setr_epi64x(largestOf(0), largestOf(1), largestOf(2), kSet.lanes == 4 ? largestOf(3) : 0);
  }
  static constexpr long long largestOf(std::size_t lane) {
    return static_cast<long long>(kPrimes[lane % kSet.limbs] - 1);
  }

  TANDEM_LANE static bool unpackAll(const std::uint8_t* records, std::size_t count, std::uint64_t* lanes) {
    const __m256i top = largest();
    __m256i over = _mm256_setzero_si256();
    for (std::size_t i = 0; i < count; i++) {
      const __m256i record = unpack(records + i * kSet.recordBytes);
      over = _mm256_or_si256(over, _mm256_cmpgt_epi64(record, top));
      storeFour(lanes + kLanes * i, record);
    }
    return _mm256_testz_si256(over, over) != 0;
  }

  template <typename Bin>
  TANDEM_LANE static bool addAll(const std::uint8_t* record, std::size_t count, const Bin* bins, std::size_t rowBins,
                                 const CellTile& tile) {
    const __m256i top = largest();
    __m256i over = _mm256_setzero_si256();
    const std::size_t stride = tile.stride;
    for (std::size_t i = 0; i < count; i++, record += kSet.recordBytes, bins += rowBins) {
      const __m256i value = unpack(record);
      over = _mm256_or_si256(over, _mm256_cmpgt_epi64(value, top));
      std::uint64_t* cells = tile.cells;
      std::size_t f = 0;
      for (; f + 4 <= tile.features; f += 4, cells += 4 * stride) {
        addTo(cells + kLanes * bins[f], value);
        addTo(cells + stride + kLanes * bins[f + 1], value);
        addTo(cells + 2 * stride + kLanes * bins[f + 2], value);
        addTo(cells + 3 * stride + kLanes * bins[f + 3], value);
      }
      for (; f < tile.features; f++, cells += stride) addTo(cells + kLanes * bins[f], value);
    }
    return _mm256_testz_si256(over, over) != 0;
  }
  TANDEM_LANE_INLINE static void addTo(std::uint64_t* cell, __m256i value) {
    storeFour(cell, _mm256_add_epi64(loadFour(cell), value));
  }

  TANDEM_LANE static void fold(std::uint64_t* cells, std::size_t count) {
    const __m256i mask = _mm256_set1_epi64x(static_cast<long long>(kPrimeMask));
    const __m256i excess =
        _mm256_sub_epi64(mask, _mm256_setr_epi64x(largestOf(0), largestOf(1), largestOf(2), largestOf(3)));
    for (std::size_t i = 0; i < count; i++, cells += kLanes) {
      const __m256i cell = loadFour(cells);
      const __m256i upper = _mm256_mul_epu32(_mm256_srli_epi64(cell, kPrimeBits), excess);
      storeFour(cells, _mm256_add_epi64(_mm256_and_si256(cell, mask), upper));
    }
  }

  TANDEM_LANE static void seal(const SealedBlock& block, std::uint8_t* records) {
    if (block.columns[0] == nullptr) {
      sealAll<false>(block, records);
    } else {
      sealAll<true>(block, records);
    }
  }

 private:
  // Residues of one limb and how they come about.
  struct Limb {
    TANDEM_LANE_INLINE Limb(const SealedBlock& block, std::size_t limb)
        : modulus(static_cast<double>(kPrimes[limb])), multipliers{}, ratios{} {
      for (std::size_t column = 0; column < kColumns; column++) {
        const double multiplier = block.multipliers[column][limb];
        multipliers[column] = Four::all(multiplier);
        ratios[column] = Four::all(multiplier / static_cast<double>(kPrimes[limb]));
      }
    }
    Modulus<Four> modulus;
    __m256d multipliers[kColumns];
    __m256d ratios[kColumns];
  };

  template <bool kHasColumns>
  TANDEM_LANE static void sealAll(const SealedBlock& block, std::uint8_t* records) {
    const Limb limbs[kLimbsMax] = {Limb(block, 0), Limb(block, 1), Limb(block, kSet.limbs - 1)};
    for (std::size_t i = 0; i < block.count; i += 4) {
      const std::size_t at = block.first + i;
      __m256d columns[kColumns];
      if (kHasColumns) {
#pragma GCC unroll 2
        for (std::size_t column = 0; column < kColumns; column++) {
          const auto* from = reinterpret_cast<const __m128i*>(block.columns[column] + at);
          columns[column] = _mm256_cvtepi32_pd(_mm_loadu_si128(from));
        }
      }
      __m256i lanes[kLanes];
      lanes[kLanes - 1] = _mm256_setzero_si256();
#pragma GCC unroll 4
      for (std::size_t lane = 0; lane < kSet.lanes; lane++) {
        const std::size_t group = lane / kSet.limbs;
        const Limb& limb = limbs[lane % kSet.limbs];
        __m256d sum = Four::add(_mm256_loadu_pd(block.lanes[lane] + at), fourBytes(block.errors[group] + at));
        if (kHasColumns) {
#pragma GCC unroll 2
          for (std::size_t column = 0; column < kColumns; column++) {
            if (kSet.groups == 2 && column != group) continue;
            sum = Four::add(sum, limb.modulus.times(columns[column], limb.multipliers[column], limb.ratios[column]));
          }
        }
        lanes[lane] = canonicalFour(sum, limb.modulus);
      }
      store(lanes, records, i, block.count);
    }
  }

  // Four records from record i on, of `count`.
  TANDEM_LANE_INLINE static void store(const __m256i* lanes, std::uint8_t* records, std::size_t i, std::size_t count) {
    const __m256i w0 = _mm256_or_si256(lanes[0], _mm256_slli_epi64(lanes[1], 50));
    const __m256i w1 = _mm256_or_si256(_mm256_srli_epi64(lanes[1], 14), _mm256_slli_epi64(lanes[2], 36));
    const __m256i w2 = _mm256_or_si256(_mm256_srli_epi64(lanes[2], 28), _mm256_slli_epi64(lanes[3], 22));
    const __m256i w3 = _mm256_srli_epi64(lanes[3], 42);
    const __m256i low0 = _mm256_unpacklo_epi64(w0, w1);
    const __m256i low1 = _mm256_unpackhi_epi64(w0, w1);
    const __m256i high0 = _mm256_unpacklo_epi64(w2, w3);
    const __m256i high1 = _mm256_unpackhi_epi64(w2, w3);
    const __m256i four[4] = {_mm256_permute2x128_si256(low0, high0, 0x20), _mm256_permute2x128_si256(low1, high1, 0x20),
                             _mm256_permute2x128_si256(low0, high0, 0x31),
                             _mm256_permute2x128_si256(low1, high1, 0x31)};
    std::uint8_t* to = records + i * kSet.recordBytes;
    if (i + 8 <= count) {
      // Each is longer than a record: the next one overwrites what is too much.
#pragma GCC unroll 4
      for (std::size_t j = 0; j < 4; j++) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + j * kSet.recordBytes), four[j]);
      }
      return;
    }
    for (std::size_t j = 0; j < 4 && i + j < count; j++) {
      std::memcpy(to + j * kSet.recordBytes, &four[j], kSet.recordBytes);
    }
  }
};

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
