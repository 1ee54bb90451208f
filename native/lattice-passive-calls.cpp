// The Node-API glue of the lattice scheme, the passive party's functions: checks arguments, starts tasks. No arithmetic
// here.
#define NAPI_VERSION 8
#include <cmath>

#include "lattice-answers.h"
#include "lattice-arguments.h"
#include "lattice-calls.h"
#include "lattice-cells.h"
#include "lattice-hints.h"
#include "task.h"

namespace tandem {

namespace {

using lattice::Context;

struct Bins {
  std::vector<const std::uint16_t*> columns;
  std::vector<std::uint32_t> counts;
  std::size_t total = 0;
};

void takeCounts(const Arguments& arguments, std::size_t index, Bins& bins) {
  const Span<std::uint32_t> counts = arguments.uint32s(index);
  bins.counts.assign(counts.data, counts.data + counts.length);
  for (const std::uint32_t count : bins.counts) {
    check(count <= 65536, "a bin fits 16 bits");
    bins.total += count;
  }
}

// Columns of bins, and in the next argument their counts.
Bins checkedBins(const Arguments& arguments, std::size_t index, std::size_t rows) {
  Bins bins;
  for (const Span<std::uint16_t>& column : arguments.uint16Arrays(index)) {
    check(column.length == rows, "every row has a bin");
    bins.columns.push_back(column.data);
  }
  takeCounts(arguments, index + 1, bins);
  check(bins.columns.size() == bins.counts.size(), "every feature has a number of bins");
  return bins;
}

// latticeRowBins(context, bins[], binCounts, result, threads)
napi_value rowBinsCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const Bins bins = checkedBins(arguments, 1, context.shape.rows);
  const std::size_t rowBytes = bins.counts.size() * lattice::binBytes(bins.counts);
  const Span<std::uint8_t> result =
      sized(arguments, 3, checkedProduct(context.shape.rows, rowBytes), "bins row by row have the wrong size");
  check(reinterpret_cast<std::uintptr_t>(result.data) % 2 == 0, "bins of two bytes must be aligned");
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    return lattice::layRowBins(bins.columns, bins.counts, context.shape.rows, result.data, threads) ? -1LL : 0LL;
  });
}

// latticeHints(context, bins[], binCounts, chainOffsets, sources, targets, seed, words, masks, threads)
napi_value hintsCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  Bins bins = checkedBins(arguments, 1, context.shape.rows);
  const Seeds seed = checkedSeed(arguments, 6);
  const Span<std::uint8_t> words = arguments.bytes(7);
  lattice::HintJob job{};
  job.candidates = wholeElements(words.length, context.set.degree * context.set.wordBytes);
  job.chains = arguments.chains(3, bins.total, job.candidates);
  check(lattice::chainsStayInFeatures(job.chains, bins.counts), "a chain has bins of one feature");
  job.bins = std::move(bins.columns);
  job.binCounts = std::move(bins.counts);
  job.words = words.data;
  job.masks = sized(arguments, 8, job.candidates * lattice::maskBytes(context.set), "masks have the wrong size").data;
  const std::size_t threads = arguments.threads(9);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context]() mutable {
    job.seed = seed->data();
    return lattice::makeHints(context, job, threads) ? -1LL : 0LL;
  });
}

// latticeAccumulate(context, rowBins, binCounts, records, firstRow, cells, threads)
napi_value accumulateCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  Bins bins;
  takeCounts(arguments, 2, bins);
  const std::size_t rowBytes = bins.counts.size() * lattice::binBytes(bins.counts);
  const Span<std::uint8_t> rowBins =
      sized(arguments, 1, checkedProduct(context.shape.rows, rowBytes), "bins row by row have the wrong size");
  check(reinterpret_cast<std::uintptr_t>(rowBins.data) % 2 == 0, "bins of two bytes must be aligned");
  const Span<std::uint8_t> records = arguments.bytes(3);
  check(records.length % context.set.recordBytes == 0, "a buffer holds whole records");
  const std::size_t firstRow = arguments.integer(4, 0, context.shape.rows);
  lattice::AccumulateJob job{};
  job.count = records.length / context.set.recordBytes;
  check(job.count <= context.shape.rows - firstRow, "there are more records than rows");
  const Span<std::uint64_t> cells = arguments.uint64s(5);
  check(cells.length == checkedProduct(bins.total, lattice::kLanes), "cells have the wrong size");
  job.rowBins = rowBins.data + firstRow * rowBytes;
  job.binCounts = std::move(bins.counts);
  job.records = records.data;
  job.cells = cells.data;
  const std::size_t threads = arguments.threads(6);
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=, &context] { return lattice::accumulate(context, job, threads); });
}

// latticeMaskProducts(context, masks, maskRecords, candidateCount, products, threads)
napi_value maskProductsCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const std::size_t candidates = arguments.integer(3, 0, kCandidatesMax);
  const Span<std::uint8_t> masks =
      sized(arguments, 1, candidates * lattice::maskBytes(context.set), "masks have the wrong size");
  const Span<std::uint8_t> records =
      sized(arguments, 2, context.set.degree * context.set.recordBytes, "a mask row has a record per coefficient");
  const Span<std::int64_t> products = arguments.int64s(4);
  check(products.length == candidates * context.set.lanes, "products have the wrong size");
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    return lattice::maskProducts(context, masks.data, records.data, candidates, products.data, threads);
  });
}

// Whole numbers that doubles hold exactly; null: none.
lattice::Array<std::int64_t> checkedNoise(const Arguments& arguments, std::size_t index, std::size_t candidates) {
  if (arguments.isNull(index)) return {};
  const Span<double> noise = arguments.float64s(index);
  check(noise.length == lattice::kColumns * candidates, "every candidate has noise for g and h");
  lattice::Array<std::int64_t> result;
  for (std::size_t i = 0; i < noise.length; i++) {
    const double value = noise.data[i];
    check(std::fabs(value) <= 9007199254740992.0 && std::floor(value) == value, "noise is whole");
    result.push_back(static_cast<std::int64_t>(value));
  }
  return result;
}

// latticeAnswer(context, cells, chainOffsets, sources, targets, products, noise, smudgingWidth, seed, words, threads)
napi_value answerCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const Span<std::uint64_t> cells = arguments.uint64s(1);
  check(cells.length % lattice::kLanes == 0, "cells have the wrong size");
  const Span<std::int64_t> products = arguments.int64s(5);
  const Span<std::uint8_t> words = arguments.bytes(9);
  lattice::AnswerJob job{};
  job.candidates = wholeElements(words.length, context.set.groups * context.set.wordBytes);
  check(products.length == job.candidates * context.set.lanes, "products have the wrong size");
  job.chains = arguments.chains(2, cells.length / lattice::kLanes, job.candidates);
  job.noise = checkedNoise(arguments, 6, job.candidates);
  job.smudgingWidth = wideInteger(arguments, 7);
  check(job.smudgingWidth >= 1 && job.smudgingWidth <= lattice::Wide{1} << 76,
        "the width of the smudging noise is from 1 to 2^76");
  const Seeds seed = checkedSeed(arguments, 8);
  job.cells = cells.data;
  job.products = products.data;
  job.words = words.data;
  const std::size_t threads = arguments.threads(10);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context]() mutable {
    job.seed = seed->data();
    lattice::answer(context, job, threads);
    return -1LL;
  });
}

}  // namespace

std::vector<Entry> latticePassiveEntries() {
  return {
      {"latticeRowBins", guarded<rowBinsCall, 5>},       {"latticeHints", guarded<hintsCall, 10>},
      {"latticeAccumulate", guarded<accumulateCall, 7>}, {"latticeMaskProducts", guarded<maskProductsCall, 6>},
      {"latticeAnswer", guarded<answerCall, 11>},
  };
}

}  // namespace tandem
