// square-ring.h in the lanes of a vector: radix 2^kDigitBits, R = 2^(kDigitBits digits) with at least 4 bits above N.
// A kernel's file includes its vectors first, then this, once: the class is made anew for each kernel.
//
// Layout: a group is 2 * digits vectors; vector j holds digit j of a (then b) of the elements in its 64-bit lanes.
// Digits are below the radix between operations.
//
// Bounds: R >= 16 N. With all halves below 4 N: r = (a c + m N) / R < 16 N^2 / R + N <= 2 N, and
// s = (a d + b c + (Z - m) + m' N) / R, where Z is the multiple of N that keeps the difference positive (below 2 R), so
// with halves below 2 N, s < 8 N^2 / R + N + 2 < 2 N. Results are therefore always good operands, without a
// subtraction; scatter and extract reduce fully.
//
// Constant-time: as square-ring.h demands.
#include "lane-columns.h"
#include "lane-digits.h"
#include "lane-sweep.h"

namespace tandem {
namespace TANDEM_LANES {

class LaneRing final : public SquareRing {
 public:
  LaneRing(Kernel kernel, const Limb* n, std::size_t limbs);

  void multiply(Word* r, const Word* x, const Word* y) const override;
  void square(Word* r, const Word* x) const override;
  void multiplyByHalf(Word* r, const Word* x, const Word* c) const override;
  void multiplyHalves(Word* r, const Word* x, const Word* y) const override;
  void addHalves(Word* r, const Word* x, const Word* y) const override;
  void addPairs(Word* r, const Word* x, const Word* y) const override;
  void reduce(Word* x) const override;
  void timesModulus(Word* r, const Word* x, std::size_t wordsOfX, const Word* z) const override;
  void store(Limb* const* values, std::size_t limbsOfValue, const Word* x, std::size_t wordsOfX) const override;
  void gather(Word* r, const Limb* const* elements) const override;
  void scatter(Limb* const* elements, const Word* x) const override;
  void insert(Word* r, std::size_t lane, const Limb* element) const override;
  void extract(Limb* element, const Word* x, std::size_t lane) const override;
  std::size_t tableEntryBytes() const override { return 2 * digits_ * sizeof(TableDigit); }
  void writeEntries(std::uint8_t* const* entries, const Word* c, const Word* l) const override;
  std::size_t sumWords() const override { return kLanes * kLanes * (sumEnd() - sumBegin()); }
  void readEntries(Word* c, Word* sums, const std::uint8_t* const* entries) const override;
  void readSum(Limb* sum, const Word* sums, std::size_t lane) const override;
  void loadHalf(Word* r, const Limb* const* values) const override;
  void split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const override;
  void importPlain(Word* r, const Limb* const* values) const override;
  void exportPlain(Limb* const* pairs, const Word* x) const override;
  std::size_t tableWords() const override { return kDigitBits > 32 ? words() : words() / 2; }
  void toTable(Word* entry, const Word* x) const override;
  void fromTable(Word* r, const Word* entry) const override;
  void select(Word* r, const Word* table, std::size_t size, std::size_t index) const override;

 private:
  static constexpr std::size_t kMultiples = 4;

  // The vectors of an entry that hold digits of l: the first may also hold some of c, the last some of what follows.
  std::size_t sumBegin() const { return digits_ / kLanes; }
  std::size_t sumEnd() const { return (2 * digits_ + kLanes - 1) / kLanes; }

  std::size_t digits_;
  // Each digit in all lanes.
  Words modulusDigits_;
  Words multiples_[kMultiples];  // N, 2 N, 4 N and 8 N
  Words paddedModulus_;          // with kBlock zeros at either end
  Words balance_;                // 1 - R modulo N: Z less R - 1, see lane-sweep.h
  Words rCubedDigits_;           // R^3 as a pair
  Words importFactor_;           // -R^2 modulo N
  Word negatedInverse_;
};

namespace {

constexpr std::size_t kSpareBits = 4;
// A half's digits in limbs, and room for the last 8-byte store.
constexpr std::size_t kHalfLimbsMax = (kDigitsMax * kDigitBits + 63) / 64 + 2;

std::size_t digitsFor(const Limb* n, std::size_t limbs) {
  std::size_t bits = limbs * kLimbBits;
  while (((n[(bits - 1) / kLimbBits] >> ((bits - 1) % kLimbBits)) & 1) == 0) bits--;
  return (bits + kSpareBits + kDigitBits - 1) / kDigitBits;
}

TANDEM_LANE Words broadcastDigits(const Limb* value, std::size_t limbs, std::size_t digits) {
  Words result(kLanes * digits);
  const Limb* values[kLanes];
  std::fill(values, values + kLanes, value);
  digitsFromLimbs(reinterpret_cast<Vector*>(result.data()), digits, values, limbs);
  return result;
}

// digitsFromLimbs with null pointers for lanes that read 0.
TANDEM_LANE void loadDigits(Vector* digits, std::size_t count, const Limb* const* values, std::size_t limbs) {
  const Limb zeros[kLimbsMax] = {0};
  const Limb* sources[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) sources[lane] = values[lane] == nullptr ? zeros : values[lane];
  digitsFromLimbs(digits, count, sources, limbs);
}

const Vector* vectors(const Word* words) { return reinterpret_cast<const Vector*>(words); }
Vector* vectors(Word* words) { return reinterpret_cast<Vector*>(words); }

TANDEM_LANE void run(const Sweep& sweep) {
  if (static_cast<std::size_t>(sweep.digits) > kDigitsUnfolded) {
    runSweep<true>(sweep);
  } else {
    runSweep<false>(sweep);
  }
}

constexpr std::size_t kSelectMax = 64;

// x -= y in the lanes where x >= y; returns 1 there, otherwise 0.
TANDEM_LANE_INLINE Vector subtractIfNotBelow(Vector* x, const Vector* y, std::size_t digits) {
  const Vector mask = digitMask();
  const Vector one = everywhere(1);
  Vector difference[kDigitsMax];
  Vector carry = one;  // x - y = x + (R - 1 - y) + 1, less R
  for (std::size_t j = 0; j < digits; j++) {
    const Vector sum = add(add(x[j], bitXor(y[j], mask)), carry);
    difference[j] = bitAnd(sum, mask);
    carry = carryOf(sum);
  }
  const Vector isNotBelow = equalLanes(carry, one);
  for (std::size_t j = 0; j < digits; j++) x[j] = bitXor(x[j], bitAnd(bitXor(x[j], difference[j]), isNotBelow));
  return carry;
}

// `count` digits of the entry whose mask is set; entries are `stride` vectors apart.
template <int count>
TANDEM_LANE_INLINE void selectDigits(Vector* result, const Vector* table, std::size_t stride, const Vector* masks,
                                     std::size_t size) {
  Sums<count> chosen;
  chosen.clear();
  for (std::size_t candidate = 0; candidate < size; candidate++, table += stride) {
    const Vector mask = masks[candidate];
    unroll<count>([&](auto c) TANDEM_LANE_LAMBDA { chosen.at[c] = bitOr(chosen.at[c], bitAnd(table[c], mask)); });
  }
  unroll<count>([&](auto c) TANDEM_LANE_LAMBDA { result[c] = chosen.at[c]; });
}

}  // namespace

LaneRing::LaneRing(Kernel kernel, const Limb* n, std::size_t limbs)
    : SquareRing(n, limbs, rowsOf(kernel), kLanes), digits_(digitsFor(n, limbs)) {
  if (digits_ > kDigitsMax) throw std::invalid_argument("a modulus has at most 4096 bits");
  prepare(2 * kLanes * digits_, kDigitBits * digits_);
  modulusDigits_ = broadcastDigits(n, limbs, digits_);
  rCubedDigits_ = broadcastDigits(rCubed(), limbs, digits_);
  const Words high = broadcastDigits(rCubed() + limbs, limbs, digits_);
  rCubedDigits_.insert(rCubedDigits_.end(), high.begin(), high.end());
  Limbs value(limbs);
  subtractLimbs(value.data(), n, rSquared(), limbs);
  importFactor_ = broadcastDigits(value.data(), limbs, digits_);
  // 1 - R modulo N, from R modulo N, which the first half of 1 holds; R modulo N = 0 does not happen.
  subtractLimbs(value.data(), n, one(), limbs);
  addSmall(value.data(), 1, limbs);
  balance_ = broadcastDigits(value.data(), limbs, digits_);
  multiples_[0] = modulusDigits_;
  for (std::size_t k = 1; k < kMultiples; k++) {
    multiples_[k].resize(kLanes * digits_);
    addHalves(multiples_[k].data(), multiples_[k - 1].data(), multiples_[k - 1].data());
  }
  paddedModulus_.resize(kLanes * (digits_ + 2 * kBlock));
  std::copy(modulusDigits_.begin(), modulusDigits_.end(), paddedModulus_.begin() + kLanes * kBlock);
  negatedInverse_ = negatedInverse(n[0]) & kDigitMask;
}

// The parts of a sweep that belong to the modulus. A macro, because Vector members need the target attribute of their
// function.
#define TANDEM_SWEEP(sweep)                            \
  Vector quotient[kDigitsMax + 1];                     \
  Sweep sweep;                                         \
  sweep.digits = static_cast<std::ptrdiff_t>(digits_); \
  sweep.modulus = vectors(modulusDigits_.data());      \
  sweep.balance = vectors(balance_.data());            \
  sweep.negatedInverse = everywhere(negatedInverse_);  \
  sweep.quotient = quotient

TANDEM_LANE void LaneRing::multiply(Word* r, const Word* x, const Word* y) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstY = vectors(y);
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.secondX[0] = vectors(x);
  sweep.secondY[0] = vectors(y) + digits_;
  sweep.secondX[1] = vectors(x) + digits_;
  sweep.secondY[1] = vectors(y);
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_LANE void LaneRing::square(Word* r, const Word* x) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.isDoubled = true;
  sweep.secondX[0] = vectors(x);
  sweep.secondY[0] = vectors(x) + digits_;
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_LANE void LaneRing::multiplyByHalf(Word* r, const Word* x, const Word* c) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstY = vectors(c);
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.secondX[0] = vectors(x) + digits_;
  sweep.secondY[0] = vectors(c);
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_LANE void LaneRing::multiplyHalves(Word* r, const Word* x, const Word* y) const {
  TANDEM_SWEEP(sweep);
  sweep.firstX = vectors(x);
  sweep.firstY = vectors(y);
  sweep.firstResult = vectors(r);
  run(sweep);
}

TANDEM_LANE void LaneRing::addHalves(Word* r, const Word* x, const Word* y) const {
  Vector carry = zero();
  const Vector mask = digitMask();
  for (std::size_t j = 0; j < digits_; j++) {
    const Vector sum = add(add(vectors(x)[j], vectors(y)[j]), carry);
    vectors(r)[j] = bitAnd(sum, mask);
    carry = carryOf(sum);
  }
}

void LaneRing::addPairs(Word* r, const Word* x, const Word* y) const {
  const std::size_t half = kLanes * digits_;
  addHalves(r, x, y);
  addHalves(r + half, x + half, y + half);
}

TANDEM_LANE void LaneRing::reduce(Word* x) const {
  Vector* a = vectors(x);
  Vector* b = a + digits_;
  const Vector four = subtractIfNotBelow(a, vectors(multiples_[2].data()), digits_);
  const Vector two = subtractIfNotBelow(a, vectors(multiples_[1].data()), digits_);
  const Vector once = subtractIfNotBelow(a, vectors(multiples_[0].data()), digits_);
  Vector carry = add(add(shiftLeft<2>(four), shiftLeft<1>(two)), once);
  const Vector mask = digitMask();
  for (std::size_t j = 0; j < digits_; j++) {
    const Vector sum = add(b[j], carry);
    b[j] = bitAnd(sum, mask);
    carry = carryOf(sum);
  }
  for (std::size_t k = kMultiples; k-- > 0;) subtractIfNotBelow(b, vectors(multiples_[k].data()), digits_);
}

TANDEM_LANE void LaneRing::timesModulus(Word* r, const Word* x, std::size_t wordsOfX, const Word* z) const {
  const std::ptrdiff_t count = static_cast<std::ptrdiff_t>(wordsOfX / kLanes);
  const std::ptrdiff_t digits = static_cast<std::ptrdiff_t>(digits_);
  const std::ptrdiff_t total = count + digits;
  const Vector* modulus = vectors(paddedModulus_.data()) + kBlock;
  Vector carry = zero();
  for (std::ptrdiff_t at = 0; at < total; at += kBlock) {
    Sums<kBlock> sums;
    sums.clear();
    const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, at - digits + 1);
    sums.addRows(vectors(x) + from, modulus + (at - from), std::min<std::ptrdiff_t>(count, at + kBlock) - from);
    unroll<kBlock>([&](auto c) TANDEM_LANE_LAMBDA {
      if (at + c < digits) sums.at[c] = add(sums.at[c], vectors(z)[at + c]);
    });
    Vector columns[kBlock];
    sums.write(columns, carry);
    std::copy(columns, columns + std::min<std::ptrdiff_t>(kBlock, total - at), vectors(r) + at);
  }
}

void LaneRing::store(Limb* const* values, std::size_t limbsOfValue, const Word* x, std::size_t wordsOfX) const {
  Limb value[4 * kHalfLimbsMax];
  const std::size_t digits = wordsOfX / kLanes;
  const std::size_t limbsUsed = std::max(limbsOfValue, (digits * kDigitBits + 63) / 64 + 1);
  if (limbsUsed > 4 * kHalfLimbsMax) throw std::invalid_argument("a number is too long");
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    if (values[lane] == nullptr) continue;
    limbsFromDigits(value, limbsUsed, x, digits, lane);
    copyLimbs(values[lane], value, limbsOfValue);
  }
  wipe(value, sizeof value);
}

TANDEM_LANE void LaneRing::gather(Word* r, const Limb* const* elements) const {
  const Limb* first[kLanes];
  const Limb* second[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    first[lane] = elements[lane] == nullptr ? one() : elements[lane];
    second[lane] = first[lane] + limbs();
  }
  digitsFromLimbs(vectors(r), digits_, first, limbs());
  digitsFromLimbs(vectors(r) + digits_, digits_, second, limbs());
}

void LaneRing::scatter(Limb* const* elements, const Word* x) const {
  for (std::size_t lane = 0; lane < kLanes; lane++) {
    if (elements[lane] != nullptr) extract(elements[lane], x, lane);
  }
}

void LaneRing::insert(Word* r, std::size_t lane, const Limb* element) const {
  for (std::size_t half = 0; half < 2; half++) {
    const Limb* value = element + half * limbs();
    Word* digits = r + half * kLanes * digits_ + lane;
    for (std::size_t digit = 0; digit < digits_; digit++) digits[kLanes * digit] = digitOf(value, 8 * limbs(), digit);
  }
}

void LaneRing::extract(Limb* element, const Word* x, std::size_t lane) const {
  Limb a[kHalfLimbsMax];
  Limb b[kHalfLimbsMax];
  limbsFromDigits(a, limbs() + 1, x, digits_, lane);
  limbsFromDigits(b, limbs() + 1, x + kLanes * digits_, digits_, lane);
  reducePair(element, a, b);
}

TANDEM_LANE void LaneRing::writeEntries(std::uint8_t* const* entries, const Word* c, const Word* l) const {
  Vector digits[2 * kDigitsMax + kLanes];
  std::memcpy(digits, c, digits_ * sizeof(Vector));
  std::memcpy(digits + digits_, l, digits_ * sizeof(Vector));
  std::memset(digits + 2 * digits_, 0, sizeof(Vector) * kLanes);
  for (std::size_t at = 0; at < 2 * digits_; at += kLanes) {
    transpose(digits + at);
    const std::size_t sizeBytes = std::min(kLanes, 2 * digits_ - at) * sizeof(TableDigit);
    for (std::size_t lane = 0; lane < kLanes; lane++) {
      if (entries[lane] == nullptr) continue;
      TableDigit row[kLanes];
      storeTableDigits(row, digits[at + lane]);
      std::memcpy(entries[lane] + at * sizeof(TableDigit), row, sizeBytes);
    }
  }
}

TANDEM_LANE void LaneRing::readEntries(Word* c, Word* sums, const std::uint8_t* const* entries) const {
  const TableDigit* digits[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane++) digits[lane] = reinterpret_cast<const TableDigit*>(entries[lane]);
  for (std::size_t at = 0; at < digits_; at += kLanes) {
    Vector rows[kLanes];
    unroll<kLanes>([&](auto lane) TANDEM_LANE_LAMBDA { rows[lane] = loadTableDigits(digits[lane] + at); });
    transpose(rows);
    Vector* target = vectors(c) + at;
    const std::size_t left = digits_ - at;
    unroll<kLanes>([&](auto j) TANDEM_LANE_LAMBDA {
      if (j < left) target[j] = rows[j];
    });
  }
  // Digits are added without carries: 256 of them fit a word.
  Vector* sum = vectors(sums);
  const std::size_t count = sumEnd() - sumBegin();
  for (std::size_t lane = 0; lane < kLanes; lane++, sum += count) {
    const TableDigit* logarithm = digits[lane] + kLanes * sumBegin();
    for (std::size_t i = 0; i < count; i++) sum[i] = add(sum[i], loadTableDigits(logarithm + kLanes * i));
  }
}

void LaneRing::readSum(Limb* sum, const Word* sums, std::size_t lane) const {
  const Word* digits = sums + kLanes * (sumEnd() - sumBegin()) * lane + (digits_ - kLanes * sumBegin());
  std::memset(sum, 0, (limbs() + 1) * sizeof(Limb));
  DoubleLimb carry = 0;
  std::size_t at = 0;  // bits
  std::size_t limb = 0;
  for (std::size_t j = 0; j < digits_; j++, at += kDigitBits) {
    // What is below bit `at` is stored; the digit and what is carried are below 2^(64 + kDigitBits).
    carry += static_cast<DoubleLimb>(digits[j]) << (at - kLimbBits * limb);
    if (at + kDigitBits < kLimbBits * (limb + 1)) continue;
    if (limb <= limbs()) sum[limb] = static_cast<Limb>(carry);
    carry >>= kLimbBits;
    limb++;
  }
  if (limb <= limbs()) sum[limb] = static_cast<Limb>(carry);
}

TANDEM_LANE void LaneRing::loadHalf(Word* r, const Limb* const* values) const {
  loadDigits(vectors(r), digits_, values, limbs());
}

TANDEM_LANE void LaneRing::split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const {
  loadDigits(vectors(r), 2 * digits_, values, limbsOfValue);
}

TANDEM_LANE void LaneRing::importPlain(Word* r, const Limb* const* values) const {
  // v = t R - m N, so v R = t R^2 - m R N: the pair (t, 0) times R^3 (as a plain pair), less m R in the second half.
  // t < 2 N, but m < R: with it the second half may come out a little above 2 N (below 2.2 N), which every operation
  // takes.
  alignas(kAlignment) Word wide[2 * kLanes * kDigitsMax];
  Vector t[kDigitsMax];
  Vector m[kDigitsMax + 1];
  split(wide, values, elementLimbs());
  TANDEM_SWEEP(reduction);
  reduction.firstAddend = vectors(wide);
  reduction.firstAddendDigits = 2 * reduction.digits;
  reduction.firstResult = t;
  reduction.quotient = m;
  run(reduction);
  Sweep sweep = reduction;
  sweep.quotient = quotient;
  sweep.firstAddend = nullptr;
  sweep.firstAddendDigits = 0;
  sweep.firstX = t;
  sweep.firstY = vectors(rCubedDigits_.data());
  sweep.firstResult = vectors(r);
  sweep.hasSecond = true;
  sweep.secondX[0] = t;
  sweep.secondY[0] = vectors(rCubedDigits_.data()) + digits_;
  sweep.secondX[1] = m;
  sweep.secondY[1] = vectors(importFactor_.data());
  sweep.secondResult = vectors(r) + digits_;
  run(sweep);
}

TANDEM_LANE void LaneRing::exportPlain(Limb* const* pairs, const Word* x) const {
  alignas(kAlignment) Word plain[2 * kLanes * kDigitsMax];
  TANDEM_SWEEP(sweep);
  sweep.firstAddend = vectors(x);
  sweep.firstAddendDigits = sweep.digits;
  sweep.firstResult = vectors(plain);
  sweep.hasSecond = true;
  sweep.secondAddend = vectors(x) + digits_;
  sweep.secondResult = vectors(plain) + digits_;
  run(sweep);
  scatter(pairs, plain);
}

// Two narrow digits share a word.
TANDEM_LANE void LaneRing::toTable(Word* entry, const Word* x) const {
  if constexpr (kDigitBits > 32) {
    std::memcpy(entry, x, words() * sizeof(Word));
  } else {
    for (std::size_t j = 0; j < digits_; j++)
      vectors(entry)[j] = bitOr(vectors(x)[j], shiftLeft<32>(vectors(x)[digits_ + j]));
  }
}

TANDEM_LANE void LaneRing::fromTable(Word* r, const Word* entry) const {
  if constexpr (kDigitBits > 32) {
    std::memcpy(r, entry, words() * sizeof(Word));
  } else {
    const Vector mask = digitMask();
    for (std::size_t j = 0; j < digits_; j++) {
      const Vector both = vectors(entry)[j];
      vectors(r)[j] = bitAnd(both, mask);
      vectors(r)[digits_ + j] = shiftRight<32>(both);
    }
  }
}

TANDEM_LANE void LaneRing::select(Word* r, const Word* table, std::size_t size, std::size_t index) const {
  if (size > kSelectMax) throw std::invalid_argument("a table to select from has at most 64 entries");
  const std::size_t count = tableWords() / kLanes;
  alignas(kAlignment) Word entry[2 * kLanes * kDigitsMax];
  Vector masks[kSelectMax];
  const Vector wanted = everywhere(index);
  for (std::size_t candidate = 0; candidate < size; candidate++) {
    masks[candidate] = equalLanes(everywhere(candidate), wanted);
  }
  // kBlock digits at a time; the last block overlaps the one before, and short numbers go one by one.
  std::size_t at = 0;
  while (at < count) {
    if (count < kBlock) {
      selectDigits<1>(vectors(entry) + at, vectors(table) + at, count, masks, size);
      at++;
      continue;
    }
    const std::size_t begin = std::min(at, count - kBlock);
    selectDigits<kBlock>(vectors(entry) + begin, vectors(table) + begin, count, masks, size);
    at += kBlock;
  }
  fromTable(r, entry);
}

}  // namespace TANDEM_LANES
}  // namespace tandem
