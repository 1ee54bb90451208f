// See power.h.
#include "power.h"

#include <algorithm>

namespace tandem {

namespace {

constexpr std::size_t kSecretWindowBits = 5;

std::size_t significantBits(const std::uint8_t* bytes, std::size_t sizeBytes) {
  for (std::size_t i = sizeBytes; i-- > 0;) {
    for (std::size_t bit = 8; bit-- > 0;) {
      if (((bytes[i] >> bit) & 1) != 0) return 8 * i + bit + 1;
    }
  }
  return 0;
}

// Bits [low, low + count) of a number.
unsigned digitAt(const std::uint8_t* bytes, std::size_t sizeBytes, std::size_t low, std::size_t count) {
  unsigned digit = 0;
  for (std::size_t bit = count; bit-- > 0;) {
    const std::size_t at = low + bit;
    digit = 2 * digit + (at < 8 * sizeBytes ? (bytes[at / 8] >> (at % 8)) & 1 : 0);
  }
  return digit;
}

Exponent::Steps secretSteps(const std::uint8_t* bytes, std::size_t sizeBytes) {
  const std::size_t count = (8 * sizeBytes + kSecretWindowBits - 1) / kSecretWindowBits;
  Exponent::Steps steps(count);
  for (std::size_t i = 0; i < count; i++) {
    const std::size_t low = (count - 1 - i) * kSecretWindowBits;
    steps[i] = {kSecretWindowBits, static_cast<std::uint16_t>(digitAt(bytes, sizeBytes, low, kSecretWindowBits))};
  }
  return steps;
}

// Windows of up to `windowBits` bits that begin and end with a one; zeros between them are squarings only.
Exponent::Steps publicSteps(const std::uint8_t* bytes, std::size_t sizeBytes, std::size_t windowBits) {
  Exponent::Steps steps;
  std::uint16_t squarings = 0;
  for (std::size_t end = significantBits(bytes, sizeBytes); end > 0;) {
    if (digitAt(bytes, sizeBytes, end - 1, 1) == 0) {
      squarings++;
      end--;
      continue;
    }
    std::size_t bits = std::min(windowBits, end);
    while (digitAt(bytes, sizeBytes, end - bits, 1) == 0) bits--;
    squarings = static_cast<std::uint16_t>(squarings + bits);
    steps.push_back({squarings, static_cast<std::uint16_t>(digitAt(bytes, sizeBytes, end - bits, bits))});
    squarings = 0;
    end -= bits;
  }
  if (squarings > 0) steps.push_back({squarings, 0});
  return steps;
}

std::size_t publicWindowBits(std::size_t bits) { return bits <= 32 ? 1 : bits <= 160 ? 4 : bits <= 800 ? 5 : 6; }

// base^0 .. base^(size - 1) in the ring's table form; only odd powers (and 0, 1) for sliding windows.
Words powerTable(const SquareRing& ring, const Word* base, std::size_t size, bool oddOnly) {
  const std::size_t entry = ring.tableWords();
  Words table(size * entry);
  Words current(ring.words());
  Words factor(base, base + ring.words());
  const Limb* const none[kLanesMax] = {nullptr};
  ring.gather(current.data(), none);
  ring.toTable(table.data(), current.data());
  if (size < 2) return table;
  ring.toTable(&table[entry], base);
  if (oddOnly && size > 2) ring.square(factor.data(), base);
  std::copy(base, base + ring.words(), current.begin());
  for (std::size_t digit = oddOnly ? 3 : 2; digit < size; digit += oddOnly ? 2 : 1) {
    ring.multiply(current.data(), current.data(), factor.data());
    ring.toTable(&table[digit * entry], current.data());
  }
  return table;
}

}  // namespace

Exponent::Exponent(const std::uint8_t* bytes, std::size_t sizeBytes, ExponentKind kind) : kind_(kind) {
  if (kind == ExponentKind::kSecret) {
    tableSize_ = std::size_t{1} << kSecretWindowBits;
    steps_ = secretSteps(bytes, sizeBytes);
  } else {
    const std::size_t windowBits = publicWindowBits(significantBits(bytes, sizeBytes));
    tableSize_ = std::size_t{1} << windowBits;
    steps_ = publicSteps(bytes, sizeBytes, windowBits);
  }
}

void power(const SquareRing& ring, Word* r, const Word* base, const Exponent& exponent) {
  const bool secret = exponent.kind() == ExponentKind::kSecret;
  const Words table = powerTable(ring, base, exponent.tableSize(), !secret);
  const std::size_t entry = ring.tableWords();
  Words factor(ring.words());
  ring.fromTable(r, table.data());
  bool first = true;
  for (const Exponent::Step& step : exponent.steps()) {
    for (std::size_t i = 0; i < step.squarings && !first; i++) ring.square(r, r);
    if (secret) {
      ring.select(factor.data(), table.data(), exponent.tableSize(), step.factor);
      ring.multiply(r, r, factor.data());
    } else if (step.factor != 0) {
      ring.fromTable(factor.data(), &table[step.factor * entry]);
      if (first) {
        std::copy(factor.begin(), factor.end(), r);
      } else {
        ring.multiply(r, r, factor.data());
      }
    }
    first = false;
  }
}

void powerAndShift(const SquareRing& ring, Word* r, const Word* base, const Exponent& exponent, std::size_t strideBits,
                   std::size_t count, const std::function<void(Word*, std::size_t)>& fetch) {
  const Words table = powerTable(ring, base, exponent.tableSize(), true);
  const std::size_t entry = ring.tableWords();
  // Positions of the power's factors: how many squarings follow them.
  std::size_t left = 0;
  for (const Exponent::Step& step : exponent.steps()) left += step.squarings;
  const std::size_t top = count == 0 ? left : std::max(left, (count - 1) * strideBits);
  Words factor(ring.words());
  bool begun = false;
  const auto multiply = [&] {
    if (begun) {
      ring.multiply(r, r, factor.data());
    } else {
      std::copy(factor.begin(), factor.end(), r);
    }
    begun = true;
  };
  auto step = exponent.steps().begin();
  if (step != exponent.steps().end()) left -= step->squarings;
  for (std::size_t at = top;; at--) {
    if (step != exponent.steps().end() && at == left) {
      if (step->factor != 0) {
        ring.fromTable(factor.data(), &table[step->factor * entry]);
        multiply();
      }
      if (++step != exponent.steps().end()) left -= step->squarings;
    }
    if (at % strideBits == 0 && at / strideBits < count) {
      fetch(factor.data(), at / strideBits);
      multiply();
    }
    if (at == 0) break;
    if (begun) ring.square(r, r);
  }
}

void raiseEach(const SquareRing& ring, Word* r, const Word* base, const Limb* const* exponents, std::size_t limbs) {
  const std::size_t sizeBytes = limbs * sizeof(Limb);
  const std::uint8_t* bytes[kLanesMax] = {nullptr};
  std::size_t bits = 0;
  for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
    if (exponents[lane] == nullptr) continue;
    bytes[lane] = reinterpret_cast<const std::uint8_t*>(exponents[lane]);
    bits = std::max(bits, significantBits(bytes[lane], sizeBytes));
  }
  const std::size_t windowBits = bits <= 8 ? 1 : bits <= 40 ? 2 : bits <= 160 ? 3 : 5;
  const std::size_t entry = ring.words();
  const std::size_t tableSize = std::size_t{1} << windowBits;
  Words table(tableSize * entry);
  const Limb* const none[kLanesMax] = {nullptr};
  ring.gather(table.data(), none);
  std::copy(base, base + entry, &table[entry]);
  for (std::size_t d = 2; d < tableSize; d++) ring.multiply(&table[d * entry], &table[(d - 1) * entry], &table[entry]);
  Words factor(entry);
  std::copy(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(entry), r);
  for (std::size_t window = (bits + windowBits - 1) / windowBits; window-- > 0;) {
    for (std::size_t i = 0; i < windowBits; i++) ring.square(r, r);
    // Each lane takes its own entry; words of one lane are lanes() apart.
    for (std::size_t lane = 0; lane < ring.lanes(); lane++) {
      const unsigned digit =
          bytes[lane] == nullptr ? 0 : digitAt(bytes[lane], sizeBytes, window * windowBits, windowBits);
      for (std::size_t i = lane; i < entry; i += ring.lanes()) factor[i] = table[digit * entry + i];
    }
    ring.multiply(r, r, factor.data());
  }
}

}  // namespace tandem
