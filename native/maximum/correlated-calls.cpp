// See correlated-calls.h.
#define NAPI_VERSION 8
#include "correlated-calls.h"

#include "context.h"
#include "correlated.h"

namespace tandem {

namespace {

using maximum::ColumnKeys;
using maximum::ColumnRows;
using maximum::IntegerShape;
using maximum::kBlockBytes;
using maximum::kColumns;
using maximum::kWordsPerBlock;
using maximum::Piece;

constexpr napi_type_tag kColumnKeysTag = {0x74616e64656d000c, 0x2f6d3b90c5e8714a};
constexpr std::size_t kRowWordsMax = 1 << 16;
constexpr std::size_t kWidthMax = 1 << 16;

// createColumnKeys(context, keys): 128 of them, or 256.
napi_value createKeysCall(const Arguments& arguments) {
  auto made = std::make_unique<ColumnKeys>();
  made->kernel = &kernelAt(arguments, 0);
  const Span<std::uint8_t> keys = arguments.bytes(1);
  check(keys.length == kBlockBytes * kColumns || keys.length == 2 * kBlockBytes * kColumns,
        "one key for each column, or two");
  made->keys.reserve(keys.length / kBlockBytes);
  for (std::size_t i = 0; i < keys.length; i += kBlockBytes)
    made->keys.push_back(std::make_unique<maximum::AesKey>(keys.data + i, kBlockBytes));
  return wrapExternal(arguments.env(), std::move(made), kColumnKeysTag);
}

const ColumnKeys& keysAt(const Arguments& arguments, std::size_t index, std::size_t count) {
  const ColumnKeys& keys = *static_cast<const ColumnKeys*>(arguments.external(index, kColumnKeysTag));
  check(keys.keys.size() == count, "keys of the other role");
  return keys;
}

// A place, then how many words of rows each column has: from argument `index` on.
Piece pieceAt(const Arguments& arguments, std::size_t index) {
  const Span<std::uint32_t> place = arguments.uint32s(index);
  const std::uint64_t batch = batchOf(place);
  return {batch, place.data[0], arguments.integer(index + 1, 1, kRowWordsMax)};
}

std::size_t heldWords(const Piece& piece) { return kWordsPerBlock * piece.heldBlocks(); }
std::size_t matrixBytes(const Piece& piece) { return 4 * kColumns * piece.sentWords(); }

// correlatedMatrix(keys, place, rowWords, choices, columns, matrix)
napi_value matrixCall(const Arguments& arguments) {
  const ColumnKeys& keys = keysAt(arguments, 0, 2 * kColumns);
  const Piece piece = pieceAt(arguments, 1);
  const Span<std::uint32_t> choices = arguments.uint32s(3);
  const Span<std::uint32_t> columns = arguments.uint32s(4);
  const Span<std::uint8_t> matrix = arguments.bytes(5);
  check(choices.length == heldWords(piece) && columns.length == kColumns * heldWords(piece) &&
            matrix.length == matrixBytes(piece),
        "choices, columns and matrix of the same rows");
  maximum::receiverPiece(keys, piece, choices.data, columns.data, matrix.data);
  return undefinedOf(arguments);
}

// correlatedColumns(keys, place, rowWords, secret, matrix, columns)
napi_value columnsCall(const Arguments& arguments) {
  const ColumnKeys& keys = keysAt(arguments, 0, kColumns);
  const Piece piece = pieceAt(arguments, 1);
  const Span<std::uint32_t> secret = arguments.uint32s(3);
  const Span<std::uint8_t> matrix = arguments.bytes(4);
  const Span<std::uint32_t> columns = arguments.uint32s(5);
  check(secret.length == kWordsPerBlock && columns.length == kColumns * heldWords(piece) &&
            matrix.length == matrixBytes(piece),
        "secret, matrix and columns of the same rows");
  maximum::senderPiece(keys, piece, secret.data, matrix.data, columns.data);
  return undefinedOf(arguments);
}

// Held columns, a place and a number of rows: from argument `index` on.
ColumnRows rowsAt(const Arguments& arguments, std::size_t index) {
  const Span<std::uint32_t> columns = arguments.uint32s(index);
  const Span<std::uint32_t> place = arguments.uint32s(index + 1);
  const std::size_t count = arguments.integer(index + 2, 1, 32 * kRowWordsMax);
  const std::size_t heldBlocks = (count + kColumns - 1) / kColumns + 1;
  check(columns.length == kColumns * kWordsPerBlock * heldBlocks, "columns of these rows");
  const std::uint64_t batch = batchOf(place);
  return {columns.data, heldBlocks, count, batch, place.data[0]};
}

IntegerShape shapeAt(const Arguments& arguments, std::size_t index) {
  const std::size_t width = arguments.integer(index, 1, kWidthMax);
  const std::size_t limbs = arguments.integer(index + 1, 1, width);
  check(width % limbs == 0, "whole integers");
  return {width, limbs};
}

// correlatedHashes(context, columns, place, count, width, result)
napi_value hashesCall(const Arguments& arguments) {
  const maximum::Kernel& kernel = kernelAt(arguments, 0);
  const ColumnRows rows = rowsAt(arguments, 1);
  const std::size_t width = arguments.integer(4, 1, kWidthMax);
  const Span<std::uint32_t> result = arguments.uint32s(5);
  check(result.length == checkedProduct(rows.count, width), "a hash for every row");
  maximum::hashedRows(kernel, rows, width, result.data);
  return undefinedOf(arguments);
}

// correlatedCorrections(context, columns, place, count, secret, width, limbs, values, corrections, kept)
napi_value correctionsCall(const Arguments& arguments) {
  const maximum::Kernel& kernel = kernelAt(arguments, 0);
  const ColumnRows rows = rowsAt(arguments, 1);
  const Span<std::uint32_t> secret = arguments.uint32s(4);
  const IntegerShape shape = shapeAt(arguments, 5);
  const Span<std::uint32_t> values = arguments.uint32s(7);
  const Span<std::uint8_t> corrections = arguments.bytes(8);
  const Span<std::uint32_t> kept = arguments.uint32s(9);
  check(secret.length == kWordsPerBlock && values.length == checkedProduct(rows.count, shape.width) &&
            corrections.length == 4 * values.length && kept.length == values.length,
        "a value for every transfer");
  maximum::correctedValues(kernel, rows, secret.data, shape, values.data, corrections.data, kept.data);
  return undefinedOf(arguments);
}

// correlatedAddChosen(bits, width, limbs, corrections, shares)
napi_value addChosenCall(const Arguments& arguments) {
  const Span<std::uint8_t> bits = arguments.bytes(0);
  const IntegerShape shape = shapeAt(arguments, 1);
  const Span<std::uint8_t> corrections = arguments.bytes(3);
  const Span<std::uint32_t> shares = arguments.uint32s(4);
  check(shares.length == checkedProduct(bits.length, shape.width) && corrections.length == 4 * shares.length,
        "a bit for every transfer");
  maximum::addChosen(bits.data, bits.length, shape, corrections.data, shares.data);
  return undefinedOf(arguments);
}

}  // namespace

std::vector<Entry> correlatedEntries() {
  return {{"createColumnKeys", guarded<createKeysCall, 2>},        {"correlatedMatrix", guarded<matrixCall, 6>},
          {"correlatedColumns", guarded<columnsCall, 6>},          {"correlatedHashes", guarded<hashesCall, 6>},
          {"correlatedCorrections", guarded<correctionsCall, 10>}, {"correlatedAddChosen", guarded<addChosenCall, 5>}};
}

}  // namespace tandem
