// The kernel `scalar` of the lattice scheme: 64-bit integers, for every processor. It is the readable form of the
// others.
#include <cstring>

#include "lattice-kernel.h"
#include "lattice-scalar-transform.h"

namespace tandem {
namespace lattice {

namespace {

int onesIn(std::uint32_t x) {
  x -= (x >> 1) & 0x5555;
  x = (x & 0x3333) + ((x >> 2) & 0x3333);
  x = (x + (x >> 4)) & 0x0f0f;
  return static_cast<int>((x + (x >> 8)) & 0x1f);
}

class ScalarKernel final : public Kernel {
 public:
  explicit ScalarKernel(const Set& set) : set_(set) {
    for (std::size_t l = 0; l < set.limbs; l++) {
      transforms_.emplace_back(set, kPrimes[l]);
      multipliers_.emplace_back(kPrimes[l]);
    }
  }

  void keyStreamChunk(const AesKey& key, const std::uint8_t* prefix, std::uint64_t counter,
                      std::uint8_t* result) const override {
    softwareChunk(key, prefix, counter, result);
  }
  void binomialChunk(const std::uint8_t* bytes, std::int8_t* result) const override {
    for (std::size_t i = 0; i < kChunkBytes / 4; i++) {
      std::uint16_t pair[2];
      std::memcpy(pair, bytes + 4 * i, sizeof pair);
      result[i] = static_cast<std::int8_t>(onesIn(pair[0]) - onesIn(pair[1]));
    }
  }

  void forward(double* x, std::size_t limb) const override { transforms_[limb].forward(x); }
  void inverse(double* x, std::size_t limb) const override { transforms_[limb].inverse(x); }
  void multiply(double* result, const double* a, const double* b, std::size_t limb) const override {
    for (std::size_t i = 0; i < set_.degree; i++) result[i] = times(a[i], b[i], limb);
  }
  void scale(double* x, std::uint64_t factor, std::size_t limb) const override {
    const Factor constant(factor, kPrimes[limb]);
    for (std::size_t i = 0; i < set_.degree; i++) {
      x[i] = balanced(constant.times(residue(x[i], limb), kPrimes[limb]), kPrimes[limb]);
    }
  }
  void addProductReversed(double* sum, const double* x, const double* a, std::size_t limb) const override {
    for (std::size_t i = 0; i < set_.degree; i++) sum[i] += times(x[i], a[set_.degree - 1 - i], limb);
  }
  void add(double* sum, const double* x) const override {
    for (std::size_t i = 0; i < set_.degree; i++) sum[i] += x[i];
  }
  void reduce(double* x, std::size_t limb) const override {
    for (std::size_t i = 0; i < set_.degree; i++) x[i] = balanced(residue(x[i], limb), kPrimes[limb]);
  }
  void finish(const double* x, const std::int8_t* errors, std::uint64_t factor, std::size_t limb,
              std::uint64_t* result) const override {
    const Factor constant(factor, kPrimes[limb]);
    for (std::size_t i = 0; i < set_.degree; i++) {
      const double sum = x[i] + static_cast<double>(set_.degree) * errors[i];
      result[i] = constant.times(residue(sum, limb), kPrimes[limb]);
    }
  }

  void sealRecords(const SealedBlock& block, std::uint8_t* records) const override;
  bool unpackRecords(const std::uint8_t* records, std::size_t count, std::uint64_t* lanes) const override {
    bool isCanonical = true;
    for (std::size_t i = 0; i < count; i++) isCanonical &= unpack(records + i * set_.recordBytes, lanes + kLanes * i);
    return isCanonical;
  }
  bool addRecords(const std::uint8_t* records, std::size_t count, const std::uint8_t* bins, std::size_t rowBins,
                  const CellTile& tile) const override {
    return addTo(records, count, bins, rowBins, tile);
  }
  bool addRecords(const std::uint8_t* records, std::size_t count, const std::uint16_t* bins, std::size_t rowBins,
                  const CellTile& tile) const override {
    return addTo(records, count, bins, rowBins, tile);
  }
  void foldCells(std::uint64_t* cells, std::size_t count) const override {
    for (std::size_t i = 0; i < kLanes * count; i++) {
      const std::uint64_t excess = static_cast<std::uint64_t>(excessOf(i % kLanes % set_.limbs));
      cells[i] = (cells[i] & kPrimeMask) + (cells[i] >> kPrimeBits) * excess;
    }
  }

  void addMaskProducts(const std::uint64_t* lanes, const std::uint8_t* patterns, std::size_t candidates,
                       std::size_t first, std::size_t end, std::int64_t* sums) const override;
  void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells) const override {
    for (std::size_t i = 0; i < set_.degree; i++) {
      for (std::size_t w = 0; w < kTile; w++) cells[kTile * patterns[i] + w] += words[kTile * i + w];
    }
  }
  void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells,
                     const std::uint8_t* patterns2, std::uint64_t* cells2) const override {
    addToPatterns(words, patterns, cells);
    addToPatterns(words, patterns2, cells2);
  }
  void takeDigit(std::uint64_t* cells, std::size_t digits, std::uint64_t* difference) const override {
    std::memset(difference, 0, kTile * sizeof *difference);
    std::size_t left = 1;
    for (; digits > 1; digits--) left *= 3;
    for (std::size_t j = 0; j < kTile * left; j++) {
      const std::uint64_t* three = cells + 3 * kTile * (j / kTile) + j % kTile;
      difference[j % kTile] += three[2 * kTile] - three[0];
      cells[j] = three[0] + three[kTile] + three[2 * kTile];
    }
  }

 private:
  // Of |x| < 4p.
  std::uint64_t residue(double x, std::size_t limb) const {
    const std::uint64_t prime = kPrimes[limb];
    const std::uint64_t positive = static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) + 4 * prime;
    return lessPrime(lessPrime(lessPrime(positive, 4 * prime), 2 * prime), prime);
  }
  double times(double a, double b, std::size_t limb) const {
    return balanced(multipliers_[limb](residue(a, limb), residue(b, limb)), kPrimes[limb]);
  }

  // Fields of 50 bits. What is left of the last byte stands in a lane of its own, and must be 0.
  bool unpack(const std::uint8_t* record, std::uint64_t* lanes) const {
    bool isCanonical = true;
    for (std::size_t i = 0; i < kLanes; i++) {
      std::uint64_t field;
      std::memcpy(&field, record + 6 * i, sizeof field);
      lanes[i] = (field >> (2 * i)) & (i < set_.lanes ? kPrimeMask : 3);
      isCanonical &= lanes[i] < (i < set_.lanes ? kPrimes[i % set_.limbs] : 1);
    }
    return isCanonical;
  }

  template <typename Bin>
  bool addTo(const std::uint8_t* records, std::size_t count, const Bin* bins, std::size_t rowBins,
             const CellTile& tile) const {
    bool isCanonical = true;
    for (std::size_t i = 0; i < count; i++, bins += rowBins) {
      std::uint64_t lanes[kLanes];
      isCanonical &= unpack(records + i * set_.recordBytes, lanes);
      for (std::size_t f = 0; f < tile.features; f++) {
        std::uint64_t* cell = tile.cells + f * tile.stride + kLanes * bins[f];
        for (std::size_t lane = 0; lane < kLanes; lane++) cell[lane] += lanes[lane];
      }
    }
    return isCanonical;
  }

  const Set& set_;
  std::vector<ScalarTransform> transforms_;
  std::vector<Multiplier> multipliers_;
};

void ScalarKernel::sealRecords(const SealedBlock& block, std::uint8_t* records) const {
  Factor multipliers[kColumns][kLimbsMax];
  for (std::size_t column = 0; column < kColumns; column++) {
    for (std::size_t l = 0; l < set_.limbs; l++) {
      multipliers[column][l] = Factor(canonical(block.multipliers[column][l], kPrimes[l]), kPrimes[l]);
    }
  }
  for (std::size_t i = 0; i < block.count; i++) {
    const std::size_t j = block.first + i;
    Wide record[2] = {0, 0};
    for (std::size_t lane = 0; lane < set_.lanes; lane++) {
      const std::size_t group = lane / set_.limbs;
      const std::size_t limb = lane % set_.limbs;
      const std::uint64_t prime = kPrimes[limb];
      std::uint64_t value = canonical(block.lanes[lane][j], prime) + canonical(block.errors[group][j], prime);
      for (std::size_t column = 0; column < kColumns; column++) {
        if (block.columns[column] == nullptr || (set_.groups == 2 && column != group)) continue;
        value += multipliers[column][limb].times(canonical(block.columns[column][j], prime), prime);
      }
      value = lessPrime(lessPrime(value, 2 * prime), prime);
      const std::size_t bit = kPrimeBits * lane;
      record[bit / 128] |= static_cast<Wide>(value) << (bit % 128);
      if (bit / 128 == 0 && bit + kPrimeBits > 128) record[1] |= value >> (128 - bit);
    }
    std::memcpy(records + i * set_.recordBytes, record, set_.recordBytes);
  }
}

void ScalarKernel::addMaskProducts(const std::uint64_t* lanes, const std::uint8_t* patterns, std::size_t candidates,
                                   std::size_t first, std::size_t end, std::int64_t* sums) const {
  for (std::size_t at = 0; at < set_.degree / kDigitsPerPattern; at++) {
    // The sum of four records with every pattern of signs. A byte is an index whatever its value.
    std::int64_t table[256][kLanes] = {};
    for (int pattern = 0; pattern < 81; pattern++) {
      int digits = pattern;
      for (std::size_t u = 0; u < kDigitsPerPattern; u++, digits /= 3) {
        const std::uint64_t* record = lanes + kLanes * (kDigitsPerPattern * at + u);
        for (std::size_t lane = 0; lane < kLanes; lane++) {
          table[pattern][lane] += (digits % 3 - 1) * static_cast<std::int64_t>(record[lane]);
        }
      }
    }
    const std::uint8_t* own = patterns + at / kPatternsPerPass * candidates * kPatternsPerPass + at % kPatternsPerPass;
    for (std::size_t c = first; c < end; c++) {
      const std::int64_t* entry = table[own[c * kPatternsPerPass]];
      for (std::size_t lane = 0; lane < kLanes; lane++) sums[kLanes * (c - first) + lane] += entry[lane];
    }
  }
}

}  // namespace

std::unique_ptr<Kernel> makeScalarKernel(const Set& set) { return std::make_unique<ScalarKernel>(set); }

}  // namespace lattice
}  // namespace tandem
