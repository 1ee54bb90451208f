// Products by transfers, as src/crypto/maximum/kernel.ts describes them.
#pragma once

#include "kernel.h"

namespace tandem {
namespace maximum {

// Rows of transfers, and where in the batch the first one is.
struct Rows {
  const std::uint32_t* words;
  std::size_t count;
  std::uint32_t first;
  std::uint64_t batch;
};

struct Products {
  Rows rows;
  std::size_t bits;
  std::size_t count;
  const std::uint32_t* factors;
  const std::uint32_t* uses;
  const std::uint8_t* widths;
};

// Bits of the corrections of a product.
std::size_t correctionBits(std::size_t bits, std::size_t width);

// The first word of each row's hash; `added` to every row before, or null.
void hashWords(const Kernel& kernel, const Rows& rows, const std::uint32_t* added, std::uint32_t* result,
               std::size_t threads);
// Numbers and shares have four words each. `message` is zero before.
void corrections(const Kernel& kernel, const Products& products, const std::uint32_t* secret,
                 const std::uint32_t* numbers, std::uint8_t* message, std::uint32_t* held, std::size_t threads);
void senderShares(const Products& products, const std::uint32_t* numbers, const std::uint32_t* held,
                  const std::uint8_t* flips, std::uint32_t* result, std::size_t threads);
void receiverShares(const Kernel& kernel, const Products& products, const std::uint8_t* choices,
                    const std::uint8_t* flips, const std::uint8_t* message, std::size_t messageBytes,
                    std::uint32_t* result, std::size_t threads);

}  // namespace maximum
}  // namespace tandem
