// Handles of the curve scheme's functions: what JavaScript holds, and how they are read from arguments. What a peer
// sends is refused by the functions themselves; every message here is about the caller's mistake.
#pragma once

#include "../arguments.h"
#include "../calls.h"
#include "logarithms.h"

namespace tandem {

constexpr std::size_t kCurveCountMax = std::size_t{1} << 28;

struct CurveContext {
  const curve::Kernel* kernel;
};
struct CurveScalars {
  explicit CurveScalars(std::size_t count) : values(count) {}
  curve::Scalars values;
  bool isWiped = false;
};
struct CurvePoints {
  explicit CurvePoints(std::size_t count) : values(count, curve::kNeutralAddend) {}
  curve::Addends values;
};
struct CurveSums {
  explicit CurveSums(std::size_t count) : values(count, curve::kNeutralPoint) {}
  curve::Points values;
};
struct CurveKeys {
  explicit CurveKeys(std::size_t count) : tables(count) {}
  std::vector<curve::FixedTable> tables;
};
struct CurveLogarithms {
  std::shared_ptr<curve::Logarithms> table;
};

const curve::Kernel& curveKernel(const Arguments& arguments, std::size_t index);
// Not wiped.
const CurveScalars& curveScalars(const Arguments& arguments, std::size_t index);
CurveScalars& anyCurveScalars(const Arguments& arguments, std::size_t index);
CurvePoints& curvePoints(const Arguments& arguments, std::size_t index);
CurveSums& curveSums(const Arguments& arguments, std::size_t index);
CurveKeys& curveKeys(const Arguments& arguments, std::size_t index);
curve::Logarithms& curveLogarithms(const Arguments& arguments, std::size_t index);
// Elements of an array of handles.
std::vector<CurvePoints*> curvePointArrays(const Arguments& arguments, std::size_t index);
std::vector<CurveSums*> curveSumArrays(const Arguments& arguments, std::size_t index);

// How many points or scalars of `sizeBytes` a buffer holds.
std::size_t wholeCount(const Span<std::uint8_t>& bytes, std::size_t sizeBytes);
// Indices below `limit`, copied.
std::vector<std::uint32_t> checkedIndices(const Arguments& arguments, std::size_t index, std::size_t limit);

napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveContext> value);
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveScalars> value);
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurvePoints> value);
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveSums> value);
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveKeys> value);
napi_value wrapCurve(const Arguments& arguments, std::unique_ptr<CurveLogarithms> value);

}  // namespace tandem
