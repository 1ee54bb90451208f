// Inner products with ternary secrets, in lanes. Included once per kernel.
//
// Constant-time: no. Addresses depend on secret digits, within a few kilobytes.

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

constexpr std::size_t kSums = 81;  // of four digits
// A pattern is a byte: whatever its value, what it points to is within the tables and this.
constexpr std::size_t kSumsSlack = 256 - kSums;

// t[pattern] = the sum of digit u of the pattern (-1, 0 or 1) times record u, over four records.
TANDEM_LANE_INLINE void fillSums(const std::uint64_t* records, __m256i* t) {
  const __m256i r0 = loadFour(records);
  const __m256i r1 = loadFour(records + kLanes);
  const __m256i r2 = loadFour(records + 2 * kLanes);
  const __m256i r3 = loadFour(records + 3 * kLanes);
  const __m256i all = _mm256_add_epi64(_mm256_add_epi64(r0, r1), _mm256_add_epi64(r2, r3));
  t[0] = _mm256_sub_epi64(_mm256_setzero_si256(), all);
  t[1] = _mm256_add_epi64(t[0], r0);
  t[2] = _mm256_add_epi64(t[1], r0);
  for (std::size_t v = 3; v < 9; v++) t[v] = _mm256_add_epi64(t[v - 3], r1);
  for (std::size_t v = 9; v < 27; v++) t[v] = _mm256_add_epi64(t[v - 9], r2);
  for (std::size_t v = 27; v < kSums; v++) t[v] = _mm256_add_epi64(t[v - 27], r3);
}

// The sums that four patterns name, each in its own table.
TANDEM_LANE_INLINE __m256i sumOfFour(const std::uint8_t* patterns, const __m256i* tables) {
  std::uint32_t four;
  std::memcpy(&four, patterns, sizeof four);
  return _mm256_add_epi64(_mm256_add_epi64(tables[four & 255], tables[kSums + (four >> 8 & 255)]),
                          _mm256_add_epi64(tables[2 * kSums + (four >> 16 & 255)], tables[3 * kSums + (four >> 24)]));
}

template <const Set& kSet>
TANDEM_LANE void addMaskProducts(const std::uint64_t* lanes, const std::uint8_t* patterns, std::size_t candidates,
                                 std::size_t first, std::size_t end, std::int64_t* sums) {
  alignas(kAlignment) __m256i tables[kPatternsPerPass * kSums + kSumsSlack];
  std::memset(tables + kPatternsPerPass * kSums, 0, kSumsSlack * sizeof *tables);
  constexpr std::size_t kRecords = kPatternsPerPass * kDigitsPerPattern;
  for (std::size_t pass = 0; pass < kSet.degree / kRecords; pass++) {
    for (std::size_t h = 0; h < kPatternsPerPass; h++) {
      fillSums(lanes + kLanes * (pass * kRecords + h * kDigitsPerPattern), tables + h * kSums);
    }
    const std::uint8_t* own = patterns + kPatternsPerPass * (pass * candidates + first);
    auto* to = reinterpret_cast<__m256i*>(sums);
    for (std::size_t c = first; c < end; c++, own += kPatternsPerPass, to++) {
      const __m256i sum = _mm256_add_epi64(sumOfFour(own, tables), sumOfFour(own + 4, tables + 4 * kSums));
      _mm256_store_si256(to, _mm256_add_epi64(_mm256_load_si256(to), sum));
    }
  }
}

template <const Set& kSet>
TANDEM_LANE void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells) {
  for (std::size_t i = 0; i < kSet.degree; i++) Tile::load(words + kTile * i).addTo(cells + kTile * patterns[i]);
}
// Two lists share each load of words.
template <const Set& kSet>
TANDEM_LANE void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells,
                               const std::uint8_t* patterns2, std::uint64_t* cells2) {
  for (std::size_t i = 0; i < kSet.degree; i++) {
    const Tile tile = Tile::load(words + kTile * i);
    tile.addTo(cells + kTile * patterns[i]);
    tile.addTo(cells2 + kTile * patterns2[i]);
  }
}

TANDEM_LANE inline void takeDigit(std::uint64_t* cells, std::size_t digits, std::uint64_t* difference) {
  std::size_t left = 1;
  for (; digits > 1; digits--) left *= 3;
  for (std::size_t half = 0; half < kTile; half += 4) {
    __m256i sum = _mm256_setzero_si256();
    for (std::size_t j = 0; j < left; j++) {
      const std::uint64_t* three = cells + 3 * kTile * j + half;
      const __m256i x0 = loadFour(three);
      const __m256i x1 = loadFour(three + kTile);
      const __m256i x2 = loadFour(three + 2 * kTile);
      sum = _mm256_add_epi64(sum, _mm256_sub_epi64(x2, x0));
      storeFour(cells + kTile * j + half, _mm256_add_epi64(_mm256_add_epi64(x0, x1), x2));
    }
    storeFour(difference + half, sum);
  }
}

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
