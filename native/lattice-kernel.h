// What the kernels of the lattice scheme do each in their own way: the loops in which nearly all time is spent. All
// give the same bytes. What is built from them (lattice-seal.h, lattice-hints.h and so on) is written once.
//
// A ring element is, per limb, `degree` whole numbers in doubles, either as coefficients or transformed: value i is
// that at psi^(2 rev(i) + 1), rev the reversal of logDegree bits. Elements are aligned to cache lines.
#pragma once

#include <memory>
#include <string>

#include "lattice-aes.h"
#include "lattice-sets.h"

namespace tandem {
namespace lattice {

// Bytes behind the last record that a kernel may read.
constexpr std::size_t kRecordSlack = 16;

// Coefficients of a block that become records: product + error + the multiples of the columns, modulo the primes.
struct SealedBlock {
  const double* lanes[kLanes];              // a s of every lane; |x| < p
  const std::int8_t* errors[kGroupsMax];    // per group
  const std::int32_t* columns[kColumns];    // null: there are none
  double multipliers[kColumns][kLimbsMax];  // balanced
  std::size_t first;
  std::size_t count;
};

// A tile of features, whose cells stand `stride` numbers apart.
struct CellTile {
  std::uint64_t* cells;
  std::size_t stride;
  std::size_t features;
};

constexpr std::size_t kSecretsPerPass = 5;
constexpr std::size_t kPatternCells = 243;  // 3^5
// Hint words are in tiles of this size: [tile][coefficient][kTile].
constexpr std::size_t kTile = 8;

// Four ternary digits are one byte; eight of those are looked up together.
constexpr std::size_t kDigitsPerPattern = 4;
constexpr std::size_t kPatternsPerPass = 8;

class Kernel {
 public:
  virtual ~Kernel() = default;

  // ---- streams and samplers ----
  // kChunkBytes of the key stream from block `counter` on, a multiple of kChunkBlocks.
  virtual void keyStreamChunk(const AesKey& key, const std::uint8_t* prefix, std::uint64_t counter,
                              std::uint8_t* result) const = 0;
  // Ones in two bytes minus ones in the next two, kChunkBytes / 4 times.
  virtual void binomialChunk(const std::uint8_t* bytes, std::int8_t* result) const = 0;

  // ---- ring elements; |x| <= p wherever nothing else is said ----
  virtual void forward(double* x, std::size_t limb) const = 0;
  // N times the inverse. |x| < p then.
  virtual void inverse(double* x, std::size_t limb) const = 0;
  // Value by value; |result| < p.
  virtual void multiply(double* result, const double* a, const double* b, std::size_t limb) const = 0;
  // |x| < 4p before.
  virtual void scale(double* x, std::uint64_t factor, std::size_t limb) const = 0;
  // sum += x times `a` read backwards, which is the transform of a(1/X). Adds less than 0.6 p to |sum|.
  virtual void addProductReversed(double* sum, const double* x, const double* a, std::size_t limb) const = 0;
  // sum += x.
  virtual void add(double* sum, const double* x) const = 0;
  // |x| < 4p before, < 0.6 p after.
  virtual void reduce(double* x, std::size_t limb) const = 0;
  // result = (x + N errors) factor, from 0 to p - 1. |x| < p.
  virtual void finish(const double* x, const std::int8_t* errors, std::uint64_t factor, std::size_t limb,
                      std::uint64_t* result) const = 0;

  // ---- records ----
  virtual void sealRecords(const SealedBlock& block, std::uint8_t* records) const = 0;
  // kLanes numbers per record. False if one is not canonical.
  virtual bool unpackRecords(const std::uint8_t* records, std::size_t count, std::uint64_t* lanes) const = 0;
  // Adds every record to the cell of its bin of every feature of a tile. At most 8,192 records; bins of a row are
  // `rowBins` bins after those of the row before. False if a record is not canonical.
  virtual bool addRecords(const std::uint8_t* records, std::size_t count, const std::uint8_t* bins, std::size_t rowBins,
                          const CellTile& tile) const = 0;
  virtual bool addRecords(const std::uint8_t* records, std::size_t count, const std::uint16_t* bins,
                          std::size_t rowBins, const CellTile& tile) const = 0;
  // Folds `count` cells of kLanes numbers below 2^51: then 8,192 records more fit.
  virtual void foldCells(std::uint64_t* cells, std::size_t count) const = 0;

  // ---- inner products with ternary secrets ----
  // sums[c] += <lanes, r_c> for candidates c in [first, end). @param patterns as hints makes them (lattice-hints.h)
  virtual void addMaskProducts(const std::uint64_t* lanes, const std::uint8_t* patterns, std::size_t candidates,
                               std::size_t first, std::size_t end, std::int64_t* sums) const = 0;
  // cells[patterns[i]] += words[i], kTile numbers each, for every coefficient; and the same for a second list.
  virtual void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells) const = 0;
  virtual void addToPatterns(const std::uint64_t* words, const std::uint8_t* patterns, std::uint64_t* cells,
                             const std::uint8_t* patterns2, std::uint64_t* cells2) const = 0;
  // Of cells by `digits` ternary digits, the lowest: those with digit 2 minus those with digit 0. Then the digit is
  // summed away: a third of the cells is left.
  virtual void takeDigit(std::uint64_t* cells, std::size_t digits, std::uint64_t* difference) const = 0;
};

enum class KernelName { kScalar, kAvx2, kAvx512 };

bool isAvailable(KernelName name);

// One per set, for the whole process.
const Kernel& kernelOf(KernelName name, const Set& set);

std::unique_ptr<Kernel> makeScalarKernel(const Set& set);
std::unique_ptr<Kernel> makeAvx2Kernel(const Set& set);
std::unique_ptr<Kernel> makeAvx512Kernel(const Set& set);

}  // namespace lattice
}  // namespace tandem
