// What depends on the processor in the comparison of candidates: AES in bulk, and hashes of columns.
//
// Constant-time: no branch and no address depends on a key or on data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../lattice-aes.h"

namespace tandem {
namespace maximum {

using lattice::AesKey;
using lattice::kBlockBytes;

constexpr std::size_t kWordsPerBlock = 4;
// Bits of a row: columns of a matrix.
constexpr std::size_t kColumns = 128;

class Kernel {
 public:
  virtual ~Kernel() = default;
  // AES-128 of each block, in place.
  virtual void encrypt(const AesKey& key, std::uint8_t* blocks, std::size_t count) const = 0;
  // Of each column of `blockCount` blocks the sum of blocks times descending powers of a point in GF(2^128), the last
  // times the point itself. As ColumnHash in src/crypto/transfer/matrix-proof.ts.
  virtual void columnHashes(const std::uint8_t* point, const std::uint32_t* columns, std::size_t blockCount,
                            std::size_t columnCount, std::uint32_t* hashes) const = 0;
};

enum class KernelName { kScalar, kAesni, kVaes };

bool isAvailable(KernelName name);
const Kernel& kernelOf(KernelName name);

std::unique_ptr<Kernel> makeScalarKernel();
std::unique_ptr<Kernel> makeAesniKernel();
std::unique_ptr<Kernel> makeVaesKernel();

}  // namespace maximum
}  // namespace tandem
