// The kernel `scalar`: portable C++.
#include <cstring>

#include "kernel.h"

namespace tandem {
namespace maximum {

namespace {

struct Element {
  std::uint64_t low;
  std::uint64_t high;
};

// a * b modulo x^128 + x^7 + x^2 + x + 1.
Element product(Element a, Element b) {
  Element sum{0, 0};
  for (int bit = 127; bit >= 0; bit--) {
    const std::uint64_t carry = 0 - (sum.high >> 63);
    sum.high = sum.high << 1 | sum.low >> 63;
    sum.low = sum.low << 1 ^ (carry & 0x87);
    const std::uint64_t taken = 0 - (((bit < 64 ? a.low >> bit : a.high >> (bit - 64))) & 1);
    sum.low ^= b.low & taken;
    sum.high ^= b.high & taken;
  }
  return sum;
}

class ScalarKernel : public Kernel {
 public:
  void encrypt(const AesKey& key, std::uint8_t* blocks, std::size_t count) const override {
    alignas(16) std::uint8_t chunk[lattice::kChunkBytes];
    for (std::size_t from = 0; from < count; from += lattice::kChunkBlocks) {
      const std::size_t bytes = kBlockBytes * std::min(lattice::kChunkBlocks, count - from);
      std::memcpy(chunk, blocks + kBlockBytes * from, bytes);
      std::memset(chunk + bytes, 0, sizeof chunk - bytes);
      lattice::softwareBlocks(key, chunk, chunk);
      std::memcpy(blocks + kBlockBytes * from, chunk, bytes);
    }
    wipe(chunk, sizeof chunk);
  }

  void columnHashes(const std::uint8_t* point, const std::uint32_t* columns, std::size_t blockCount,
                    std::size_t columnCount, std::uint32_t* hashes) const override {
    Element power;
    std::memcpy(&power, point, sizeof power);
    for (std::size_t column = 0; column < columnCount; column++) {
      Element sum{0, 0};
      for (std::size_t block = 0; block < blockCount; block++) {
        Element next;
        std::memcpy(&next, columns + kWordsPerBlock * (column * blockCount + block), sizeof next);
        sum = product({sum.low ^ next.low, sum.high ^ next.high}, power);
      }
      std::memcpy(hashes + kWordsPerBlock * column, &sum, sizeof sum);
    }
  }
};

}  // namespace

std::unique_ptr<Kernel> makeScalarKernel() { return std::make_unique<ScalarKernel>(); }

}  // namespace maximum
}  // namespace tandem
