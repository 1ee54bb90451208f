// See power.h.
#include "power.h"

namespace tandem {

namespace {

// With shorter exponents a table does not pay.
constexpr std::size_t kShortBits = 32;
constexpr std::size_t kWindowBits = 5;

std::size_t significantBits(const std::uint8_t* bytes, std::size_t sizeBytes) {
  for (std::size_t i = sizeBytes; i-- > 0;) {
    for (std::size_t bit = 8; bit-- > 0;) {
      if (((bytes[i] >> bit) & 1) != 0) return 8 * i + bit + 1;
    }
  }
  return 0;
}

// table[digit] of every lane: entry (digit, lane) lies at (digit * count + lane) * limbs.
class WindowTable {
 public:
  WindowTable(const Modulus& modulus, const Limb* const* bases, std::size_t count, std::size_t windowBits)
      : limbs_(modulus.limbs()), count_(count), size_(std::size_t{1} << windowBits), entries_(size_ * count * limbs_) {
    for (std::size_t lane = 0; lane < count; lane++) {
      copyLimbs(entry(0, lane), modulus.one(), limbs_);
      copyLimbs(entry(1, lane), bases[lane], limbs_);
    }
    Product jobs[kLanes];
    for (std::size_t digit = 2; digit < size_; digit++) {
      // Even powers as squares: cheaper, and all the same for the result.
      const std::size_t half = digit / 2;
      const std::size_t other = digit - half;
      for (std::size_t lane = 0; lane < count; lane++) {
        jobs[lane] = {entry(digit, lane), entry(half, lane), entry(other, lane)};
      }
      modulus.products(jobs, count);
    }
  }

  Limb* entry(std::size_t digit, std::size_t lane) { return &entries_[(digit * count_ + lane) * limbs_]; }

  // Reads every entry and keeps the wanted one: no address depends on the digit.
  void select(Limb* result, std::size_t digit, std::size_t lane) {
    std::memset(result, 0, limbs_ * sizeof(Limb));
    for (std::size_t candidate = 0; candidate < size_; candidate++) {
      const Limb difference = candidate ^ digit;
      const Limb mask = ((difference | (~difference + 1)) >> 63) - 1;
      const Limb* from = entry(candidate, lane);
      for (std::size_t i = 0; i < limbs_; i++) result[i] |= from[i] & mask;
    }
  }

 private:
  std::size_t limbs_;
  std::size_t count_;
  std::size_t size_;
  Limbs entries_;
};

}  // namespace

Exponent::Exponent(const std::uint8_t* bytes, std::size_t sizeBytes, ExponentKind kind)
    : kind_(kind), windowBits_(kWindowBits) {
  std::size_t bits = 8 * sizeBytes;
  if (kind == ExponentKind::kPublic) {
    bits = significantBits(bytes, sizeBytes);
    if (bits <= kShortBits) windowBits_ = 1;
  }
  digits_.resize((bits + windowBits_ - 1) / windowBits_);
  for (std::size_t d = 0; d < digits_.size(); d++) {
    const std::size_t lowest = (digits_.size() - 1 - d) * windowBits_;
    unsigned digit = 0;
    for (std::size_t bit = windowBits_; bit-- > 0;) {
      const std::size_t at = lowest + bit;
      digit = 2 * digit + (at < 8 * sizeBytes ? (bytes[at / 8] >> (at % 8)) & 1 : 0);
    }
    digits_[d] = static_cast<std::uint8_t>(digit);
  }
}

void powers(const Modulus& modulus, Limb* const* results, const Limb* const* bases, std::size_t count,
            const Exponent& exponent) {
  const std::size_t limbs = modulus.limbs();
  const bool secret = exponent.kind() == ExponentKind::kSecret;
  WindowTable table(modulus, bases, count, exponent.windowBits());
  Limbs selected(count * limbs);
  Product squares[kLanes];
  Product factors[kLanes];
  for (std::size_t lane = 0; lane < count; lane++) {
    copyLimbs(results[lane], modulus.one(), limbs);
    squares[lane] = {results[lane], results[lane], results[lane]};
  }
  bool first = true;
  for (const std::uint8_t digit : exponent.digits()) {
    // The first window would only square ones.
    if (!first) {
      for (std::size_t i = 0; i < exponent.windowBits(); i++) modulus.products(squares, count);
    }
    first = false;
    if (!secret && digit == 0) continue;
    for (std::size_t lane = 0; lane < count; lane++) {
      const Limb* factor = &selected[lane * limbs];
      if (secret) {
        table.select(&selected[lane * limbs], digit, lane);
      } else {
        factor = table.entry(digit, lane);
      }
      factors[lane] = {results[lane], results[lane], factor};
    }
    modulus.products(factors, count);
  }
}

}  // namespace tandem
