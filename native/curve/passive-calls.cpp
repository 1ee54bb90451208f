// Functions of a passive party: loading, sums, answers. See calls.h.
#define NAPI_VERSION 8
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../task.h"
#include "../threads.h"
#include "answers.h"
#include "arguments.h"
#include "calls.h"
#include "histogram.h"

namespace tandem {

namespace {

constexpr std::size_t kDecodeChunk = 512;
constexpr std::size_t kEncodeChunk = 1024;
constexpr std::size_t kAddChunk = 1024;
constexpr double kNoiseMax = 34359738368;  // 2^35

// curveLoad(context, bytes, points, width, rows, threads)
napi_value loadCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const Span<std::uint8_t> bytes = arguments.bytes(1);
  CurvePoints& target = curvePoints(arguments, 2);
  const std::size_t width = arguments.integer(3, 1, 65536);
  check(target.values.size() % width == 0, "every row has `width` points");
  const std::size_t rowCount = target.values.size() / width;
  const std::vector<std::uint32_t> rows = checkedIndices(arguments, 4, rowCount);
  const std::size_t count = wholeCount(bytes, curve::kPointBytes);
  check(count == checkedProduct(rows.size(), width), "every row has its points");
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &target] {
    FirstBad bad;
    parallelChunks(count, kDecodeChunk, threads, [&](std::size_t begin, std::size_t end) {
      curve::Addends addends(end - begin);
      const std::size_t first = kernel.decode(bytes.data + begin * curve::kPointBytes, end - begin, addends.data());
      if (first < end - begin) bad.report(begin + first);
      for (std::size_t i = begin; i < end; i++) {
        target.values[i % width * rowCount + rows[i / width]] = addends[i - begin];
      }
    });
    return bad.index();
  });
}

// curveHistogram(context, sources[], widths, rows, bins[], binCounts, skippedBins, jointBins, results[], threads)
napi_value histogramCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const std::vector<CurvePoints*> sources = curvePointArrays(arguments, 1);
  const Span<std::uint32_t> widths = arguments.uint32s(2);
  const Span<std::uint32_t> rows = arguments.uint32s(3);
  const std::vector<Span<std::uint16_t>> bins = arguments.uint16Arrays(4);
  const Span<std::uint32_t> binCounts = arguments.uint32s(5);
  const Span<std::int32_t> skippedBins = arguments.int32s(6);
  curve::HistogramJob job{};
  job.jointBins = arguments.integer(7, 0, 1) == 1;
  const std::vector<CurveSums*> results = curveSumArrays(arguments, 8);
  const std::size_t threads = arguments.threads(9);
  job.rows = rows.data;
  job.selectedCount = rows.length;
  check(!sources.empty() && sources.size() == widths.length && sources.size() == results.size(),
        "every source has a width and a result");
  check(widths.data[0] > 0, "a row has points");
  job.rowCount = sources[0]->values.size() / widths.data[0];
  check(bins.size() == binCounts.length && bins.size() == skippedBins.length, "every feature has bins and their count");
  std::size_t cells = 0;
  for (std::size_t f = 0; f < bins.size(); f++) {
    check(bins[f].length >= job.rowCount, "every row has a bin");
    check(binCounts.data[f] <= 65536, "a bin fits 16 bits");
    job.features.push_back({bins[f].data, binCounts.data[f], skippedBins.data[f], cells});
    cells += binCounts.data[f];
  }
  for (std::size_t i = 0; i < sources.size(); i++) {
    const std::size_t width = widths.data[i];
    check(sources[i]->values.size() == checkedProduct(job.rowCount, width), "sources have the same rows");
    check(results[i]->values.size() == checkedProduct(cells, width), "a result has the wrong size");
    job.sources.push_back({sources[i]->values.data(), width, results[i]->values.data()});
  }
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel] {
    curve::histogram(kernel, job, threads);
    return -1LL;
  });
}

// curveAdd(context, a, b, result, threads)
napi_value addCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const CurveSums& a = curveSums(arguments, 1);
  const CurveSums& b = curveSums(arguments, 2);
  CurveSums& result = curveSums(arguments, 3);
  const std::size_t count = a.values.size();
  check(b.values.size() == count && result.values.size() == count, "sums have the same size");
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &a, &b, &result] {
    parallelChunks(count, kAddChunk, threads, [&](std::size_t begin, std::size_t end) {
      kernel.addTo(a.values.data() + begin, b.values.data() + begin, end - begin, result.values.data() + begin);
    });
    return -1LL;
  });
}

// curveEncode(context, sums, result, threads)
napi_value encodeCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const CurveSums& sums = curveSums(arguments, 1);
  const Span<std::uint8_t> result = arguments.bytes(2);
  const std::size_t count = sums.values.size();
  check(wholeCount(result, curve::kPointBytes) == count, "a result has the wrong size");
  const std::size_t threads = arguments.threads(3);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &sums] {
    parallelChunks(count, kEncodeChunk, threads, [&](std::size_t begin, std::size_t end) {
      kernel.encode(sums.values.data() + begin, end - begin, result.data + begin * curve::kPointBytes);
    });
    return -1LL;
  });
}

// curveDecode(context, bytes, sums, threads)
napi_value decodeCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const Span<std::uint8_t> bytes = arguments.bytes(1);
  CurveSums& sums = curveSums(arguments, 2);
  const std::size_t count = sums.values.size();
  check(wholeCount(bytes, curve::kPointBytes) == count, "every sum has 32 bytes");
  const std::size_t threads = arguments.threads(3);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &sums] {
    FirstBad bad;
    parallelChunks(count, kDecodeChunk, threads, [&](std::size_t begin, std::size_t end) {
      curve::Addends addends(end - begin);
      const std::size_t first = kernel.decode(bytes.data + begin * curve::kPointBytes, end - begin, addends.data());
      if (first < end - begin) bad.report(begin + first);
      kernel.pointsOf(addends.data(), end - begin, sums.values.data() + begin);
    });
    return bad.index();
  });
}

// curveMakeKeys(context, bytes, keys, threads): points of small order are refused too
napi_value makeKeysCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const Span<std::uint8_t> bytes = arguments.bytes(1);
  CurveKeys& keys = curveKeys(arguments, 2);
  const std::size_t count = keys.tables.size();
  check(wholeCount(bytes, curve::kPointBytes) == count, "every key has 32 bytes");
  const std::size_t threads = arguments.threads(3);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel, &keys] {
    curve::Addends points(count);
    std::size_t first = count == 0 ? 0 : kernel.decode(bytes.data, count, points.data());
    for (std::size_t i = 0; i < first; i++) {
      if (kernel.isSmallOrder(points[i])) first = i;
    }
    if (first < count) return static_cast<long long>(first);
    parallelChunks(count, 1, threads, [&](std::size_t i, std::size_t) { keys.tables[i] = kernel.tableOf(points[i]); });
    return -1LL;
  });
}

// Integers; empty for null.
std::vector<double> checkedNoise(const Arguments& arguments, std::size_t index, std::size_t count) {
  if (arguments.isNull(index)) return {};
  const Span<double> span = arguments.float64s(index);
  check(span.length == count, "every candidate has noise per value");
  std::vector<double> noise(span.data, span.data + span.length);
  for (const double value : noise) {
    check(std::fabs(value) < kNoiseMax && std::floor(value) == value, "noise is an integer below 2^35");
  }
  return noise;
}

// curveAnswer(context, bases, values, chainOffsets, sources, targets, suppressed, noise, keys, masks, result, threads)
napi_value answerCall(const Arguments& arguments) {
  const curve::Kernel& kernel = curveKernel(arguments, 0);
  const CurveSums& bases = curveSums(arguments, 1);
  const CurveSums& values = curveSums(arguments, 2);
  const CurveKeys& keys = curveKeys(arguments, 8);
  const auto job = std::make_shared<curve::AnswerJob>();
  job->width = keys.tables.size();
  check(values.values.size() == checkedProduct(bases.values.size(), job->width), "a key for every value");
  for (const curve::FixedTable& table : keys.tables) check(!table.empty(), "keys have been made");
  const Span<std::uint8_t> suppressed = arguments.bytes(6);
  const std::size_t count = suppressed.length;
  job->chains = arguments.chains(3, bases.values.size(), count);
  job->suppressed.assign(suppressed.data, suppressed.data + count);
  job->noise = checkedNoise(arguments, 7, count * job->width);
  const Span<std::uint8_t> masks = arguments.bytes(9);
  check(masks.length == checkedProduct(count, curve::kWideScalarBytes), "every candidate has a mask");
  job->masks.resize(masks.length / sizeof(Limb));
  if (masks.length > 0) std::memcpy(job->masks.data(), masks.data, masks.length);
  const Span<std::uint8_t> result = arguments.bytes(10);
  check(result.length == checkedProduct(count, (1 + job->width) * curve::kPointBytes), "a result has the wrong size");
  job->bases = bases.values.data();
  job->values = values.values.data();
  job->keys = &keys.tables;
  job->encodings = result.data;
  const std::size_t threads = arguments.threads(11);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &kernel] {
    curve::answer(kernel, *job, threads);
    return -1LL;
  });
}

}  // namespace

std::vector<Entry> curvePassiveEntries() {
  return {{"curveLoad", guarded<loadCall, 6>},     {"curveHistogram", guarded<histogramCall, 10>},
          {"curveAdd", guarded<addCall, 5>},       {"curveEncode", guarded<encodeCall, 4>},
          {"curveDecode", guarded<decodeCall, 4>}, {"curveMakeKeys", guarded<makeKeysCall, 4>},
          {"curveAnswer", guarded<answerCall, 12>}};
}

}  // namespace tandem
