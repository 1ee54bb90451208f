// What functions of this folder are given by JavaScript: the kernel that createMaximum chose, and places in a batch.
#pragma once

#include "../arguments.h"
#include "kernel.h"

namespace tandem {

constexpr napi_type_tag kMaximumTag = {0x74616e64656d000a, 0x2f6d3b90c5e8714a};

struct MaximumContext {
  const maximum::Kernel* kernel;
};

inline const maximum::Kernel& kernelAt(const Arguments& arguments, std::size_t index) {
  return *static_cast<const MaximumContext*>(arguments.external(index, kMaximumTag))->kernel;
}

// A place is a block or row, then a batch number in two words.
inline std::uint64_t batchOf(const Span<std::uint32_t>& place) {
  check(place.length == 3, "a place has three words");
  return static_cast<std::uint64_t>(place.data[2]) << 32 | place.data[1];
}

inline napi_value undefinedOf(const Arguments& arguments) {
  napi_value value = nullptr;
  require(arguments.env(), napi_get_undefined(arguments.env(), &value));
  return value;
}

}  // namespace tandem
