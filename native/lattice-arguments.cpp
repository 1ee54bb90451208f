// See lattice-arguments.h.
#include "lattice-arguments.h"

#include <cstring>

namespace tandem {

const lattice::Context& latticeContext(const Arguments& arguments) {
  return *static_cast<const lattice::Context*>(arguments.external(0, kLatticeTag));
}

Span<std::uint8_t> sized(const Arguments& arguments, std::size_t index, std::size_t sizeBytes, const char* message) {
  const Span<std::uint8_t> bytes = arguments.bytes(index);
  check(bytes.length == sizeBytes, message);
  return bytes;
}

lattice::Wide wideInteger(const Arguments& arguments, std::size_t index) {
  lattice::Wide value = 0;
  std::memcpy(&value, sized(arguments, index, sizeof value, "a large integer has 16 bytes").data, sizeof value);
  return value;
}

Seeds checkedSeeds(const Arguments& arguments, std::size_t index, std::size_t countMax) {
  const Span<std::uint8_t> seeds = arguments.bytes(index);
  check(seeds.length % lattice::kSeedBytes == 0 && seeds.length <= countMax * lattice::kSeedBytes,
        "a seed has 32 bytes");
  return std::make_shared<const lattice::Array<std::uint8_t>>(seeds.data, seeds.data + seeds.length);
}

Seeds checkedSeed(const Arguments& arguments, std::size_t index) {
  Seeds seed = checkedSeeds(arguments, index, 1);
  check(seed->size() == lattice::kSeedBytes, "a seed has 32 bytes");
  return seed;
}

std::size_t wholeElements(std::size_t length, std::size_t elementSize) {
  check(length % elementSize == 0 && length / elementSize <= kCandidatesMax, "a buffer holds whole elements");
  return length / elementSize;
}

}  // namespace tandem
