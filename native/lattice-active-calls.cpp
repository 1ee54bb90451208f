// The Node-API glue of the lattice scheme, the active party's functions: checks arguments, starts tasks. No arithmetic
// here.
#define NAPI_VERSION 8
#include "lattice-arguments.h"
#include "lattice-calls.h"
#include "lattice-dots.h"
#include "lattice-seal.h"
#include "task.h"

namespace tandem {

namespace {

using lattice::Context;

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

std::vector<Entry> latticeActiveEntries() {
  return {
      {"latticeLoadHints", guarded<loadHintsCall, 5>},
      {"latticeDots", guarded<dotsCall, 6>},
      {"latticeSeal", guarded<sealCall, 6>},
      {"latticeOpen", guarded<openCall, 6>},
  };
}

}  // namespace tandem
