// The Node-API glue of the lattice scheme: checks arguments, starts tasks. No arithmetic here. Every function is a
// deterministic function of its arguments: seeds come from TypeScript. Promises resolve to the index of what is refused
// first, or -1.
#define NAPI_VERSION 8
#include "lattice-calls.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include "lattice-answers.h"
#include "lattice-cells.h"
#include "lattice-dots.h"
#include "lattice-hints.h"
#include "lattice-seal.h"
#include "task.h"

namespace tandem {

namespace {

using lattice::Context;
using lattice::KernelName;

constexpr napi_type_tag kLatticeTag = {0x74616e64656d0003, 0x2e8d51c79fb04a63};
constexpr std::size_t kRowsMax = 0xffffffff;
constexpr std::size_t kCandidatesMax = std::size_t{1} << 24;

struct NamedKernel {
  KernelName kernel;
  const char* name;
};
// Best first.
constexpr NamedKernel kKernels[] = {
    {KernelName::kAvx512, "avx512"}, {KernelName::kAvx2, "avx2"}, {KernelName::kScalar, "scalar"}};

// latticeKernels(): the names of those that this processor can run, best first.
napi_value latticeKernels(const Arguments& arguments) {
  napi_value names = nullptr;
  require(arguments.env(), napi_create_array(arguments.env(), &names));
  std::uint32_t count = 0;
  for (const NamedKernel& entry : kKernels) {
    if (!lattice::isAvailable(entry.kernel)) continue;
    napi_value name = nullptr;
    require(arguments.env(), napi_create_string_utf8(arguments.env(), entry.name, NAPI_AUTO_LENGTH, &name));
    require(arguments.env(), napi_set_element(arguments.env(), names, count++, name));
  }
  return names;
}

KernelName checkedKernel(const Arguments& arguments, std::size_t index) {
  const std::string name = arguments.text(index);
  for (const NamedKernel& entry : kKernels) {
    if (name == entry.name && lattice::isAvailable(entry.kernel)) return entry.kernel;
  }
  throw std::invalid_argument("this processor has no such kernel");
}

const lattice::Set& checkedSet(const Arguments& arguments, std::size_t index) {
  const std::string name = arguments.text(index);
  check(name == "A" || name == "B", "a parameter set is A or B");
  return name == "A" ? lattice::kSetA : lattice::kSetB;
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

// Seeds, copied: who has made the call may overwrite them at once.
using Seeds = std::shared_ptr<const lattice::Array<std::uint8_t>>;

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

const Context& latticeContext(const Arguments& arguments) {
  return *static_cast<const Context*>(arguments.external(0, kLatticeTag));
}

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

// Candidates whose words have this size.
std::size_t wholeElements(std::size_t length, std::size_t elementSize) {
  check(length % elementSize == 0 && length / elementSize <= kCandidatesMax, "a buffer holds whole elements");
  return length / elementSize;
}

// createLattice(kernel, set, rows, t, slotBits, crsKey)
napi_value createLattice(const Arguments& arguments) {
  const KernelName kernel = checkedKernel(arguments, 0);
  const lattice::Set& set = checkedSet(arguments, 1);
  lattice::Shape shape{};
  shape.rows = arguments.integer(2, 1, kRowsMax);
  shape.t = wideInteger(arguments, 3);
  shape.slotBits = arguments.integer(4, 0, 64);
  std::memcpy(shape.crsKey, sized(arguments, 5, sizeof shape.crsKey, "a CRS key has 16 bytes").data,
              sizeof shape.crsKey);
  const char* fault = lattice::faultOf(set, shape);
  check(fault == nullptr, fault);
  auto context = std::make_unique<Context>(set, lattice::kernelOf(kernel, set), shape);
  return wrapExternal(arguments.env(), std::move(context), kLatticeTag);
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

// latticeAnswer(context, cells, chainOffsets, sources, targets, products, noise, floodWidth, seed, words, threads)
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
  job.floodWidth = wideInteger(arguments, 7);
  check(job.floodWidth >= 1 && job.floodWidth <= lattice::Wide{1} << 76, "a flood's width is from 1 to 2^76");
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

// latticeLoadHints(context, words, firstCandidate, table, threads)
napi_value loadHintsCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const lattice::Set& set = context.set;
  const Span<std::uint8_t> words = arguments.bytes(1);
  const std::size_t count = wholeElements(words.length, set.degree * set.wordBytes);
  const std::size_t first = arguments.integer(2, 0, kCandidatesMax);
  const Span<std::uint64_t> table = arguments.uint64s(3);
  check(table.length % (set.degree * lattice::kTile) == 0, "a table has whole tiles");
  check(lattice::tableSize(set, first + count) <= table.length, "hints must fit their table");
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    lattice::loadHints(context, words.data, first, count, table.data, threads);
    return -1LL;
  });
}

// latticeDots(context, table, candidateCount, seeds, dots, threads)
napi_value dotsCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const std::size_t candidates = arguments.integer(2, 0, kCandidatesMax);
  const Span<std::uint64_t> table = arguments.uint64s(1);
  check(table.length == lattice::tableSize(context.set, candidates), "a table has the wrong size");
  const Seeds seeds = checkedSeeds(arguments, 3, 65536);
  const std::size_t seedCount = seeds->size() / lattice::kSeedBytes;
  const Span<std::uint64_t> dots = arguments.uint64s(4);
  check(dots.length == seedCount * lattice::dotCount(context.set, candidates), "inner products have the wrong size");
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    lattice::dots(context, table.data, candidates, seeds->data(), seedCount, dots.data, threads);
    return -1LL;
  });
}

// latticeSeal(context, seed, columns[], firstRecord, records, threads)
napi_value sealCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const Seeds seed = checkedSeed(arguments, 1);
  const std::vector<Span<std::int32_t>> columns = arguments.int32Arrays(2);
  check(columns.size() == lattice::kColumns, "a row has g and h");
  lattice::SealJob job{};
  for (std::size_t column = 0; column < lattice::kColumns; column++) {
    check(columns[column].length == context.shape.rows, "every row has g and h");
    job.columns[column] = columns[column].data;
  }
  const std::size_t recordsMax = context.set.degree + context.shape.rows;
  const Span<std::uint8_t> records = arguments.bytes(4);
  check(records.length % context.set.recordBytes == 0, "a buffer holds whole records");
  job.first = arguments.integer(3, 0, recordsMax);
  job.count = records.length / context.set.recordBytes;
  check(job.count <= recordsMax - job.first, "a node has a record per row, after those of the mask row");
  job.records = records.data;
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context]() mutable {
    job.seed = seed->data();
    lattice::seal(context, job, threads);
    return -1LL;
  });
}

// latticeOpen(context, dots, candidateCount, words, positions, sums)
napi_value openCall(const Arguments& arguments) {
  const Context& context = latticeContext(arguments);
  const std::size_t candidates = arguments.integer(2, 0, kCandidatesMax);
  const Span<std::uint64_t> dots = arguments.uint64s(1);
  check(dots.length == lattice::dotCount(context.set, candidates), "inner products have the wrong size");
  const Span<std::uint8_t> words = arguments.bytes(3);
  const std::size_t count = wholeElements(words.length, context.set.groups * context.set.wordBytes);
  std::vector<std::uint32_t> positions;
  const bool isPart = !arguments.isNull(4);
  if (isPart) {
    const Span<std::uint32_t> given = arguments.uint32s(4);
    positions.assign(given.data, given.data + given.length);
    for (const std::uint32_t position : positions) check(position < candidates, "there is no such candidate");
  }
  check(count == (isPart ? positions.size() : candidates), "every candidate has its words");
  const Span<double> sums = arguments.float64s(5);
  check(sums.length == lattice::kColumns * count, "sums have the wrong size");
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    lattice::open(context, dots.data, candidates, words.data, count, isPart ? positions.data() : nullptr, sums.data);
    return -1LL;
  });
}

}  // namespace

std::vector<Entry> latticeEntries() {
  return {
      {"latticeKernels", guarded<latticeKernels, 0>},
      {"createLattice", guarded<createLattice, 6>},
      {"latticeRowBins", guarded<rowBinsCall, 5>},
      {"latticeHints", guarded<hintsCall, 10>},
      {"latticeAccumulate", guarded<accumulateCall, 7>},
      {"latticeMaskProducts", guarded<maskProductsCall, 6>},
      {"latticeAnswer", guarded<answerCall, 11>},
      {"latticeLoadHints", guarded<loadHintsCall, 5>},
      {"latticeDots", guarded<dotsCall, 6>},
      {"latticeSeal", guarded<sealCall, 6>},
      {"latticeOpen", guarded<openCall, 6>},
  };
}

}  // namespace tandem
