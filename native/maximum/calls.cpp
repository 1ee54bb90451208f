// See calls.h.
#define NAPI_VERSION 8
#include "calls.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "../arguments.h"
#include "context.h"
#include "correlated-calls.h"
#include "extension.h"
#include "products.h"

namespace tandem {

namespace {

using maximum::kBlockBytes;
using maximum::kColumns;
using maximum::Kernel;
using maximum::KernelName;
using maximum::kWordsPerBlock;
using maximum::Leaves;

constexpr napi_type_tag kLeavesTag = {0x74616e64656d000b, 0x2f6d3b90c5e8714a};
constexpr std::size_t kBlocksMax = 1 << 16;

struct NamedKernel {
  KernelName kernel;
  const char* name;
};
// Best first.
constexpr NamedKernel kKernels[] = {
    {KernelName::kVaes, "vaes"}, {KernelName::kAesni, "aesni"}, {KernelName::kScalar, "scalar"}};

// maximumKernels(): the names of those that this processor can run, best first.
napi_value kernelsCall(const Arguments& arguments) {
  napi_value names = nullptr;
  require(arguments.env(), napi_create_array(arguments.env(), &names));
  std::uint32_t count = 0;
  for (const NamedKernel& entry : kKernels) {
    if (!maximum::isAvailable(entry.kernel)) continue;
    napi_value name = nullptr;
    require(arguments.env(), napi_create_string_utf8(arguments.env(), entry.name, NAPI_AUTO_LENGTH, &name));
    require(arguments.env(), napi_set_element(arguments.env(), names, count++, name));
  }
  return names;
}

// createMaximum(kernel)
napi_value createCall(const Arguments& arguments) {
  const std::string name = arguments.text(0);
  for (const NamedKernel& entry : kKernels) {
    if (name != entry.name || !maximum::isAvailable(entry.kernel)) continue;
    auto context = std::make_unique<MaximumContext>(MaximumContext{&maximum::kernelOf(entry.kernel)});
    return wrapExternal(arguments.env(), std::move(context), kMaximumTag);
  }
  throw std::invalid_argument("this processor has no such kernel");
}

// createMaximumLeaves(context, keys, treeCount, hasMissing): keys of all leaves, tree after tree.
napi_value createLeavesCall(const Arguments& arguments) {
  auto leaves = std::make_unique<Leaves>();
  leaves->kernel = &kernelAt(arguments, 0);
  const Span<std::uint8_t> keys = arguments.bytes(1);
  leaves->treeCount = arguments.integer(2, 1, kColumns);
  leaves->hasMissing = arguments.integer(3, 0, 1) == 1;
  check(keys.length % (kBlockBytes * leaves->treeCount) == 0, "every leaf has a key");
  leaves->leafCount = keys.length / (kBlockBytes * leaves->treeCount);
  while ((std::size_t{1} << leaves->depth) < leaves->leafCount) leaves->depth++;
  check(leaves->leafCount == std::size_t{1} << leaves->depth && leaves->depth >= 1 && leaves->depth <= 8,
        "a tree has 2 to 256 leaves");
  check(leaves->depth * leaves->treeCount == kColumns, "trees have a column for each bit");
  leaves->keys.reserve(keys.length / kBlockBytes);
  for (std::size_t i = 0; i < keys.length; i += kBlockBytes)
    leaves->keys.push_back(std::make_unique<maximum::AesKey>(keys.data + i, kBlockBytes));
  return wrapExternal(arguments.env(), std::move(leaves), kLeavesTag);
}

// maximumFold(leaves, place, columns, sums, threads): the place is a block and the batch.
napi_value foldCall(const Arguments& arguments) {
  const Leaves& leaves = *static_cast<const Leaves*>(arguments.external(0, kLeavesTag));
  const Span<std::uint32_t> place = arguments.uint32s(1);
  const maximum::StreamPlace at{batchOf(place), place.data[0]};
  const Span<std::uint32_t> columns = arguments.uint32s(2);
  const Span<std::uint32_t> sums = arguments.uint32s(3);
  const std::size_t blocks = columns.length / (kColumns * kWordsPerBlock);
  check(blocks >= 1 && blocks <= kBlocksMax && columns.length == kColumns * kWordsPerBlock * blocks &&
            sums.length == leaves.treeCount * kWordsPerBlock * blocks,
        "columns of whole blocks");
  maximum::fold(leaves, at, blocks, columns.data, sums.data, arguments.threads(4));
  return undefinedOf(arguments);
}

// maximumColumnHashes(context, point, columns, blockCount, result)
napi_value columnHashesCall(const Arguments& arguments) {
  const Kernel& kernel = kernelAt(arguments, 0);
  const Span<std::uint8_t> point = arguments.bytes(1);
  const Span<std::uint32_t> columns = arguments.uint32s(2);
  const std::size_t blocks = arguments.integer(3, 1, kBlocksMax);
  const Span<std::uint32_t> result = arguments.uint32s(4);
  const std::size_t count = columns.length / (kWordsPerBlock * blocks);
  check(point.length >= kBlockBytes && columns.length == kWordsPerBlock * blocks * count &&
            result.length == kWordsPerBlock * count,
        "a hash for every column");
  kernel.columnHashes(point.data, columns.data, blocks, count, result.data);
  return undefinedOf(arguments);
}

// maximumRows(columns, result, threads)
napi_value rowsCall(const Arguments& arguments) {
  const Span<std::uint32_t> columns = arguments.uint32s(0);
  const Span<std::uint32_t> result = arguments.uint32s(1);
  const std::size_t blocks = columns.length / (kColumns * kWordsPerBlock);
  check(blocks >= 1 && columns.length == kColumns * kWordsPerBlock * blocks &&
            result.length == columns.length - kColumns * kWordsPerBlock,
        "a row for every bit of a column");
  maximum::rows(columns.data, blocks, result.data, arguments.threads(2));
  return undefinedOf(arguments);
}

maximum::Rows rowsAt(const Arguments& arguments, std::size_t index) {
  const Span<std::uint32_t> words = arguments.uint32s(index);
  const Span<std::uint32_t> place = arguments.uint32s(index + 1);
  check(words.length % kWordsPerBlock == 0, "whole rows");
  const std::uint64_t batch = batchOf(place);
  return {words.data, words.length / kWordsPerBlock, place.data[0], batch};
}

// maximumHashWords(context, rows, place, added, result, threads): `added` has four words, or none.
napi_value hashWordsCall(const Arguments& arguments) {
  const Kernel& kernel = kernelAt(arguments, 0);
  const maximum::Rows rows = rowsAt(arguments, 1);
  const Span<std::uint32_t> added = arguments.uint32s(3);
  const Span<std::uint32_t> result = arguments.uint32s(4);
  check((added.length == 0 || added.length == kWordsPerBlock) && result.length == rows.count, "a hash for every row");
  maximum::hashWords(kernel, rows, added.length == 0 ? nullptr : added.data, result.data, arguments.threads(5));
  return undefinedOf(arguments);
}

// Rows, their place, bits, factors and uses as one array after the other, widths: from argument 1 on.
maximum::Products productsOf(const Arguments& arguments) {
  maximum::Products products{};
  products.rows = rowsAt(arguments, 1);
  products.bits = arguments.integer(3, 1, 127);
  const Span<std::uint32_t> factors = arguments.uint32s(4);
  const Span<std::uint32_t> uses = arguments.uint32s(5);
  const Span<std::uint8_t> widths = arguments.bytes(6);
  products.count = factors.length;
  check(uses.length == products.count && widths.length == products.count, "a factor, use and width of every product");
  const std::size_t factorCount = products.rows.count / products.bits;
  check(products.rows.count == products.bits * factorCount, "a row for every bit of a factor");
  for (std::size_t i = 0; i < products.count; i++) {
    check(factors.data[i] < factorCount, "a product's factor is one of them");
    check(widths.data[i] >= 1 && widths.data[i] <= 127, "a product has 1 to 127 bits");
  }
  products.factors = factors.data;
  products.uses = uses.data;
  products.widths = widths.data;
  return products;
}

std::size_t messageBytes(const maximum::Products& products) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i < products.count; i++) bits += maximum::correctionBits(products.bits, products.widths[i]);
  return (bits + 7) / 8;
}

// maximumCorrections(context, rows, place, bits, factors, uses, widths, secret, numbers, message, held, threads)
napi_value correctionsCall(const Arguments& arguments) {
  const Kernel& kernel = kernelAt(arguments, 0);
  const maximum::Products products = productsOf(arguments);
  const Span<std::uint32_t> secret = arguments.uint32s(7);
  const Span<std::uint32_t> numbers = arguments.uint32s(8);
  const Span<std::uint8_t> message = arguments.bytes(9);
  const Span<std::uint32_t> held = arguments.uint32s(10);
  check(secret.length == kWordsPerBlock && numbers.length == kWordsPerBlock * products.count &&
            message.length == messageBytes(products) &&
            held.length == checkedProduct(kWordsPerBlock * products.bits, products.count),
        "numbers, corrections and hashes of every product");
  std::memset(message.data, 0, message.length);
  maximum::corrections(kernel, products, secret.data, numbers.data, message.data, held.data, arguments.threads(11));
  return undefinedOf(arguments);
}

// maximumSenderShares(context, rows, place, bits, factors, uses, widths, numbers, held, flips, result, threads)
napi_value senderSharesCall(const Arguments& arguments) {
  const maximum::Products products = productsOf(arguments);
  const Span<std::uint32_t> numbers = arguments.uint32s(7);
  const Span<std::uint32_t> held = arguments.uint32s(8);
  const Span<std::uint8_t> flips = arguments.bytes(9);
  const Span<std::uint32_t> result = arguments.uint32s(10);
  check(numbers.length == kWordsPerBlock * products.count && result.length == numbers.length &&
            held.length == checkedProduct(kWordsPerBlock * products.bits, products.count) &&
            flips.length == products.rows.count,
        "a number and a share of every product");
  maximum::senderShares(products, numbers.data, held.data, flips.data, result.data, arguments.threads(11));
  return undefinedOf(arguments);
}

// maximumReceiverShares(context, rows, place, bits, factors, uses, widths, choices, flips, message, result, threads)
napi_value receiverSharesCall(const Arguments& arguments) {
  const Kernel& kernel = kernelAt(arguments, 0);
  const maximum::Products products = productsOf(arguments);
  const Span<std::uint8_t> choices = arguments.bytes(7);
  const Span<std::uint8_t> flips = arguments.bytes(8);
  const Span<std::uint8_t> message = arguments.bytes(9);
  const Span<std::uint32_t> result = arguments.uint32s(10);
  check(choices.length == products.rows.count && flips.length == products.rows.count &&
            message.length == messageBytes(products) && result.length == kWordsPerBlock * products.count,
        "choices, flips and corrections of every product");
  maximum::receiverShares(kernel, products, choices.data, flips.data, message.data, message.length, result.data,
                          arguments.threads(11));
  return undefinedOf(arguments);
}

}  // namespace

std::vector<Entry> maximumEntries() {
  std::vector<Entry> entries = {{"maximumKernels", guarded<kernelsCall, 0>},
                                {"createMaximum", guarded<createCall, 1>},
                                {"createMaximumLeaves", guarded<createLeavesCall, 4>},
                                {"maximumFold", guarded<foldCall, 5>},
                                {"maximumColumnHashes", guarded<columnHashesCall, 5>},
                                {"maximumRows", guarded<rowsCall, 3>},
                                {"maximumHashWords", guarded<hashWordsCall, 6>},
                                {"maximumCorrections", guarded<correctionsCall, 12>},
                                {"maximumSenderShares", guarded<senderSharesCall, 12>},
                                {"maximumReceiverShares", guarded<receiverSharesCall, 12>}};
  for (const Entry& entry : correlatedEntries()) entries.push_back(entry);
  return entries;
}

}  // namespace tandem
