// Powers of one fixed base with a window-8 table: base^(d 256^i) for every byte value d and byte position i, so that a
// power costs one product per byte of the exponent and no squarings (Brickell, Gordon, McCurley, Wilson 1992).
//
// Layout: entry (i, d) lies at (i * 256 + d) * limbs, in Montgomery form. Size: 256 * exponent bytes * modulus bytes,
// 8 MB for 1024-bit exponents modulo 2048 bits.
//
// NOT constant-time in the cache: entries are addressed by bytes of the secret exponent, because reading the whole
// table under masks would cost more than the power itself. Whoever shares this machine's caches could learn about
// obfuscators; over a network the time does not depend on the exponent, since all products are made, also by 1.
#pragma once

#include "montgomery.h"

namespace tandem {

class FixedBaseTable {
 public:
  // `base` and `factor` are in Montgomery form; every power comes out multiplied by `factor`.
  FixedBaseTable(const Modulus& modulus, const Limb* base, const Limb* factor, std::size_t exponentBytes,
                 std::size_t threads);

  // results[i] = factor * base^exponents[i] in Montgomery form, i < count <= kLanes; exponents are little-endian bytes.
  void powers(Limb* const* results, const std::uint8_t* const* exponents, std::size_t count) const;

 private:
  Limb* entry(std::size_t position, std::size_t digit) {
    return &entries_[(position * 256 + digit) * modulus_.limbs()];
  }
  const Limb* entry(std::size_t position, std::size_t digit) const {
    return &entries_[(position * 256 + digit) * modulus_.limbs()];
  }

  const Modulus& modulus_;
  std::size_t exponentBytes_;
  Limbs entries_;
};

}  // namespace tandem
