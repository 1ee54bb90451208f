// See arguments.h.
#include "arguments.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace tandem {

void require(napi_env, napi_status status) {
  if (status != napi_ok) throw std::runtime_error("a Node-API call failed");
}

void check(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

std::size_t checkedProduct(std::size_t count, std::size_t size) {
  check(size == 0 || count <= std::numeric_limits<std::size_t>::max() / size, "a size overflows");
  return count * size;
}

Arguments::Arguments(napi_env env, napi_callback_info info, std::size_t expected) : env_(env), values_(expected) {
  napi_value given[kArgumentsMax];
  std::size_t count = kArgumentsMax;
  require(env, napi_get_cb_info(env, info, &count, given, nullptr, nullptr));
  check(count == expected && expected <= kArgumentsMax, "wrong number of arguments");
  for (std::size_t i = 0; i < expected; i++) values_[i] = given[i];
}

std::vector<napi_value> Arguments::keepAlive() const {
  std::vector<napi_value> kept(values_);
  for (const napi_value value : values_) {
    bool isArray = false;
    require(env_, napi_is_array(env_, value, &isArray));
    if (!isArray) continue;
    std::uint32_t length = 0;
    require(env_, napi_get_array_length(env_, value, &length));
    for (std::uint32_t i = 0; i < length; i++) {
      napi_value element = nullptr;
      require(env_, napi_get_element(env_, value, i, &element));
      kept.push_back(element);
    }
  }
  return kept;
}

void* Arguments::typedArray(napi_value value, napi_typedarray_type type, std::size_t* length) const {
  bool isTypedArray = false;
  require(env_, napi_is_typedarray(env_, value, &isTypedArray));
  check(isTypedArray, "an argument must be a typed array");
  napi_typedarray_type actual;
  void* data = nullptr;
  require(env_, napi_get_typedarray_info(env_, value, &actual, length, &data, nullptr, nullptr));
  check(actual == type, "a typed array has the wrong element type");
  check(data != nullptr || *length == 0, "a typed array is detached");
  return data;
}

Span<std::uint8_t> Arguments::bytes(std::size_t index) const {
  Span<std::uint8_t> span{nullptr, 0};
  span.data = static_cast<std::uint8_t*>(typedArray(values_[index], napi_uint8_array, &span.length));
  return span;
}

Span<std::uint32_t> Arguments::uint32s(std::size_t index) const {
  Span<std::uint32_t> span{nullptr, 0};
  span.data = static_cast<std::uint32_t*>(typedArray(values_[index], napi_uint32_array, &span.length));
  return span;
}

Span<std::int32_t> Arguments::int32s(std::size_t index) const {
  Span<std::int32_t> span{nullptr, 0};
  span.data = static_cast<std::int32_t*>(typedArray(values_[index], napi_int32_array, &span.length));
  return span;
}

Span<double> Arguments::float64s(std::size_t index) const {
  Span<double> span{nullptr, 0};
  span.data = static_cast<double*>(typedArray(values_[index], napi_float64_array, &span.length));
  return span;
}

Span<float> Arguments::float32s(std::size_t index) const {
  Span<float> span{nullptr, 0};
  span.data = static_cast<float*>(typedArray(values_[index], napi_float32_array, &span.length));
  return span;
}

Span<std::uint16_t> Arguments::uint16s(std::size_t index) const {
  Span<std::uint16_t> span{nullptr, 0};
  span.data = static_cast<std::uint16_t*>(typedArray(values_[index], napi_uint16_array, &span.length));
  return span;
}

Span<std::uint64_t> Arguments::uint64s(std::size_t index) const {
  Span<std::uint64_t> span{nullptr, 0};
  span.data = static_cast<std::uint64_t*>(typedArray(values_[index], napi_biguint64_array, &span.length));
  return span;
}

Span<std::int64_t> Arguments::int64s(std::size_t index) const {
  Span<std::int64_t> span{nullptr, 0};
  span.data = static_cast<std::int64_t*>(typedArray(values_[index], napi_bigint64_array, &span.length));
  return span;
}

template <typename T>
std::vector<Span<T>> Arguments::typedArrays(std::size_t index, napi_typedarray_type type) const {
  bool isArray = false;
  require(env_, napi_is_array(env_, values_[index], &isArray));
  check(isArray, "an argument must be an array");
  std::uint32_t length = 0;
  require(env_, napi_get_array_length(env_, values_[index], &length));
  std::vector<Span<T>> spans(length);
  for (std::uint32_t i = 0; i < length; i++) {
    napi_value element = nullptr;
    require(env_, napi_get_element(env_, values_[index], i, &element));
    spans[i].data = static_cast<T*>(typedArray(element, type, &spans[i].length));
  }
  return spans;
}

std::vector<Span<std::uint16_t>> Arguments::uint16Arrays(std::size_t index) const {
  return typedArrays<std::uint16_t>(index, napi_uint16_array);
}

std::vector<Span<std::int32_t>> Arguments::int32Arrays(std::size_t index) const {
  return typedArrays<std::int32_t>(index, napi_int32_array);
}

bool Arguments::isNull(std::size_t index) const {
  napi_valuetype type;
  require(env_, napi_typeof(env_, values_[index], &type));
  return type == napi_null;
}

Chains Arguments::chains(std::size_t index, std::size_t sourceCount, std::size_t targetCount) const {
  const Span<std::uint32_t> offsets = uint32s(index);
  const Span<std::uint32_t> sources = uint32s(index + 1);
  const Span<std::int32_t> targets = int32s(index + 2);
  const Chains chains{{offsets.data, offsets.data + offsets.length},
                      {sources.data, sources.data + sources.length},
                      {targets.data, targets.data + targets.length}};
  check(chains.sources.size() == chains.targets.size(), "every step has a source and a target");
  check(!chains.offsets.empty() && chains.offsets.front() == 0, "chains start at step 0");
  check(chains.offsets.back() == chains.sources.size(), "chains cover all steps");
  for (std::size_t c = 1; c < chains.offsets.size(); c++) {
    check(chains.offsets[c - 1] <= chains.offsets[c], "chain offsets must not decrease");
  }
  check(targetCount <= chains.targets.size(), "every target must be written");
  std::vector<bool> written(targetCount);
  std::size_t writtenCount = 0;
  for (std::size_t step = 0; step < chains.sources.size(); step++) {
    check(chains.sources[step] < sourceCount, "a step's source is out of range");
    const std::int32_t target = chains.targets[step];
    if (target == -1) continue;
    check(target >= 0 && static_cast<std::size_t>(target) < targetCount, "a step's target is out of range");
    check(!written[static_cast<std::size_t>(target)], "a target is written twice");
    written[static_cast<std::size_t>(target)] = true;
    writtenCount++;
  }
  check(writtenCount == targetCount, "every target must be written");
  return chains;
}

std::vector<Span<double>> Arguments::float64Arrays(std::size_t index) const {
  return typedArrays<double>(index, napi_float64_array);
}

std::string Arguments::text(std::size_t index) const {
  char buffer[32];
  std::size_t length = 0;
  const napi_status status = napi_get_value_string_utf8(env_, values_[index], buffer, sizeof buffer, &length);
  check(status == napi_ok, "an argument must be a text");
  return std::string(buffer, length);
}

std::size_t Arguments::integer(std::size_t index, std::size_t low, std::size_t high) const {
  double value = 0;
  check(napi_get_value_double(env_, values_[index], &value) == napi_ok, "an argument must be a number");
  const bool inRange = value >= static_cast<double>(low) && value <= static_cast<double>(high);
  check(inRange && std::floor(value) == value, "an integer argument is out of range");
  return static_cast<std::size_t>(value);
}

FlatInput Arguments::flat(std::size_t index, std::size_t sizeBytesMax) const {
  const Span<std::uint8_t> span = bytes(index);
  const std::size_t sizeBytes = integer(index + 1, 1, sizeBytesMax);
  check(span.length % sizeBytes == 0, "a buffer holds whole elements");
  return {span.data, sizeBytes, span.length / sizeBytes};
}

Span<const Limb> Arguments::elements(std::size_t index, std::size_t limbs, std::shared_ptr<Limbs>& owner) const {
  const Span<std::uint8_t> span = bytes(index);
  check(span.length % (limbs * sizeof(Limb)) == 0, "a resident vector holds whole elements");
  const std::size_t count = span.length / (limbs * sizeof(Limb));
  if (reinterpret_cast<std::uintptr_t>(span.data) % alignof(Limb) == 0) {
    return {reinterpret_cast<const Limb*>(span.data), count};
  }
  owner = std::make_shared<Limbs>(count * limbs);
  std::memcpy(owner->data(), span.data, span.length);
  return {owner->data(), count};
}

Limb* Arguments::output(std::size_t index, std::size_t limbs, std::size_t count) const {
  const Span<std::uint8_t> span = bytes(index);
  check(span.length == checkedProduct(count, limbs * sizeof(Limb)), "a result has the wrong size");
  check(reinterpret_cast<std::uintptr_t>(span.data) % alignof(Limb) == 0, "a result must be aligned to 8 bytes");
  return reinterpret_cast<Limb*>(span.data);
}

void* Arguments::external(std::size_t index, const napi_type_tag& tag) const {
  napi_valuetype type;
  require(env_, napi_typeof(env_, values_[index], &type));
  bool matches = false;
  if (type == napi_external) {
    require(env_, napi_check_object_type_tag(env_, values_[index], &tag, &matches));
  }
  check(matches, "an argument must be a context of the right kind");
  void* data = nullptr;
  require(env_, napi_get_value_external(env_, values_[index], &data));
  return data;
}

}  // namespace tandem
