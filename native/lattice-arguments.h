// What the functions of the lattice scheme read from their arguments, with all checks. Every message is about the
// caller's mistake: what a peer sends is refused by the functions themselves.
#pragma once

#include "arguments.h"
#include "lattice-context.h"

namespace tandem {

constexpr napi_type_tag kLatticeTag = {0x74616e64656d0003, 0x2e8d51c79fb04a63};
constexpr std::size_t kCandidatesMax = std::size_t{1} << 24;

// The context that is the first argument.
const lattice::Context& latticeContext(const Arguments& arguments);

// Bytes of exactly that size.
Span<std::uint8_t> sized(const Arguments& arguments, std::size_t index, std::size_t sizeBytes, const char* message);

// 16 bytes, little-endian.
lattice::Wide wideInteger(const Arguments& arguments, std::size_t index);

// Seeds, copied: the caller may overwrite them at once.
using Seeds = std::shared_ptr<const lattice::Array<std::uint8_t>>;
Seeds checkedSeeds(const Arguments& arguments, std::size_t index, std::size_t countMax);
Seeds checkedSeed(const Arguments& arguments, std::size_t index);

// How many elements of that size a buffer of `length` holds.
std::size_t wholeElements(std::size_t length, std::size_t elementSize);

}  // namespace tandem
