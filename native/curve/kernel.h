// What the kernels of the curve scheme do each in their own way: the loops over points in which nearly all time is
// spent. All give the same encodings. What is built from them (histogram.h, answers.h and so on) is written once.
//
// Stored elements of the field have five limbs of 51 bits, carried, not canonical. Formulas are complete: there are no
// two points on the curve that they do not add (Hisil, Wong, Carter, Dawson 2008).
#pragma once

#include <memory>

#include "constants.h"
#include "scalars.h"

namespace tandem {
namespace curve {

constexpr std::size_t kPointBytes = 32;
constexpr std::size_t kLanesMax = 8;

// What is added: (y - x)/2, (y + x)/2, d x y; two cache lines.
struct alignas(64) StoredAddend {
  std::uint64_t limbs[3 * kLimbs + 1];
};
// A sum: Y - X, Y + X, Z, T with x = X/Z, y = Y/Z, x y = T/Z.
struct StoredPoint {
  std::uint64_t limbs[4 * kLimbs];
};
using Addends = std::vector<StoredAddend, WipingAllocator<StoredAddend>>;
using Points = std::vector<StoredPoint, WipingAllocator<StoredPoint>>;

constexpr StoredAddend kNeutralAddend = {{kHalf[0], kHalf[1], kHalf[2], kHalf[3], kHalf[4], kHalf[0], kHalf[1],
                                          kHalf[2], kHalf[3], kHalf[4], 0, 0, 0, 0, 0, 0}};
constexpr StoredPoint kNeutralPoint = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

// Multiples 1 to kEntries of 2^(6 w) times a point, for signed digits of six bits: [window][limb of an addend][entry].
constexpr std::size_t kEntries = 32;
constexpr int kWindowBits = 6;
constexpr int kWindows = 43;
// Digits of a number below 2^46.
constexpr int kShortWindows = 8;
using FixedTable = std::vector<std::uint64_t, WipingAllocator<std::uint64_t>>;

// Addends of one list, or of a piece of one.
struct Piece {
  const std::uint32_t* items;
  std::uint32_t length;
};

// Running sums: step i adds from[sources[i] * width] and stores the sum at to[targets[i] * width], unless that is -1.
struct Chain {
  const std::uint32_t* sources;
  const std::int32_t* targets;
  std::size_t length;
};

// Masks of one column of an answer: 8 (sum + rho P + noise B).
struct MaskColumn {
  const StoredPoint* sums;  // of candidate i at i * stride
  std::size_t stride;
  const FixedTable* table;  // of P
  const Scalar* masks;      // of candidate i at i
  const double* noise;      // of candidate i at i * stride; null: none
  std::uint8_t* encodings;  // of candidate i at i * encodingStride
  std::size_t encodingStride;
};

class Logarithms;

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::size_t lanes() const = 0;

  // Multiples of the base point B.
  const FixedTable& base() const { return base_; }
  virtual FixedTable tableOf(const StoredAddend& point) const = 0;
  virtual bool isSmallOrder(const StoredAddend& point) const = 0;

  // Constant-time: encodings of the scalars' multiples of a table's point.
  virtual void encodeMultiples(const FixedTable& table, const Scalar* scalars, std::size_t count,
                               std::uint8_t* encodings) const = 0;
  // The index of the first encoding that is not valid; `count` if there is none.
  virtual std::size_t decode(const std::uint8_t* encodings, std::size_t count, StoredAddend* addends) const = 0;
  virtual void encode(const StoredPoint* points, std::size_t count, std::uint8_t* encodings) const = 0;
  virtual void addTo(const StoredPoint* a, const StoredPoint* b, std::size_t count, StoredPoint* sums) const = 0;
  virtual void pointsOf(const StoredAddend* addends, std::size_t count, StoredPoint* points) const = 0;
  virtual void addendsOf(const StoredPoint* points, std::size_t count, StoredAddend* addends) const = 0;

  // The sum of each piece. Pieces of similar length should stand together.
  virtual void sumPieces(const StoredAddend* points, const Piece* pieces, std::size_t count,
                         StoredPoint* sums) const = 0;
  virtual void runChains(const Chain* chains, std::size_t count, const StoredPoint* from, StoredPoint* to,
                         std::size_t width) const = 0;

  // Constant-time in masks. Candidates begin to end of every column.
  virtual void maskColumns(const std::vector<MaskColumn>& columns, std::size_t begin, std::size_t end) const = 0;

  // 8 (C - s A) - centre 64 B of each value of `count` candidates, as addends: value by value. Constant-time in the
  // secrets. Centres are integers below 2^36.
  // Returns the index of the first encoding that is not valid; count * (1 + values) if there is none.
  virtual std::size_t open(const std::uint8_t* encodings, std::size_t count, const Scalar* secrets, std::size_t values,
                           const double* centres, StoredAddend* opened) const = 0;

  // Entries of the table of logarithms: multiples first to first + count - 1 of 64 B.
  virtual void insertBabies(Logarithms& table, std::uint32_t first, std::uint32_t count) const = 0;
  virtual void makeGiants(Logarithms& table) const = 0;
  // Logarithms of up to lanes() addends to the base 64 B; NaN if none is within the point's bound. The number of steps
  // depends on the bounds only.
  virtual void findLogarithms(const Logarithms& table, const StoredAddend* const* points, const double* bounds,
                              std::size_t count, double* found) const = 0;

 protected:
  FixedTable base_;
};

enum class KernelName { kScalar, kAvx2, kIfma };

bool isAvailable(KernelName name);
// Made once per process.
const Kernel& kernelOf(KernelName name);

std::unique_ptr<Kernel> makeScalarKernel();
#if defined(__x86_64__)
std::unique_ptr<Kernel> makeAvx2Kernel();
std::unique_ptr<Kernel> makeIfmaKernel();
#endif

}  // namespace curve
}  // namespace tandem
