// See fixed-base.h.
#include "fixed-base.h"

#include "threads.h"

namespace tandem {

FixedBaseTable::FixedBaseTable(const Modulus& modulus, const Limb* base, const Limb* factor, std::size_t exponentBytes,
                               std::size_t threads)
    : modulus_(modulus), exponentBytes_(exponentBytes), entries_(exponentBytes * 256 * modulus.limbs()) {
  const std::size_t limbs = modulus.limbs();
  // Rows start with their base in place of entry 1: base^(256^i), by squarings.
  copyLimbs(entry(0, 1), base, limbs);
  for (std::size_t i = 1; i < exponentBytes; i++) {
    copyLimbs(entry(i, 1), entry(i - 1, 1), limbs);
    for (int bit = 0; bit < 8; bit++) modulus.product(entry(i, 1), entry(i, 1), entry(i, 1));
  }
  parallelChunks(exponentBytes, kLanes, threads, [&](std::size_t begin, std::size_t end) {
    Product jobs[kLanes];
    for (std::size_t i = begin; i < end; i++) copyLimbs(entry(i, 0), modulus.one(), limbs);
    for (std::size_t digit = 2; digit < 256; digit++) {
      for (std::size_t i = begin; i < end; i++) jobs[i - begin] = {entry(i, digit), entry(i, digit - 1), entry(i, 1)};
      modulus.products(jobs, end - begin);
    }
  });
  for (std::size_t digit = 0; digit < 256; digit++) modulus.product(entry(0, digit), entry(0, digit), factor);
}

void FixedBaseTable::powers(Limb* const* results, const std::uint8_t* const* exponents, std::size_t count) const {
  for (std::size_t lane = 0; lane < count; lane++) {
    copyLimbs(results[lane], entry(0, exponents[lane][0]), modulus_.limbs());
  }
  Product jobs[kLanes];
  for (std::size_t i = 1; i < exponentBytes_; i++) {
    for (std::size_t lane = 0; lane < count; lane++) {
      jobs[lane] = {results[lane], results[lane], entry(i, exponents[lane][i])};
    }
    modulus_.products(jobs, count);
  }
}

}  // namespace tandem
