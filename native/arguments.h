// Reading JavaScript arguments with all checks: a wrong argument becomes a JavaScript exception, never a bad access.
#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chains.h"
#include "limbs.h"
#include "public-operations.h"

namespace tandem {

// Throws std::runtime_error when a Node-API call fails.
void require(napi_env env, napi_status status);

// Throws std::invalid_argument with `message` when `condition` does not hold.
void check(bool condition, const char* message);

// Size of count * size; throws where it would overflow.
std::size_t checkedProduct(std::size_t count, std::size_t size);

template <typename T>
struct Span {
  T* data;
  std::size_t length;
};

constexpr std::size_t kArgumentsMax = 12;

class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info, std::size_t expected);

  napi_env env() const { return env_; }
  // All arguments, for keeping them alive.
  const std::vector<napi_value>& values() const { return values_; }
  // Elements of array arguments are added by their readers.
  std::vector<napi_value> keepAlive() const;

  Span<std::uint8_t> bytes(std::size_t index) const;
  Span<std::uint32_t> uint32s(std::size_t index) const;
  Span<std::int32_t> int32s(std::size_t index) const;
  Span<double> float64s(std::size_t index) const;
  Span<float> float32s(std::size_t index) const;
  Span<std::uint16_t> uint16s(std::size_t index) const;
  Span<std::uint64_t> uint64s(std::size_t index) const;
  Span<std::int64_t> int64s(std::size_t index) const;
  std::vector<Span<std::uint16_t>> uint16Arrays(std::size_t index) const;
  std::vector<Span<std::int32_t>> int32Arrays(std::size_t index) const;
  bool isNull(std::size_t index) const;
  // Offsets, sources and targets, from argument `index` on: copied and checked. Every target is written once.
  Chains chains(std::size_t index, std::size_t sourceCount, std::size_t targetCount) const;
  std::vector<Span<double>> float64Arrays(std::size_t index) const;
  // A short text.
  std::string text(std::size_t index) const;
  // An integer from `low` to `high`.
  std::size_t integer(std::size_t index, std::size_t low, std::size_t high) const;
  std::size_t threads(std::size_t index) const { return integer(index, 1, 256); }

  // Bytes of fixed-width elements; the next argument is the width, from 1 to sizeBytesMax.
  FlatInput flat(std::size_t index, std::size_t sizeBytesMax) const;
  // Elements of `limbs` limbs to read. An unaligned buffer is copied; `owner` keeps the copy.
  Span<const Limb> elements(std::size_t index, std::size_t limbs, std::shared_ptr<Limbs>& owner) const;
  // `count` elements of `limbs` limbs to write; must be aligned and have exactly that size.
  Limb* output(std::size_t index, std::size_t limbs, std::size_t count) const;

  // An external made by wrapExternal with the same tag.
  void* external(std::size_t index, const napi_type_tag& tag) const;

 private:
  void* typedArray(napi_value value, napi_typedarray_type type, std::size_t* length) const;
  template <typename T>
  std::vector<Span<T>> typedArrays(std::size_t index, napi_typedarray_type type) const;

  napi_env env_;
  std::vector<napi_value> values_;
};

}  // namespace tandem
