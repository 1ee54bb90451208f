// AES under a public key: the permutation of the hash of rows (src/crypto/transfer/block-cipher.ts).
#pragma once

#include "kernel.h"

namespace tandem {
namespace maximum {

inline const AesKey& permutation() {
  static const AesKey key(reinterpret_cast<const std::uint8_t*>("tandem/transfer1"), kBlockBytes);
  return key;
}

}  // namespace maximum
}  // namespace tandem
