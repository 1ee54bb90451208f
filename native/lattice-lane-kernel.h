// A kernel of the lattice scheme in lanes. A kernel's file defines its vectors (lattice-avx2.cpp), then includes this:
// everything is compiled once per kernel, in a namespace of its own and for its own instructions. Hence no #pragma
// once.

// clang-format off: the order matters
#include "lattice-lane-modulus.h"
#include "lattice-lane-transform.h"
#include "lattice-lane-streams.h"
#include "lattice-lane-records.h"
#include "lattice-lane-sums.h"
// clang-format on

namespace tandem {
namespace lattice {
namespace TANDEM_LANES {

template <const Set& kSet>
class LaneKernel final : public Kernel {
 public:
  LaneKernel() {
    for (std::size_t l = 0; l < kSet.limbs; l++) transforms_.emplace_back(kPrimes[l]);
  }

  void keyStreamChunk(const AesKey& key, const std::uint8_t* prefix, std::uint64_t counter,
                      std::uint8_t* result) const override {
    TANDEM_LANES::keyStreamChunk(key, prefix, counter, result);
  }
  void binomialChunk(const std::uint8_t* bytes, std::int8_t* result) const override {
    TANDEM_LANES::binomialChunk(bytes, result);
  }

  void forward(double* x, std::size_t limb) const override { transforms_[limb].forward(x); }
  void inverse(double* x, std::size_t limb) const override { transforms_[limb].inverse(x); }
  TANDEM_LANE void multiply(double* result, const double* a, const double* b, std::size_t limb) const override {
    const Modulus<V> modulus(primeOf(limb));
    for (std::size_t i = 0; i < kSet.degree; i += V::kCount) {
      V::store(result + i, modulus.times(V::load(a + i), V::load(b + i)));
    }
  }
  TANDEM_LANE void scale(double* x, std::uint64_t factor, std::size_t limb) const override {
    const Modulus<V> modulus(primeOf(limb));
    const double constant = balanced(factor, kPrimes[limb]);
    const auto value = V::all(constant);
    const auto ratio = V::all(constant / primeOf(limb));
    for (std::size_t i = 0; i < kSet.degree; i += V::kCount) {
      V::store(x + i, modulus.times(V::load(x + i), value, ratio));
    }
  }
  TANDEM_LANE void addProductReversed(double* sum, const double* x, const double* a, std::size_t limb) const override {
    const Modulus<V> modulus(primeOf(limb));
    for (std::size_t i = 0; i < kSet.degree; i += V::kCount) {
      const auto reversed = V::backwards(V::load(a + kSet.degree - V::kCount - i));
      V::store(sum + i, V::add(V::load(sum + i), modulus.times(V::load(x + i), reversed)));
    }
  }
  TANDEM_LANE void add(double* sum, const double* x) const override {
    for (std::size_t i = 0; i < kSet.degree; i += V::kCount)
      V::store(sum + i, V::add(V::load(sum + i), V::load(x + i)));
  }
  TANDEM_LANE void reduce(double* x, std::size_t limb) const override {
    const Modulus<V> modulus(primeOf(limb));
    for (std::size_t i = 0; i < kSet.degree; i += V::kCount) V::store(x + i, modulus.reduced(V::load(x + i)));
  }
  TANDEM_LANE void finish(const double* x, const std::int8_t* errors, std::uint64_t factor, std::size_t limb,
                          std::uint64_t* result) const override {
    const Modulus<Four> modulus(primeOf(limb));
    const double constant = balanced(factor, kPrimes[limb]);
    const auto value = Four::all(constant);
    const auto ratio = Four::all(constant / primeOf(limb));
    const auto degree = Four::all(static_cast<double>(kSet.degree));
    for (std::size_t i = 0; i < kSet.degree; i += 4) {
      const auto sum = Four::plus(degree, fourBytes(errors + i), Four::load(x + i));
      storeFour(result + i, canonicalFour(modulus.times(sum, value, ratio), modulus));
    }
  }

  void sealRecords(const SealedBlock& block, std::uint8_t* records) const override {
    LaneRecords<kSet>::seal(block, records);
  }
  bool unpackRecords(const std::uint8_t* records, std::size_t count, std::uint64_t* lanes) const override {
    return LaneRecords<kSet>::unpackAll(records, count, lanes);
  }
  bool addRecords(const std::uint8_t* records, std::size_t count, const std::uint8_t* bins, std::size_t rowBins,
                  const CellTile& tile) const override {
    return LaneRecords<kSet>::addAll(records, count, bins, rowBins, tile);
  }
  bool addRecords(const std::uint8_t* records, std::size_t count, const std::uint16_t* bins, std::size_t rowBins,
                  const CellTile& tile) const override {
    return LaneRecords<kSet>::addAll(records, count, bins, rowBins, tile);
  }
  void foldCells(std::uint64_t* cells, std::size_t count) const override { LaneRecords<kSet>::fold(cells, count); }

  void addMaskProducts(const std::uint64_t* lanes, const std::uint8_t* patterns, std::size_t candidates,
                       std::size_t first, std::size_t end, std::int64_t* sums) const override {
    TANDEM_LANES::addMaskProducts<kSet>(lanes, patterns, candidates, first, end, sums);
  }
  void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells) const override {
    TANDEM_LANES::addToPatterns<kSet>(words, patterns, cells);
  }
  void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells,
                     const std::uint8_t* patterns2, std::uint64_t* cells2) const override {
    TANDEM_LANES::addToPatterns<kSet>(words, patterns, cells, patterns2, cells2);
  }
  void takeDigit(std::uint64_t* cells, std::size_t digits, std::uint64_t* difference) const override {
    TANDEM_LANES::takeDigit(cells, digits, difference);
  }

 private:
  using V = Widest;
  static double primeOf(std::size_t limb) { return static_cast<double>(kPrimes[limb]); }

  std::vector<LaneTransform<kSet>> transforms_;
};

inline std::unique_ptr<Kernel> makeKernel(const Set& set) {
  if (set.name == kSetA.name) return std::make_unique<LaneKernel<kSetA>>();
  return std::make_unique<LaneKernel<kSetB>>();
}

}  // namespace TANDEM_LANES
}  // namespace lattice
}  // namespace tandem
