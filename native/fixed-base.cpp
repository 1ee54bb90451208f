// See fixed-base.h.
#include "fixed-base.h"

#include <algorithm>

#include "threads.h"

namespace tandem {

namespace {

// Digits may lie across two bytes.
std::size_t digitOf(const std::uint8_t* exponent, std::size_t exponentBytes, std::size_t row, std::size_t windowBits) {
  const std::size_t bit = row * windowBits;
  std::size_t value = 0;
  for (std::size_t i = 0; i < 3; i++) {
    const std::size_t at = bit / 8 + i;
    if (at < exponentBytes) value |= static_cast<std::size_t>(exponent[at]) << (8 * i);
  }
  return (value >> (bit % 8)) & ((std::size_t{1} << windowBits) - 1);
}

void prefetchEntry(const Limb* entry, std::size_t limbs) {
  for (std::size_t i = 0; i < limbs; i += 8) __builtin_prefetch(entry + i);
}

}  // namespace

FixedBaseTable::FixedBaseTable(const SquareRing& ring, const Limb* base, const Limb* factor, const Limb* factorInverse,
                               std::size_t exponentBytes, std::size_t windowBits, std::size_t threads)
    : ring_(ring),
      windowBits_(windowBits),
      size_(ring.elementLimbs()),
      rows_(rowsFor(exponentBytes)),
      entries_((rows_ << windowBits_) * size_) {
  const Limbs bases = rowBases(base);
  const std::size_t chunk = laneChunk(rows_, threads, ring.lanes());
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
  const std::size_t limbs = ring_.limbs();
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
  Limbs pair(size_);
  for (std::size_t digit = 0; digit < (std::size_t{1} << windowBits_); digit++) {
    // The logarithm belongs to the pair as it is stored, that is reduced.
    Limb* stored[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) stored[lane] = entry(first + lane, digit);
    ring_.scatter(stored, power.data());
    ring_.gather(power.data(), stored);
    // d / c R = d c' / R, where c' = R^2 / c is the first half of the inverse element.
    ring_.multiplyHalves(&logarithm[0], &power[half], inverse.data());
    std::fill(logarithm.begin() + static_cast<std::ptrdiff_t>(half), logarithm.end(), 0);
    for (std::size_t lane = 0; lane < lanes; lane++) {
      ring_.extract(pair.data(), logarithm.data(), lane);
      copyLimbs(stored[lane] + limbs, pair.data(), limbs);
    }
    ring_.multiply(power.data(), power.data(), base.data());
    ring_.multiplyHalves(inverse.data(), inverse.data(), inverseBase.data());
  }
}

void FixedBaseTable::powers(Word* group, Limb* const* sums, const std::uint8_t* const* exponents,
                            std::size_t exponentBytes) const {
  const std::size_t limbs = ring_.limbs();
  const std::size_t rows = std::min(rows_, rowsFor(exponentBytes));
  const std::size_t lanes = ring_.lanes();
  Words factor(ring_.words() / 2);
  const auto entries = [&](std::size_t row, const Limb** pointers) {
    for (std::size_t lane = 0; lane < lanes; lane++) {
      pointers[lane] =
          exponents[lane] == nullptr ? nullptr : entry(row, digitOf(exponents[lane], exponentBytes, row, windowBits_));
      if (pointers[lane] != nullptr) prefetchEntry(pointers[lane], size_);
    }
  };
  const Limb* current[kLanesMax] = {nullptr};
  const Limb* next[kLanesMax] = {nullptr};
  for (std::size_t lane = 0; lane < lanes; lane++) {
    if (exponents[lane] != nullptr) std::memset(sums[lane], 0, (limbs + 1) * sizeof(Limb));
  }
  entries(0, current);
  for (std::size_t row = 0; row < rows; row++) {
    if (row + 1 < rows) entries(row + 1, next);
    if (row == 0) {
      std::memset(group, 0, ring_.words() * sizeof(Word));
      ring_.loadHalf(group, current);
    } else {
      ring_.loadHalf(factor.data(), current);
      ring_.multiplyByHalf(group, group, factor.data());
    }
    for (std::size_t lane = 0; lane < lanes; lane++) {
      if (current[lane] == nullptr) continue;
      sums[lane][limbs] += addLimbs(sums[lane], sums[lane], current[lane] + limbs, limbs);
    }
    std::copy(next, next + kLanesMax, current);
  }
}

void FixedBaseTable::reduceSum(Limb* sum) const {
  for (const Limbs& multiple : multiples_) subtractIfNotBelow(sum, multiple.data(), ring_.limbs() + 1);
}

}  // namespace tandem
