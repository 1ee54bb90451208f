// See fixed-base.h.
#include "fixed-base.h"

#include <algorithm>

#include "threads.h"

namespace tandem {

namespace {

// Exponents of all lanes, with room for a read of 4 bytes at any of theirs; idle lanes have 0.
class Digits {
 public:
  Digits(const std::uint8_t* const* exponents, std::size_t lanes, std::size_t exponentBytes, std::size_t windowBits)
      : windowBits_(windowBits), strideBytes_(exponentBytes + sizeof(std::uint32_t)), bytes_(lanes * strideBytes_) {
    for (std::size_t lane = 0; lane < lanes; lane++) {
      if (exponents[lane] != nullptr) std::memcpy(&bytes_[lane * strideBytes_], exponents[lane], exponentBytes);
    }
  }

  // A digit may lie across three bytes.
  std::size_t at(std::size_t lane, std::size_t row) const {
    const std::size_t bit = row * windowBits_;
    std::uint32_t value;
    std::memcpy(&value, &bytes_[lane * strideBytes_ + bit / 8], sizeof value);
    return (value >> (bit % 8)) & ((std::size_t{1} << windowBits_) - 1);
  }

 private:
  std::size_t windowBits_;
  std::size_t strideBytes_;
  std::vector<std::uint8_t, WipingAllocator<std::uint8_t>> bytes_;
};

void prefetchEntry(const std::uint8_t* entry, std::size_t sizeBytes) {
  for (std::size_t at = 0; at < sizeBytes; at += kAlignment) __builtin_prefetch(entry + at);
}

}  // namespace

FixedBaseTable::FixedBaseTable(const SquareRing& ring, const Limb* base, const Limb* factor, const Limb* factorInverse,
                               std::size_t exponentBytes, std::size_t windowBits, std::size_t threads)
    : ring_(ring),
      windowBits_(windowBits),
      size_(ring.elementLimbs()),
      rows_(rowsFor(exponentBytes)),
      entryBytes_(ring.tableEntryBytes()),
      entries_((rows_ << windowBits_) * entryBytes_ + tableMarginBytes) {
  const Limbs bases = rowBases(base);
  const std::size_t chunk = laneChunk(rows_, ring.lanes());
  parallelChunks(rows_, chunk, threads, [&](std::size_t begin, std::size_t end) {
    buildRows(bases, factor, factorInverse, begin, end - begin);
  });
  std::size_t shift = 0;
  while ((rows_ >> shift) != 0) shift++;
  const std::size_t limbs = ring.limbs();
  Limbs multiple(limbs + 1);
  copyLimbs(multiple.data(), ring.modulus().value(), limbs);
  for (std::size_t k = 0; k <= shift; k++) {
    multiples_.insert(multiples_.begin(), multiple);
    addLimbs(multiple.data(), multiple.data(), multiple.data(), limbs + 1);
  }
}

Limbs FixedBaseTable::rowBases(const Limb* base) const {
  Limbs bases(2 * rows_ * size_);
  Words group(ring_.words());
  // The inverse is base^(p - 2): p is odd and above 2, so that subtracting 2 reaches beyond the lowest limb only by
  // borrow.
  Limbs order(ring_.modulus().value(), ring_.modulus().value() + ring_.limbs());
  subtractSmall(order.data(), 2, order.size());
  const Exponent exponent(reinterpret_cast<const std::uint8_t*>(order.data()), 8 * order.size(), ExponentKind::kSecret);
  const Limb* const source[kLanesMax] = {base};
  copyLimbs(bases.data(), base, size_);
  Limb* const target[kLanesMax] = {&bases[size_]};
  ring_.gather(group.data(), source);
  power(ring_, group.data(), group.data(), exponent);
  ring_.scatter(target, group.data());
  // Base and inverse side by side where there are lanes for it.
  const std::size_t together = std::min<std::size_t>(2, ring_.lanes());
  for (std::size_t first = 0; first < 2; first += together) {
    const Limb* begin[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < together; lane++) begin[lane] = &bases[(first + lane) * size_];
    ring_.gather(group.data(), begin);
    for (std::size_t row = 1; row < rows_; row++) {
      for (std::size_t bit = 0; bit < windowBits_; bit++) ring_.square(group.data(), group.data());
      for (std::size_t lane = 0; lane < together; lane++) {
        ring_.extract(&bases[(2 * row + first + lane) * size_], group.data(), lane);
      }
    }
  }
  return bases;
}

void FixedBaseTable::buildRows(const Limbs& bases, const Limb* factor, const Limb* factorInverse, std::size_t first,
                               std::size_t lanes) {
  const std::size_t half = ring_.words() / 2;
  Words power(ring_.words());
  Words inverse(ring_.words());
  Words base(ring_.words());
  Words inverseBase(ring_.words());
  Words logarithm(ring_.words());
  const Limb* start[kLanesMax] = {nullptr};
  const Limb* startInverse[kLanesMax] = {nullptr};
  const Limb* step[kLanesMax] = {nullptr};
  const Limb* stepInverse[kLanesMax] = {nullptr};
  for (std::size_t lane = 0; lane < lanes; lane++) {
    const std::size_t row = first + lane;
    start[lane] = row == 0 ? factor : ring_.one();
    startInverse[lane] = row == 0 ? factorInverse : ring_.one();
    step[lane] = &bases[2 * row * size_];
    stepInverse[lane] = &bases[(2 * row + 1) * size_];
  }
  ring_.gather(power.data(), start);
  ring_.gather(inverse.data(), startInverse);
  ring_.gather(base.data(), step);
  ring_.gather(inverseBase.data(), stepInverse);
  for (std::size_t digit = 0; digit < (std::size_t{1} << windowBits_); digit++) {
    // d / c R = d c' / R, where c' = R^2 / c is the first half of the inverse element. c and d need not be reduced: l
    // belongs to them as they are.
    ring_.multiplyHalves(logarithm.data(), &power[half], inverse.data());
    std::uint8_t* entries[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) entries[lane] = entries_.data() + offsetOf(first + lane, digit);
    ring_.writeEntries(entries, power.data(), logarithm.data());
    ring_.multiply(power.data(), power.data(), base.data());
    ring_.multiplyHalves(inverse.data(), inverse.data(), inverseBase.data());
  }
}

void FixedBaseTable::powers(Word* group, Limb* const* sums, const std::uint8_t* const* exponents,
                            std::size_t exponentBytes) const {
  const std::size_t rows = std::min(rows_, rowsFor(exponentBytes));
  const std::size_t lanes = ring_.lanes();
  const Digits digits(exponents, lanes, exponentBytes, windowBits_);
  Words factor(ring_.words() / 2);
  Words sumDigits(ring_.sumWords());
  const std::uint8_t* current[kLanesMax];
  const std::uint8_t* next[kLanesMax];
  const auto fetch = [&](std::size_t row, const std::uint8_t** entries) {
    for (std::size_t lane = 0; lane < lanes; lane++) {
      entries[lane] = entries_.data() + offsetOf(row, digits.at(lane, row));
      prefetchEntry(entries[lane], entryBytes_);
    }
  };
  fetch(0, current);
  std::memset(group, 0, ring_.words() * sizeof(Word));
  for (std::size_t row = 0; row < rows; row++) {
    if (row + 1 < rows) fetch(row + 1, next);
    ring_.readEntries(row == 0 ? group : factor.data(), sumDigits.data(), current);
    if (row > 0) ring_.multiplyByHalf(group, group, factor.data());
    std::copy(next, next + lanes, current);
  }
  for (std::size_t lane = 0; lane < lanes; lane++) {
    if (exponents[lane] == nullptr) continue;
    ring_.readSum(sums[lane], sumDigits.data(), lane);
    reduceSum(sums[lane]);
  }
}

void FixedBaseTable::reduceSum(Limb* sum) const {
  for (const Limbs& multiple : multiples_) subtractIfNotBelow(sum, multiple.data(), ring_.limbs() + 1);
}

}  // namespace tandem
