// AES key schedules, and AES in counter mode without its instructions (the kernel `scalar`).
//
// The software cipher is bitsliced: it holds 64 blocks as 16 x 8 words of 64 bits, bit i of each from block i. Moving
// bytes is then renaming, and the S-box is a circuit of 115 gates. There are no tables.
//
// Constant-time: no branch and no address depends on a key or on data.
#pragma once

#include "lattice-sets.h"

namespace tandem {
namespace lattice {

constexpr std::size_t kBlockBytes = 16;
// A key stream is made in chunks of this many blocks.
constexpr std::size_t kChunkBlocks = 64;
constexpr std::size_t kChunkBytes = kChunkBlocks * kBlockBytes;

class AesKey {
 public:
  // Of 16 or 32 bytes.
  AesKey(const std::uint8_t* key, std::size_t keyBytes);
  ~AesKey() { wipe(roundKeys_, sizeof roundKeys_); }
  AesKey(const AesKey&) = delete;
  AesKey& operator=(const AesKey&) = delete;

  std::size_t rounds() const { return rounds_; }
  // 16 bytes.
  const std::uint8_t* roundKey(std::size_t round) const { return roundKeys_ + kBlockBytes * round; }

 private:
  static constexpr std::size_t kRoundsMax = 14;
  std::size_t rounds_;
  alignas(16) std::uint8_t roundKeys_[kBlockBytes * (kRoundsMax + 1)];
};

// 64 blocks of the key stream: AES of prefix (8 bytes) and counter (8 bytes, big-endian), of which the first is a
// multiple of 64.
void softwareChunk(const AesKey& key, const std::uint8_t* prefix, std::uint64_t counter, std::uint8_t* result);
// AES of 64 blocks; the result may be the same memory.
void softwareBlocks(const AesKey& key, const std::uint8_t* blocks, std::uint8_t* result);

}  // namespace lattice
}  // namespace tandem
