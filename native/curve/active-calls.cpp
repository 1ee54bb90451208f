// Functions of the active party: scalars, encryption, opening. See calls.h.
#define NAPI_VERSION 8
#include <algorithm>
#include <cmath>
#include <numeric>

#include "../task.h"
#include "../threads.h"
#include "arguments.h"
#include "calls.h"

namespace tandem {

namespace {

// Points that share one inversion.
constexpr std::size_t kEncodeChunk = 1024;
constexpr std::size_t kReduceChunk = 4096;
constexpr std::size_t kOpenChunk = 32;
constexpr double kCentreMax = 68719476736;  // 2^36

std::vector<double> copied(const Span<double>& span) { return {span.data, span.data + span.length}; }

// curveReduce(scalars, wide, threads): wide scalars of 64 bytes, modulo l.
napi_value reduceCall(const Arguments& arguments) {
  CurveScalars& scalars = anyCurveScalars(arguments, 0);
  check(!scalars.isWiped, "scalars have been wiped");
  const Span<std::uint8_t> wide = arguments.bytes(1);
  check(wholeCount(wide, curve::kWideScalarBytes) == scalars.values.size(), "every scalar has 64 bytes");
  const std::size_t threads = arguments.threads(2);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &scalars] {
    parallelChunks(scalars.values.size(), kReduceChunk, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) {
        scalars.values[i] = curve::reducedScalar(wide.data + i * curve::kWideScalarBytes);
      }
    });
    return -1LL;
  });
}

// curveWipe(scalars): overwrites them; no later call accepts the handle. Memory stays until the handle is collected,
// since a call could still be under way.
napi_value wipeCall(const Arguments& arguments) {
  CurveScalars& scalars = anyCurveScalars(arguments, 0);
  scalars.isWiped = true;
  wipe(scalars.values.data(), scalars.values.size() * sizeof(curve::Scalar));
  napi_value nothing = nullptr;
  require(arguments.env(), napi_get_undefined(arguments.env(), &nothing));
  return nothing;
}

// curveMultiples(context, scalars, places, result, threads)
napi_value multiplesCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const CurveScalars& scalars = curveScalars(arguments, 1);
  const std::vector<std::uint32_t> places = checkedIndices(arguments, 2, scalars.values.size());
  const Span<std::uint8_t> result = arguments.bytes(3);
  check(wholeCount(result, curve::kPointBytes) == places.size(), "a result has the wrong size");
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &scalars] {
    parallelChunks(places.size(), kEncodeChunk, threads, [&](std::size_t begin, std::size_t end) {
      curve::Scalars own(end - begin);
      for (std::size_t i = begin; i < end; i++) own[i - begin] = scalars.values[places[i]];
      kernel.encodeMultiples(kernel.base(), own.data(), own.size(), result.data + begin * curve::kPointBytes);
    });
    return -1LL;
  });
}

// curveEncrypt(context, rows, places, secrets, plaintexts, result, threads): (q + s h) B, row by row, value by value
napi_value encryptCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const CurveScalars& rows = curveScalars(arguments, 1);
  const std::vector<std::uint32_t> places = checkedIndices(arguments, 2, rows.values.size());
  const CurveScalars& secrets = curveScalars(arguments, 3);
  const Span<std::int32_t> plaintexts = arguments.int32s(4);
  const std::size_t width = secrets.values.size();
  check(plaintexts.length == checkedProduct(places.size(), width), "every row has a plaintext per value");
  const Span<std::uint8_t> result = arguments.bytes(5);
  check(wholeCount(result, curve::kPointBytes) == plaintexts.length, "a result has the wrong size");
  const std::size_t threads = arguments.threads(6);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &rows, &secrets] {
    curve::Scalars prepared(width);
    for (std::size_t j = 0; j < width; j++) prepared[j] = curve::preparedScalar(secrets.values[j]);
    parallelChunks(plaintexts.length, kEncodeChunk, threads, [&](std::size_t begin, std::size_t end) {
      curve::Scalars exponents(end - begin);
      for (std::size_t i = begin; i < end; i++) {
        const curve::Scalar product = curve::multiplyPrepared(rows.values[places[i / width]], prepared[i % width]);
        exponents[i - begin] = curve::addScalars(product, curve::signedScalar(plaintexts.data[i]));
      }
      kernel.encodeMultiples(kernel.base(), exponents.data(), exponents.size(),
                             result.data + begin * curve::kPointBytes);
    });
    return -1LL;
  });
}

// curveFillLogarithms(context, logarithms, threads): resolves to the reach
napi_value fillLogarithmsCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  curve::Logarithms& table = curveLogarithms(arguments, 1);
  const std::size_t threads = arguments.threads(2);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &table] {
    table.fill(kernel, threads);
    return static_cast<long long>(table.reach());
  });
}

// Logarithms of what was opened, those with like bounds side by side. A negative bound: 0.
void findAll(const curve::Kernel& kernel, const curve::Logarithms& table, const curve::Addends& opened,
             const double* centres, const double* bounds, double* sums) {
  std::vector<std::size_t> order(opened.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bounds[a] > bounds[b]; });
  for (std::size_t first = 0; first < order.size(); first += kernel.lanes()) {
    const curve::StoredAddend* points[curve::kLanesMax];
    double limits[curve::kLanesMax];
    double found[curve::kLanesMax];
    std::size_t count = 0;
    for (std::size_t i = first; i < std::min(first + kernel.lanes(), order.size()); i++) {
      if (bounds[order[i]] < 0) {
        sums[order[i]] = 0;
        continue;
      }
      points[count] = &opened[order[i]];
      limits[count++] = bounds[order[i]];
    }
    if (count == 0) continue;
    kernel.findLogarithms(table, points, limits, count, found);
    for (std::size_t i = 0; i < count; i++) sums[order[first + i]] = centres[order[first + i]] + found[i];
  }
}

// curveOpen(context, secrets, points, centres, bounds, logarithms, result, threads)
napi_value openCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const CurveScalars& secrets = curveScalars(arguments, 1);
  const std::size_t width = secrets.values.size();
  check(width > 0, "there is a secret");
  const Span<std::uint8_t> points = arguments.bytes(2);
  const std::size_t count = wholeCount(points, (1 + width) * curve::kPointBytes);
  const std::vector<double> centres = copied(arguments.float64s(3));
  const std::vector<double> bounds = copied(arguments.float64s(4));
  const bool isSized = bounds.size() == checkedProduct(count, width) && centres.size() == bounds.size();
  check(isSized, "every candidate has a centre and a bound per value");
  for (const double centre : centres) {
    check(std::fabs(centre) < kCentreMax && std::floor(centre) == centre, "a centre is an integer below 2^36");
  }
  const curve::Logarithms& table = curveLogarithms(arguments, 5);
  check(table.isFilled(), "the table of logarithms is filled");
  const double reach = static_cast<double>(table.reach());
  for (const double bound : bounds) check(bound >= -1 && bound <= reach, "a bound is out of range");
  const Span<double> result = arguments.float64s(6);
  check(result.length == bounds.size(), "a result has the wrong size");
  const std::size_t threads = arguments.threads(7);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &secrets, &table] {
    FirstBad bad;
    parallelChunks(count, kOpenChunk, threads, [&](std::size_t begin, std::size_t end) {
      curve::Addends opened((end - begin) * width);
      const std::uint8_t* encodings = points.data + begin * (1 + width) * curve::kPointBytes;
      const std::size_t first = kernel.open(encodings, end - begin, secrets.values.data(), width,
                                            centres.data() + begin * width, opened.data());
      if (first < (end - begin) * (1 + width)) return bad.report(begin * (1 + width) + first);
      findAll(kernel, table, opened, centres.data() + begin * width, bounds.data() + begin * width,
              result.data + begin * width);
    });
    return bad.index();
  });
}

}  // namespace

std::vector<Entry> curveActiveEntries() {
  return {{"curveReduce", guarded<reduceCall, 3>},       {"curveWipe", guarded<wipeCall, 1>},
          {"curveMultiples", guarded<multiplesCall, 5>}, {"curveEncrypt", guarded<encryptCall, 7>},
          {"curveOpen", guarded<openCall, 8>},           {"curveFillLogarithms", guarded<fillLogarithmsCall, 3>}};
}

}  // namespace tandem
