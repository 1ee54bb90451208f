// All randomness of the lattice scheme: AES-CTR key streams, each named by domain, sub and block. A name is used once
// under a key. Layout of the first counter block: domain, sub, 0, 0, block (4 bytes, big-endian), 0 x 8.
#pragma once

#include "lattice-kernel.h"

namespace tandem {
namespace lattice {

enum class Domain : std::uint8_t {
  kCrsRows = 1,        // sub: limb; block: block of rows
  kCrsMask = 2,        // sub: limb
  kNodeSecret = 3,     // sub: group
  kNodeErrors = 4,     // sub: group; block: block of rows
  kMaskRowErrors = 5,  // sub: group
  kHintSecret = 6,     // block: candidate
  kHintErrors = 7,     // block: candidate
  kSmudging = 8,       // block: floor(candidate / 256)
};

struct StreamName {
  Domain domain;
  std::size_t sub;
  std::size_t block;
};

class KeyStream {
 public:
  KeyStream(const Kernel& kernel, const AesKey& key, StreamName name)
      : kernel_(kernel),
        key_(key),
        prefix_{static_cast<std::uint8_t>(name.domain),
                static_cast<std::uint8_t>(name.sub),
                0,
                0,
                static_cast<std::uint8_t>(name.block >> 24),
                static_cast<std::uint8_t>(name.block >> 16),
                static_cast<std::uint8_t>(name.block >> 8),
                static_cast<std::uint8_t>(name.block)} {}
  ~KeyStream() { wipe(chunk_, sizeof chunk_); }
  KeyStream(const KeyStream&) = delete;
  KeyStream& operator=(const KeyStream&) = delete;

  // The next kChunkBytes, until the next call.
  const std::uint8_t* nextChunk() {
    kernel_.keyStreamChunk(key_, prefix_, counter_, chunk_);
    counter_ += kChunkBlocks;
    return chunk_;
  }
  // The next 8 bytes, little-endian. Not to be mixed with nextChunk.
  std::uint64_t nextWord() {
    if (at_ == kChunkBytes) {
      nextChunk();
      at_ = 0;
    }
    std::uint64_t word;
    std::memcpy(&word, chunk_ + at_, sizeof word);
    at_ += sizeof word;
    return word;
  }

 private:
  const Kernel& kernel_;
  const AesKey& key_;
  std::uint8_t prefix_[8];
  std::uint64_t counter_ = 0;
  std::size_t at_ = kChunkBytes;
  alignas(kAlignment) std::uint8_t chunk_[kChunkBytes];
};

}  // namespace lattice
}  // namespace tandem
