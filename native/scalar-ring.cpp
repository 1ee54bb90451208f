// See scalar-ring.h.
#include "scalar-ring.h"

#include <algorithm>

namespace tandem {

namespace {

// Halves have at most half of kLimbsMax limbs; a sum of two products one limb more than twice that.
constexpr std::size_t kHalfMax = kLimbsMax / 2;
constexpr std::size_t kWideMax = kLimbsMax + 1;

}  // namespace

ScalarRing::ScalarRing(const Limb* n, std::size_t limbs, RowFunction rows) : SquareRing(n, limbs, rows, 1) {
  prepare(2 * limbs, kLimbBits * limbs);
  importFactor_.assign(rSquared(), rSquared() + limbs);
  subtractLimbs(importFactor_.data(), n, importFactor_.data(), limbs);
}

Limb ScalarRing::reduceKeeping(Limb* r, Limb* m, Limb* t) const {
  const std::size_t n = limbs();
  const Limb* value = modulus().value();
  Limb carry = 0;
  for (std::size_t i = 0; i < n; i++) {
    m[i] = t[i] * modulus().negatedInverseOfValue();
    const DoubleLimb sum = static_cast<DoubleLimb>(t[i + n]) + modulus().rows()(t + i, value, n, m[i]) + carry;
    t[i + n] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
  // (carry, high half) is below 2 N.
  const Limb borrow = subtractLimbs(t, t + n, value, n);
  const Limb keep = 0 - (borrow & ~carry & 1);
  for (std::size_t i = 0; i < n; i++) r[i] = (t[i + n] & keep) | (t[i] & ~keep);
  return ~keep & 1;
}

void ScalarRing::reduceLess(Limb* r, Limb* t, const Limb* m, Limb more) const {
  const std::size_t n = limbs();
  const Limb* value = modulus().value();
  // N R more, which is 0 modulo N and more than m, keeps the difference positive.
  t[2 * n] += addLimbs(t + n, t + n, value, n);
  subtractSmall(t + n, subtractLimbs(t, t, m, n), n + 1);
  Limb carry = 0;
  for (std::size_t i = 0; i < n; i++) {
    const Limb factor = t[i] * modulus().negatedInverseOfValue();
    const DoubleLimb sum = static_cast<DoubleLimb>(t[i + n]) + modulus().rows()(t + i, value, n, factor) + carry;
    t[i + n] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
  t[2 * n] += carry;
  addSmall(t + n, more, n + 1);
  // At most (2 N^2 + N R + N R) / R, and more: no more than 4 N - 1, so N is subtracted up to three times.
  Limb padded[kHalfMax + 1];
  copyLimbs(padded, value, n);
  padded[n] = 0;
  for (int times = 0; times < 3; times++) subtractIfNotBelow(t + n, padded, n + 1);
  copyLimbs(r, t + n, n);
}

void ScalarRing::multiply(Word* r, const Word* x, const Word* y) const {
  const std::size_t n = limbs();
  const RowFunction rows = modulus().rows();
  Limb first[kWideMax];
  Limb second[kWideMax];
  Limb other[kWideMax];
  Limb m[kHalfMax];
  multiplyFull(rows, first, x, y, n);
  multiplyFull(rows, second, x, y + n, n);
  multiplyFull(rows, other, x + n, y, n);
  second[2 * n] = addLimbs(second, second, other, 2 * n);
  const Limb more = reduceKeeping(r, m, first);
  reduceLess(r + n, second, m, more);
}

void ScalarRing::square(Word* r, const Word* x) const {
  const std::size_t n = limbs();
  const RowFunction rows = modulus().rows();
  Limb first[kWideMax];
  Limb second[kWideMax];
  Limb m[kHalfMax];
  squareFull(rows, first, x, n);
  multiplyFull(rows, second, x, x + n, n);
  second[2 * n] = addLimbs(second, second, second, 2 * n);
  const Limb more = reduceKeeping(r, m, first);
  reduceLess(r + n, second, m, more);
}

void ScalarRing::multiplyByHalf(Word* r, const Word* x, const Word* c) const {
  const std::size_t n = limbs();
  Limb first[kWideMax];
  Limb second[kWideMax];
  Limb m[kHalfMax];
  multiplyFull(modulus().rows(), first, x, c, n);
  multiplyFull(modulus().rows(), second, x + n, c, n);
  second[2 * n] = 0;
  const Limb more = reduceKeeping(r, m, first);
  reduceLess(r + n, second, m, more);
}

void ScalarRing::multiplyHalves(Word* r, const Word* x, const Word* y) const { modulus().product(r, x, y); }

void ScalarRing::addHalves(Word* r, const Word* x, const Word* y) const {
  // x + y = x - (N - y).
  Limb negated[kHalfMax];
  subtractLimbs(negated, modulus().value(), y, limbs());
  modulus().subtract(r, x, negated);
}

void ScalarRing::addPairs(Word* r, const Word* x, const Word* y) const {
  const std::size_t n = limbs();
  Limb sum[kHalfMax + 1];
  Limb padded[kHalfMax + 1];
  Limb more[kHalfMax] = {0};
  sum[n] = addLimbs(sum, x, y, n);
  copyLimbs(padded, modulus().value(), n);
  padded[n] = 0;
  more[0] = subtractIfNotBelow(sum, padded, n + 1);
  addHalves(r + n, x + n, y + n);
  addHalves(r + n, r + n, more);
  copyLimbs(r, sum, n);
}

void ScalarRing::timesModulus(Word* r, const Word* x, std::size_t wordsOfX, const Word* z) const {
  const std::size_t n = limbs();
  std::memset(r, 0, (wordsOfX + n) * sizeof(Word));
  copyLimbs(r, z, n);
  for (std::size_t i = 0; i < wordsOfX; i++) {
    const Limb carry = modulus().rows()(r + i, modulus().value(), n, x[i]);
    addSmall(r + i + n, carry, wordsOfX - i);
  }
}

void ScalarRing::store(Limb* const* values, std::size_t limbsOfValue, const Word* x, std::size_t wordsOfX) const {
  if (values[0] == nullptr) return;
  std::memset(values[0], 0, limbsOfValue * sizeof(Limb));
  copyLimbs(values[0], x, std::min(limbsOfValue, wordsOfX));
}

void ScalarRing::gather(Word* r, const Limb* const* elements) const {
  copyLimbs(r, elements[0] == nullptr ? one() : elements[0], words());
}

void ScalarRing::scatter(Limb* const* elements, const Word* x) const {
  if (elements[0] != nullptr) copyLimbs(elements[0], x, words());
}

void ScalarRing::insert(Word* r, std::size_t, const Limb* element) const { copyLimbs(r, element, words()); }

void ScalarRing::extract(Limb* element, const Word* x, std::size_t) const { copyLimbs(element, x, words()); }

void ScalarRing::writeEntries(std::uint8_t* const* entries, const Word* c, const Word* l) const {
  if (entries[0] == nullptr) return;
  const std::size_t halfBytes = limbs() * sizeof(Limb);
  std::memcpy(entries[0], c, halfBytes);
  std::memcpy(entries[0] + halfBytes, l, halfBytes);
}

void ScalarRing::readEntries(Word* c, Word* sums, const std::uint8_t* const* entries) const {
  const std::size_t n = limbs();
  const Limb* entry = reinterpret_cast<const Limb*>(entries[0]);
  copyLimbs(c, entry, n);
  sums[n] += addLimbs(sums, sums, entry + n, n);
}

void ScalarRing::readSum(Limb* sum, const Word* sums, std::size_t) const { copyLimbs(sum, sums, limbs() + 1); }

void ScalarRing::loadHalf(Word* r, const Limb* const* values) const {
  if (values[0] == nullptr) {
    std::memset(r, 0, limbs() * sizeof(Word));
  } else {
    copyLimbs(r, values[0], limbs());
  }
}

void ScalarRing::split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const {
  std::memset(r, 0, words() * sizeof(Word));
  if (values[0] != nullptr) copyLimbs(r, values[0], limbsOfValue < words() ? limbsOfValue : words());
}

void ScalarRing::importPlain(Word* r, const Limb* const* values) const {
  // v = t R - m N, so v R = t R^2 - m R N: the pair (t, 0) times R^3 (as a plain pair), less m R in the second half.
  const std::size_t n = limbs();
  const RowFunction rows = modulus().rows();
  Limb wide[kWideMax];
  Limb second[kWideMax];
  Limb other[kWideMax];
  Limb t[kHalfMax];
  Limb m[kHalfMax];
  split(wide, values, words());
  const Limb lessened = reduceKeeping(t, m, wide);
  multiplyFull(rows, wide, t, rCubed(), n);
  multiplyFull(rows, second, t, rCubed() + n, n);
  multiplyFull(rows, other, importFactor_.data(), m, n);
  // m may be up to R, so that product is reduced on its own.
  Limb unused[kHalfMax];
  reduceKeeping(other, unused, other);
  const Limb more = reduceKeeping(r, m, wide);
  second[2 * n] = 0;
  reduceLess(r + n, second, m, more);
  addHalves(r + n, r + n, other);
  // t was N larger, and v R with it N R^2.
  for (std::size_t i = 0; i < n; i++) other[i] = rSquared()[i] & (0 - lessened);
  addHalves(r + n, r + n, other);
}

void ScalarRing::exportPlain(Limb* const* pairs, const Word* x) const {
  if (pairs[0] == nullptr) return;
  const std::size_t n = limbs();
  Limb wide[kWideMax] = {0};
  Limb m[kHalfMax];
  copyLimbs(wide, x, n);
  const Limb more = reduceKeeping(pairs[0], m, wide);
  std::memset(wide, 0, sizeof wide);
  copyLimbs(wide, x + n, n);
  reduceLess(pairs[0] + n, wide, m, more);
}

void ScalarRing::toTable(Word* entry, const Word* x) const { copyLimbs(entry, x, words()); }

void ScalarRing::fromTable(Word* r, const Word* entry) const { copyLimbs(r, entry, words()); }

void ScalarRing::select(Word* r, const Word* table, std::size_t size, std::size_t index) const {
  const std::size_t count = words();
  std::memset(r, 0, count * sizeof(Word));
  for (std::size_t candidate = 0; candidate < size; candidate++) {
    const Word difference = candidate ^ index;
    const Word mask = ((difference | (~difference + 1)) >> 63) - 1;
    const Word* entry = table + candidate * count;
    for (std::size_t i = 0; i < count; i++) r[i] |= entry[i] & mask;
  }
}

}  // namespace tandem
