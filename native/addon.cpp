// The Node-API glue: checks arguments, starts tasks. No arithmetic here; src/crypto/paillier/native-addon.ts declares
// the other side of these functions. Every function is a deterministic function of its arguments: random numbers come
// from TypeScript. Functions that end in a promise resolve to the index of the first refused element, or -1.
//
// Needs Node-API 8 (type tags): Node 20 and later, one binary for all.
#define NAPI_VERSION 8
#include <node_api.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "arguments.h"
#include "calls.h"
#include "curve/calls.h"
#include "data/calls.h"
#include "lattice-calls.h"
#include "maximum/calls.h"
#include "peel.h"
#include "plain-file.h"
#include "plain-histogram.h"
#include "plain-separation.h"
#include "private-operations.h"
#include "public-operations.h"
#include "row-calls.h"
#include "task.h"

namespace tandem {

namespace {

constexpr napi_type_tag kPublicTag = {0x74616e64656d0001, 0x9d2f6c3be1a84750};
constexpr napi_type_tag kPrivateTag = {0x74616e64656d0002, 0x5b1e87f04c6ad329};

constexpr std::size_t kCountMax = std::size_t{1} << 40;

const PublicContext& publicContext(const Arguments& arguments) {
  return *static_cast<const PublicContext*>(arguments.external(0, kPublicTag));
}

// n of 128 to 4096 bits, odd, without leading zero bytes.
Span<std::uint8_t> checkedModulus(const Arguments& arguments, std::size_t index) {
  const Span<std::uint8_t> n = arguments.bytes(index);
  check(n.length >= 16 && n.length <= 512, "n has 128 to 4096 bits");
  check((n.data[0] & 1) != 0 && n.data[n.length - 1] != 0, "n is odd and has no leading zeros");
  return n;
}

struct KernelName {
  Kernel kernel;
  const char* name;
};
// Best first; the last is for tests.
constexpr KernelName kKernelNames[] = {{Kernel::kIfma, "ifma"},
                                       {Kernel::kAvx2, "avx2"},
                                       {Kernel::kAdx, "adx"},
                                       {Kernel::kScalar, "scalar"},
                                       {Kernel::kIfmaEmulated, "ifma-emulated"}};

// kernels(): the names of those that this processor can run, best first.
napi_value kernels(const Arguments& arguments) {
  napi_value names = nullptr;
  require(arguments.env(), napi_create_array(arguments.env(), &names));
  std::uint32_t count = 0;
  for (const KernelName& entry : kKernelNames) {
    if (!isAvailable(entry.kernel)) continue;
    napi_value name = nullptr;
    require(arguments.env(), napi_create_string_utf8(arguments.env(), entry.name, NAPI_AUTO_LENGTH, &name));
    require(arguments.env(), napi_set_element(arguments.env(), names, count++, name));
  }
  return names;
}

Kernel checkedKernel(const Arguments& arguments, std::size_t index) {
  const std::string name = arguments.text(index);
  for (const KernelName& entry : kKernelNames) {
    if (name == entry.name && isAvailable(entry.kernel)) return entry.kernel;
  }
  throw std::invalid_argument("this processor has no such kernel");
}

// createPublic(kernel, n)
napi_value createPublic(const Arguments& arguments) {
  const Kernel kernel = checkedKernel(arguments, 0);
  const Span<std::uint8_t> n = checkedModulus(arguments, 1);
  return wrapExternal(arguments.env(), std::make_unique<PublicContext>(kernel, n.data, n.length), kPublicTag);
}

// createPrivate(kernel, n, p, q, generatorP, generatorQ, factorP, factorQ, qInverse, qSquaredInverse)
napi_value createPrivate(const Arguments& arguments) {
  const Kernel kernel = checkedKernel(arguments, 0);
  const Span<std::uint8_t> n = checkedModulus(arguments, 1);
  const std::size_t primeBytes = arguments.bytes(2).length;
  check(primeBytes >= 8 && 2 * primeBytes >= n.length && 2 * primeBytes <= n.length + 1,
        "primes have half of n's size");
  const auto sized = [&](std::size_t index, std::size_t sizeBytes) {
    const Span<std::uint8_t> span = arguments.bytes(index);
    check(span.length == sizeBytes, "a constant of the private key has the wrong size");
    return span.data;
  };
  const PrimeSideInput p{sized(2, primeBytes), sized(4, primeBytes), sized(6, primeBytes)};
  const PrimeSideInput q{sized(3, primeBytes), sized(5, primeBytes), sized(7, primeBytes)};
  for (const PrimeSideInput& side : {p, q}) {
    check((side.prime[0] & 1) != 0 && side.prime[primeBytes - 1] != 0, "a prime is odd and has no leading zeros");
  }
  auto context = std::make_unique<PrivateContext>(kernel, n.data, n.length, p, q, primeBytes, sized(8, primeBytes),
                                                  sized(9, 2 * primeBytes));
  return wrapExternal(arguments.env(), std::move(context), kPrivateTag);
}

// load(context, source, sourceBytes, target, offset, threads)
napi_value loadCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  const std::size_t limbs = context.elementLimbs();
  const FlatInput source = arguments.flat(1, 8 * limbs);
  const Span<std::uint8_t> bytes = arguments.bytes(3);
  const std::size_t capacity = bytes.length / (8 * limbs);
  Limb* target = arguments.output(3, limbs, capacity);
  const std::size_t offset = arguments.integer(4, 0, kCountMax);
  check(offset <= capacity && source.count <= capacity - offset, "a load must fit its target");
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=, &context] { return load(context, source, target + offset * limbs, threads); });
}

// unload(context, source, result, resultBytes, threads)
napi_value unloadCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  const Span<const Limb> source = arguments.elements(1, context.elementLimbs(), owner);
  const Span<std::uint8_t> result = arguments.bytes(2);
  const std::size_t resultBytes = arguments.integer(3, 1, 8 * context.elementLimbs());
  check(result.length == checkedProduct(source.length, resultBytes), "a result has the wrong size");
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    return unload(context, source.data, source.length, result.data, resultBytes, threads);
  });
}

// multiply(context, a, b, result, threads)
napi_value multiplyCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> ownerA;
  std::shared_ptr<Limbs> ownerB;
  const Span<const Limb> a = arguments.elements(1, context.elementLimbs(), ownerA);
  const Span<const Limb> b = arguments.elements(2, context.elementLimbs(), ownerB);
  check(a.length == b.length, "two vectors must have the same count");
  Limb* result = arguments.output(3, context.elementLimbs(), a.length);
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)ownerA, (void)ownerB;
    multiply(context, a.data, b.data, result, a.length, threads);
    return -1LL;
  });
}

// firstNonUnit(context, elements, threads)
napi_value firstNonUnitCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  const Span<const Limb> elements = arguments.elements(1, context.elementLimbs(), owner);
  const std::size_t threads = arguments.threads(2);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    return firstNonUnit(context, elements.data, elements.length, threads);
  });
}

// raise(context, a, scalars, scalarBytes, result, threads)
napi_value raiseCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  const Span<const Limb> a = arguments.elements(1, context.elementLimbs(), owner);
  const FlatInput scalars = arguments.flat(2, 8 * context.limbsOfN);
  check(a.length == scalars.count, "every element has a scalar");
  Limb* result = arguments.output(4, context.elementLimbs(), a.length);
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    return raise(context, a.data, scalars, result, threads);
  });
}

// nthPowers(context, bases, baseBytes, result, threads)
napi_value nthPowersCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  const FlatInput bases = arguments.flat(1, 8 * context.limbsOfN);
  Limb* result = arguments.output(3, context.elementLimbs(), bases.count);
  const std::size_t threads = arguments.threads(4);
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=, &context] { return nthPowers(context, bases, result, threads); });
}

// seal(context, plaintexts, plaintextBytes, obfuscators, result, threads)
napi_value sealCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  const FlatInput plaintexts = arguments.flat(1, 8 * context.limbsOfN);
  const Span<const Limb> obfuscators = arguments.elements(3, context.elementLimbs(), owner);
  check(obfuscators.length == plaintexts.count, "every plaintext has an obfuscator");
  Limb* result = arguments.output(4, context.elementLimbs(), plaintexts.count);
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    return seal(context, plaintexts, obfuscators.data, result, threads);
  });
}

// histogram(context, gradients, perInstance, instances, bins[], binCounts, skippedBins, jointBins, result, threads)
napi_value histogramCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  HistogramJob job{};
  const Span<const Limb> gradients = arguments.elements(1, context.elementLimbs(), owner);
  job.gradients = gradients.data;
  job.perInstance = arguments.integer(2, 1, 65536);
  check(gradients.length % job.perInstance == 0, "every instance has all its ciphertexts");
  job.instanceCount = gradients.length / job.perInstance;
  const Span<std::uint32_t> instances = arguments.uint32s(3);
  job.instances = instances.data;
  job.selectedCount = instances.length;
  const std::vector<Span<std::uint16_t>> bins = arguments.uint16Arrays(4);
  const Span<std::uint32_t> binCounts = arguments.uint32s(5);
  const Span<std::int32_t> skippedBins = arguments.int32s(6);
  check(bins.size() == binCounts.length && bins.size() == skippedBins.length, "features have bins, counts and skips");
  for (std::size_t f = 0; f < bins.size(); f++) {
    check(bins[f].length == job.instanceCount, "every instance has a bin");
    check(binCounts.data[f] <= 65536, "a bin fits 16 bits");
    job.features.push_back({bins[f].data, binCounts.data[f], skippedBins.data[f], job.cellCount});
    job.cellCount += binCounts.data[f];
  }
  job.jointBins = arguments.integer(7, 0, 1) == 1;
  Limb* result = arguments.output(8, context.elementLimbs(), checkedProduct(job.cellCount, job.perInstance));
  const std::size_t threads = arguments.threads(9);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    histogram(context, job, result, threads);
    return -1LL;
  });
}

// The arrays of a running-sums call, copied and checked.
RunningSumsJob checkedRunningSums(const Arguments& arguments, Span<const Limb> source, std::size_t targetCount) {
  Chains chains = arguments.chains(2, source.length, targetCount);
  return {source.data, std::move(chains.offsets), std::move(chains.sources), std::move(chains.targets)};
}

// runningSums(context, source, chainOffsets, sources, targets, targetCount, result, threads)
napi_value runningSumsCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  const Span<const Limb> source = arguments.elements(1, context.elementLimbs(), owner);
  const std::size_t targetCount = arguments.integer(5, 0, std::size_t{1} << 31);
  Limb* result = arguments.output(6, context.elementLimbs(), targetCount);
  const RunningSumsJob job = checkedRunningSums(arguments, source, targetCount);
  const std::size_t threads = arguments.threads(7);
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    runningSums(context, job, result, threads);
    return -1LL;
  });
}

// pack(context, source, strideBits, perCiphertext, bases, baseBytes, result, threads)
napi_value packCall(const Arguments& arguments) {
  const PublicContext& context = publicContext(arguments);
  std::shared_ptr<Limbs> owner;
  const Span<const Limb> source = arguments.elements(1, context.elementLimbs(), owner);
  const std::size_t strideBits = arguments.integer(2, 1, 1 << 20);
  const std::size_t perCiphertext = arguments.integer(3, 1, 1 << 20);
  const FlatInput bases = arguments.flat(4, 8 * context.limbsOfN);
  const std::size_t results = (source.length + perCiphertext - 1) / perCiphertext;
  check(bases.count == results, "every packed ciphertext has a base");
  Limb* result = arguments.output(6, context.elementLimbs(), results);
  const std::size_t threads = arguments.threads(7);
  const PackJob job{source.data, source.length, strideBits, perCiphertext};
  return startTask(arguments.env(), arguments.keepAlive(), [=, &context] {
    (void)owner;
    return pack(context, job, bases, result, threads);
  });
}

// encrypt(context, plaintexts, plaintextBytes, exponentsP, exponentsQ, exponentBytes, result, resultBytes, threads)
napi_value encryptCall(const Arguments& arguments) {
  PrivateContext& context = *static_cast<PrivateContext*>(arguments.external(0, kPrivateTag));
  const FlatInput plaintexts = arguments.flat(1, context.plaintextBytesMax());
  const std::size_t exponentBytes = arguments.integer(5, 1, context.primeBytes());
  const auto exponents = [&](std::size_t index) {
    const Span<std::uint8_t> span = arguments.bytes(index);
    check(span.length == checkedProduct(plaintexts.count, exponentBytes), "every plaintext has its exponents");
    return FlatInput{span.data, exponentBytes, plaintexts.count};
  };
  const FlatInput p = exponents(3);
  const FlatInput q = exponents(4);
  const Span<std::uint8_t> result = arguments.bytes(6);
  const std::size_t resultBytes = arguments.integer(7, 1, context.ciphertextBytesMax());
  check(result.length == checkedProduct(plaintexts.count, resultBytes), "a result has the wrong size");
  const std::size_t threads = arguments.threads(8);
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=, &context] { return context.encrypt(plaintexts, p, q, result.data, resultBytes, threads); });
}

// decrypt(context, ciphertexts, ciphertextBytes, result, resultBytes, threads)
napi_value decryptCall(const Arguments& arguments) {
  const PrivateContext& context = *static_cast<PrivateContext*>(arguments.external(0, kPrivateTag));
  const FlatInput ciphertexts = arguments.flat(1, context.ciphertextBytesMax());
  const Span<std::uint8_t> result = arguments.bytes(3);
  const std::size_t resultBytes = arguments.integer(4, 1, context.plaintextBytesMax());
  check(result.length == checkedProduct(ciphertexts.count, resultBytes), "a result has the wrong size");
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=, &context] { return context.decrypt(ciphertexts, result.data, resultBytes, threads); });
}

// nthRoots(context, values, valueBytes, exponentP, exponentQ, result, resultBytes, threads)
napi_value nthRootsCall(const Arguments& arguments) {
  const PrivateContext& context = *static_cast<const PrivateContext*>(arguments.external(0, kPrivateTag));
  const FlatInput values = arguments.flat(1, context.plaintextBytesMax());
  const auto exponent = [&](std::size_t index) {
    const Span<std::uint8_t> span = arguments.bytes(index);
    check(span.length == context.primeBytes(), "an exponent has the prime's size");
    return Exponent(span.data, span.length, ExponentKind::kSecret);
  };
  const Exponent p = exponent(3);
  const Exponent q = exponent(4);
  const Span<std::uint8_t> result = arguments.bytes(5);
  const std::size_t resultBytes = arguments.integer(6, 1, context.plaintextBytesMax());
  check(result.length == checkedProduct(values.count, resultBytes), "a result has the wrong size");
  const std::size_t threads = arguments.threads(7);
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=, &context] { return context.nthRoots(values, p, q, result.data, resultBytes, threads); });
}

// peel(keys, nodeTrees, memberOffsets, members, treeBits, equations, sums, words, possible, milliseconds)
napi_value peelCall(const Arguments& arguments) {
  PeelInput input;
  const Span<double> keys = arguments.float64s(0);
  const Span<std::uint32_t> nodeTrees = arguments.uint32s(1);
  const Span<std::uint32_t> offsets = arguments.uint32s(2);
  const Span<std::uint32_t> members = arguments.uint32s(3);
  const Span<double> treeBits = arguments.float64s(4);
  const Span<std::uint32_t> equations = arguments.uint32s(5);
  const Span<double> sums = arguments.float64s(6);
  input.words = arguments.integer(7, 1, 1024);
  const Span<std::uint32_t> possible = arguments.uint32s(8);
  check(possible.length % input.words == 0, "every instance has the same number of words");
  input.instances = possible.length / input.words;
  check(keys.length == checkedProduct(treeBits.length, input.instances), "every instance has a key per tree");
  input.nodes = nodeTrees.length;
  check(offsets.length == input.nodes + 1 && offsets.data[0] == 0 && offsets.data[input.nodes] == members.length,
        "every node has its members");
  for (std::size_t i = 0; i < input.nodes; i++) {
    check(nodeTrees.data[i] < treeBits.length && offsets.data[i] <= offsets.data[i + 1], "a node is out of bounds");
  }
  for (std::size_t i = 0; i < members.length; i++)
    check(members.data[i] < input.instances, "a member is out of bounds");
  input.equationCount = sums.length;
  check(equations.length == checkedProduct(sums.length, 2 + input.words), "an equation has the wrong size");
  for (std::size_t q = 0; q < sums.length; q++) {
    check(equations.data[q * (2 + input.words)] < input.nodes, "an equation's node is out of bounds");
  }
  input.keys = keys.data;
  input.nodeTrees = nodeTrees.data;
  input.memberOffsets = offsets.data;
  input.members = members.data;
  input.treeBits = treeBits.data;
  input.equations = equations.data;
  input.sums = sums.data;
  input.possible = possible.data;
  input.seconds = static_cast<double>(arguments.integer(9, 0, kCountMax)) / 1000;
  return startTask(arguments.env(), arguments.keepAlive(), [=] { return peel(input); });
}

// plainHistogram(columns[], selected, bins[], binCounts, result, threads)
napi_value plainHistogramCall(const Arguments& arguments) {
  PlainHistogramJob job{};
  const std::vector<Span<double>> columns = arguments.float64Arrays(0);
  check(!columns.empty() && columns.size() <= 65536, "there are columns to sum");
  job.rowCount = columns[0].length;
  for (const Span<double>& column : columns) {
    check(column.length == job.rowCount, "columns have the same length");
    job.columns.push_back(column.data);
  }
  const Span<std::uint32_t> selected = arguments.uint32s(1);
  job.selected = selected.data;
  job.selectedCount = selected.length;
  const std::vector<Span<std::uint16_t>> bins = arguments.uint16Arrays(2);
  const Span<std::uint32_t> binCounts = arguments.uint32s(3);
  check(bins.size() == binCounts.length, "every feature has bins and their count");
  std::size_t rows = 0;
  for (std::size_t f = 0; f < bins.size(); f++) {
    check(bins[f].length >= job.rowCount, "every row has a bin");
    check(binCounts.data[f] <= 65536, "a bin fits 16 bits");
    job.features.push_back({bins[f].data, binCounts.data[f], rows});
    rows += binCounts.data[f];
  }
  const Span<double> result = arguments.float64s(4);
  check(result.length == checkedProduct(rows, job.columns.size() + 1), "a result has the wrong size");
  const std::size_t threads = arguments.threads(5);
  return startTask(arguments.env(), arguments.keepAlive(), [=] { return plainHistogram(job, result.data, threads); });
}

// A path, as bytes.
std::string checkedPath(const Arguments& arguments, std::size_t index) {
  const Span<std::uint8_t> bytes = arguments.bytes(index);
  const std::string path(bytes.data, bytes.data + bytes.length);
  check(!path.empty() && path.find('\0') == std::string::npos, "a path is a text without zeros");
  return path;
}

// writeFileDurably(temporary, path, folder, contents, mode)
napi_value writeFileDurablyCall(const Arguments& arguments) {
  const std::string temporary = checkedPath(arguments, 0);
  const std::string path = checkedPath(arguments, 1);
  const std::string folder = checkedPath(arguments, 2);
  const Span<std::uint8_t> contents = arguments.bytes(3);
  const unsigned mode = static_cast<unsigned>(arguments.integer(4, 0, 0777));
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=] { return writeFileDurably(temporary, path, folder, contents.data, contents.length, mode); });
}

// appendFileDurably(path, folder, contents, mode)
napi_value appendFileDurablyCall(const Arguments& arguments) {
  const std::string path = checkedPath(arguments, 0);
  const std::string folder = checkedPath(arguments, 1);
  const Span<std::uint8_t> contents = arguments.bytes(2);
  const unsigned mode = static_cast<unsigned>(arguments.integer(3, 0, 0777));
  return startTask(arguments.env(), arguments.keepAlive(),
                   [=] { return appendFileDurably(path, folder, contents.data, contents.length, mode); });
}

// plainSeparation(scores, labels, positives, negatives, result)
napi_value plainSeparationCall(const Arguments& arguments) {
  const Span<double> scores = arguments.float64s(0);
  const Span<double> labels = arguments.float64s(1);
  const Span<double> positives = arguments.float64s(2);
  const Span<double> negatives = arguments.float64s(3);
  const Span<double> result = arguments.float64s(4);
  check(labels.length == scores.length, "every score has a label");
  check(result.length == 2, "a result has the wrong size");
  return startTask(arguments.env(), arguments.keepAlive(), [=] {
    Separation found{};
    const long long refused = plainSeparation(scores.data, labels.data, scores.length, positives.data, positives.length,
                                              negatives.data, negatives.length, found);
    result.data[0] = found.auc;
    result.data[1] = found.ks;
    return refused;
  });
}

}  // namespace

}  // namespace tandem

NAPI_MODULE_INIT() {
  using namespace tandem;
  const Entry entries[] = {
      {"kernels", guarded<kernels, 0>},
      {"createPublic", guarded<createPublic, 2>},
      {"createPrivate", guarded<createPrivate, 10>},
      {"load", guarded<loadCall, 6>},
      {"unload", guarded<unloadCall, 5>},
      {"multiply", guarded<multiplyCall, 5>},
      {"firstNonUnit", guarded<firstNonUnitCall, 3>},
      {"raise", guarded<raiseCall, 6>},
      {"nthPowers", guarded<nthPowersCall, 5>},
      {"seal", guarded<sealCall, 6>},
      {"histogram", guarded<histogramCall, 10>},
      {"runningSums", guarded<runningSumsCall, 8>},
      {"pack", guarded<packCall, 8>},
      {"encrypt", guarded<encryptCall, 9>},
      {"decrypt", guarded<decryptCall, 6>},
      {"nthRoots", guarded<nthRootsCall, 8>},
      {"peel", guarded<peelCall, 10>},
      {"writeFileDurably", guarded<writeFileDurablyCall, 5>},
      {"appendFileDurably", guarded<appendFileDurablyCall, 4>},
      {"plainHistogram", guarded<plainHistogramCall, 6>},
      {"plainSeparation", guarded<plainSeparationCall, 5>},
  };
  for (const Entry& entry : entries) exportEntry(env, exports, entry);
  for (const Entry& entry : rowEntries()) exportEntry(env, exports, entry);
  for (const Entry& entry : latticeEntries()) exportEntry(env, exports, entry);
  for (const Entry& entry : curveEntries()) exportEntry(env, exports, entry);
  for (const Entry& entry : dataEntries()) exportEntry(env, exports, entry);
  for (const Entry& entry : maximumEntries()) exportEntry(env, exports, entry);
  return exports;
}
