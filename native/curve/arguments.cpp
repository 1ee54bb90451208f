// See arguments.h.
#define NAPI_VERSION 8
#include "arguments.h"

namespace tandem {

namespace {

constexpr napi_type_tag kContextTag = {0x74616e64656d0004, 0x51c79fb04a632e8d};
constexpr napi_type_tag kScalarsTag = {0x74616e64656d0005, 0x51c79fb04a632e8d};
constexpr napi_type_tag kPointsTag = {0x74616e64656d0006, 0x51c79fb04a632e8d};
constexpr napi_type_tag kSumsTag = {0x74616e64656d0007, 0x51c79fb04a632e8d};
constexpr napi_type_tag kKeysTag = {0x74616e64656d0008, 0x51c79fb04a632e8d};
constexpr napi_type_tag kLogarithmsTag = {0x74616e64656d0009, 0x51c79fb04a632e8d};

std::size_t sizeOf(const CurveScalars& value) { return value.values.size() * sizeof(curve::Scalar); }
std::size_t sizeOf(const CurvePoints& value) { return value.values.size() * sizeof(curve::StoredAddend); }
std::size_t sizeOf(const CurveSums& value) { return value.values.size() * sizeof(curve::StoredPoint); }
std::size_t sizeOf(const CurveKeys& value) {
  return value.tables.size() * curve::kWindows * 3 * curve::kLimbs * curve::kEntries * sizeof(std::uint64_t);
}

// The garbage collector counts the memory, so that handles without a user are collected in time.
template <typename T>
napi_value wrapCounted(napi_env env, std::unique_ptr<T> held, const napi_type_tag& tag) {
  const auto finalize = [](napi_env finalizeEnv, void* data, void*) {
    T* value = static_cast<T*>(data);
    std::int64_t total = 0;
    napi_adjust_external_memory(finalizeEnv, -static_cast<std::int64_t>(sizeOf(*value)), &total);
    delete value;
  };
  napi_value value = nullptr;
  const std::int64_t size = static_cast<std::int64_t>(sizeOf(*held));
  require(env, napi_create_external(env, held.get(), finalize, nullptr, &value));
  held.release();
  std::int64_t total = 0;
  require(env, napi_adjust_external_memory(env, size, &total));
  require(env, napi_type_tag_object(env, value, &tag));
  return value;
}

template <typename T>
std::vector<T*> externals(const Arguments& arguments, std::size_t index, const napi_type_tag& tag) {
  const napi_env env = arguments.env();
  const napi_value array = arguments.values()[index];
  bool isArray = false;
  require(env, napi_is_array(env, array, &isArray));
  check(isArray, "an argument must be an array");
  std::uint32_t length = 0;
  require(env, napi_get_array_length(env, array, &length));
  std::vector<T*> found;
  for (std::uint32_t i = 0; i < length; i++) {
    napi_value element = nullptr;
    require(env, napi_get_element(env, array, i, &element));
    napi_valuetype type;
    require(env, napi_typeof(env, element, &type));
    bool matches = false;
    if (type == napi_external) require(env, napi_check_object_type_tag(env, element, &tag, &matches));
    check(matches, "an argument must have handles of the right kind");
    void* data = nullptr;
    require(env, napi_get_value_external(env, element, &data));
    found.push_back(static_cast<T*>(data));
  }
  return found;
}

}  // namespace

const curve::Kernel& curveKernel(const Arguments& arguments, std::size_t index) {
  return *static_cast<const CurveContext*>(arguments.external(index, kContextTag))->kernel;
}

CurveScalars& anyCurveScalars(const Arguments& arguments, std::size_t index) {
  return *static_cast<CurveScalars*>(arguments.external(index, kScalarsTag));
}

const CurveScalars& curveScalars(const Arguments& arguments, std::size_t index) {
  const CurveScalars& scalars = anyCurveScalars(arguments, index);
  check(!scalars.isWiped, "scalars have been wiped");
  return scalars;
}

CurvePoints& curvePoints(const Arguments& arguments, std::size_t index) {
  return *static_cast<CurvePoints*>(arguments.external(index, kPointsTag));
}

CurveSums& curveSums(const Arguments& arguments, std::size_t index) {
  return *static_cast<CurveSums*>(arguments.external(index, kSumsTag));
}

CurveKeys& curveKeys(const Arguments& arguments, std::size_t index) {
  return *static_cast<CurveKeys*>(arguments.external(index, kKeysTag));
}

curve::Logarithms& curveLogarithms(const Arguments& arguments, std::size_t index) {
  return *static_cast<CurveLogarithms*>(arguments.external(index, kLogarithmsTag))->table;
}

std::vector<CurvePoints*> curvePointArrays(const Arguments& arguments, std::size_t index) {
  return externals<CurvePoints>(arguments, index, kPointsTag);
}

std::vector<CurveSums*> curveSumArrays(const Arguments& arguments, std::size_t index) {
  return externals<CurveSums>(arguments, index, kSumsTag);
}

std::size_t wholeCount(const Span<std::uint8_t>& bytes, std::size_t sizeBytes) {
  check(bytes.length % sizeBytes == 0 && bytes.length / sizeBytes <= kCurveCountMax, "a buffer holds whole elements");
  return bytes.length / sizeBytes;
}

std::vector<std::uint32_t> checkedIndices(const Arguments& arguments, std::size_t index, std::size_t limit) {
  const Span<std::uint32_t> span = arguments.uint32s(index);
  std::vector<std::uint32_t> indices(span.data, span.data + span.length);
  for (const std::uint32_t i : indices) check(i < limit, "an index is out of range");
  return indices;
}

napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveContext> value) {
  return wrapExternal(arguments.env(), std::move(value), kContextTag);
}
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveScalars> value) {
  return wrapCounted(arguments.env(), std::move(value), kScalarsTag);
}
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurvePoints> value) {
  return wrapCounted(arguments.env(), std::move(value), kPointsTag);
}
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveSums> value) {
  return wrapCounted(arguments.env(), std::move(value), kSumsTag);
}
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveKeys> value) {
  return wrapCounted(arguments.env(), std::move(value), kKeysTag);
}
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveLogarithms> value) {
  return wrapExternal(arguments.env(), std::move(value), kLogarithmsTag);
}

}  // namespace tandem
