// Modular powers by fixed windows, for groups of up to kLanes bases that share one exponent and run in lock-step.
//
// Constant-time: with ExponentKind::kSecret the sequence of operations depends on the exponent's declared length only,
// and a table entry is selected by reading the whole table under masks. With kPublic the table is indexed by the
// exponent's digits and zero digits are skipped; bases stay unobservable in both.
#pragma once

#include "montgomery.h"

namespace tandem {

enum class ExponentKind { kPublic, kSecret };

class Exponent {
 public:
  // For kSecret, all 8 * sizeBytes bits are walked through; for kPublic, leading zeros are dropped.
  Exponent(const std::uint8_t* bytes, std::size_t sizeBytes, ExponentKind kind);

  ExponentKind kind() const { return kind_; }
  std::size_t windowBits() const { return windowBits_; }
  // Most significant first.
  const std::vector<std::uint8_t, WipingAllocator<std::uint8_t>>& digits() const { return digits_; }

 private:
  ExponentKind kind_;
  std::size_t windowBits_;
  std::vector<std::uint8_t, WipingAllocator<std::uint8_t>> digits_;
};

// results[i] = bases[i]^exponent, in Montgomery form, i < count <= kLanes. results may be bases.
void powers(const Modulus& modulus, Limb* const* results, const Limb* const* bases, std::size_t count,
            const Exponent& exponent);

}  // namespace tandem
