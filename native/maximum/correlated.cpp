// See correlated.h. The hash of rows is that of src/crypto/transfer/block-cipher.ts.
#include "correlated.h"

#include <algorithm>
#include <cstring>

#include "permutation.h"
#include "transposition.h"

namespace tandem {
namespace maximum {

namespace {

using lattice::Array;

std::uint8_t* bytesOf(std::uint32_t* words) { return reinterpret_cast<std::uint8_t*>(words); }

std::vector<std::uint32_t> countersOf(const Piece& piece) {
  std::vector<std::uint32_t> counters(kWordsPerBlock * piece.heldBlocks());
  for (std::size_t i = 0; i < piece.heldBlocks(); i++) {
    counters[kWordsPerBlock * i] = static_cast<std::uint32_t>(piece.block + i);
    counters[kWordsPerBlock * i + 2] = static_cast<std::uint32_t>(piece.batch);
    counters[kWordsPerBlock * i + 3] = static_cast<std::uint32_t>(piece.batch >> 32);
  }
  return counters;
}

// A stream, as a held column.
void stream(const Kernel& kernel, const AesKey& key, const Piece& piece, const std::vector<std::uint32_t>& counters,
            std::uint32_t* column) {
  std::memcpy(column, counters.data(), 4 * counters.size());
  kernel.encrypt(key, bytesOf(column), piece.heldBlocks());
  if (piece.rowWords % kWordsPerBlock == 0) return;
  const std::size_t padded = kWordsPerBlock * (piece.heldBlocks() - 1);
  std::memmove(column + padded, column + piece.rowWords, kBlockBytes);
  std::memset(column + piece.rowWords, 0, 4 * (padded - piece.rowWords));
}

// Exchanges 128 rows: `count` of them from row 128 * block on.
void transposedBlock(const ColumnRows& rows, std::size_t block, Block* square) {
  const std::size_t stride = kWordsPerBlock * rows.heldBlocks;
  for (std::size_t column = 0; column < kColumns; column++)
    std::memcpy(&square[column], rows.columns + column * stride + kWordsPerBlock * block, kBlockBytes);
  transpose(square);
}

// Hashes of 128 rows, of which pi is `inner`: block after block of output, rows side by side.
void outerHashes(const Kernel& kernel, const Block* inner, std::uint64_t batch, std::uint32_t first,
                 std::size_t outputBlocks, Block* result) {
  for (std::size_t output = 0; output < outputBlocks; output++, result += kColumns) {
    for (std::size_t i = 0; i < kColumns; i++) {
      const std::uint64_t transfer = static_cast<std::uint32_t>(first + i);
      const Block tweak = {static_cast<std::uint64_t>(output) << 32 | transfer, batch};
      result[i] = inner[i] ^ tweak;
    }
    kernel.encrypt(permutation(), reinterpret_cast<std::uint8_t*>(result), kColumns);
    for (std::size_t i = 0; i < kColumns; i++) result[i] ^= inner[i];
  }
}

std::uint32_t wordOf(const Block* hashes, std::size_t row, std::size_t word) {
  const std::uint64_t half = hashes[kColumns * (word / kWordsPerBlock) + row][word % kWordsPerBlock / 2];
  return static_cast<std::uint32_t>(half >> 32 * (word % 2));
}

// Of one row: the words of its integers.
struct RowWords {
  const std::uint32_t* value;
  std::uint8_t* correction;
  std::uint32_t* kept;
};

void correctedRow(const Block* own, const Block* other, std::size_t row, IntegerShape shape, RowWords words) {
  for (std::size_t at = 0; at < shape.width; at += shape.limbs) {
    std::uint64_t carry = 0;  // of the value plus its own hash
    std::uint64_t borrow = 0;
    std::uint64_t negative = 0;
    for (std::size_t w = at; w < at + shape.limbs; w++) {
      const std::uint64_t hash = wordOf(own, row, w);
      const std::uint64_t sum = words.value[w] + hash + carry;
      carry = sum >> 32;
      const std::uint64_t difference = (sum & 0xffffffff) - wordOf(other, row, w) - borrow;
      borrow = difference >> 63;
      const std::uint32_t correction = static_cast<std::uint32_t>(difference);
      std::memcpy(words.correction + 4 * w, &correction, sizeof correction);
      const std::uint64_t minus = 0 - hash - negative;
      negative = minus >> 63;
      words.kept[w] = static_cast<std::uint32_t>(minus);
    }
  }
}

// The same of integers of 64 bits, one in a row: the usual shape.
void correctedPair(const Block* own, const Block* other, std::size_t row, RowWords words) {
  std::uint64_t value;
  std::memcpy(&value, words.value, sizeof value);
  value += own[row][0] - other[row][0];
  std::memcpy(words.correction, &value, sizeof value);
  const std::uint64_t minus = 0 - own[row][0];
  std::memcpy(words.kept, &minus, sizeof minus);
}

}  // namespace

void receiverPiece(const ColumnKeys& pairs, const Piece& piece, const std::uint32_t* choices, std::uint32_t* columns,
                   std::uint8_t* matrix) {
  const std::vector<std::uint32_t> counters = countersOf(piece);
  const std::size_t padded = counters.size() - kWordsPerBlock;
  Array<std::uint32_t> sent(counters.size());
  for (std::size_t j = 0; j < kColumns; j++, columns += counters.size()) {
    stream(*pairs.kernel, *pairs.keys[j], piece, counters, columns);
    stream(*pairs.kernel, *pairs.keys[kColumns + j], piece, counters, sent.data());
    for (std::size_t w = 0; w < sent.size(); w++) sent[w] ^= columns[w] ^ choices[w];
    std::memcpy(matrix, sent.data(), 4 * piece.rowWords);
    std::memcpy(matrix + 4 * piece.rowWords, &sent[padded], kBlockBytes);
    matrix += 4 * piece.sentWords();
  }
}

void senderPiece(const ColumnKeys& keys, const Piece& piece, const std::uint32_t* secret, const std::uint8_t* matrix,
                 std::uint32_t* columns) {
  const std::vector<std::uint32_t> counters = countersOf(piece);
  const std::size_t padded = counters.size() - kWordsPerBlock;
  std::vector<std::uint32_t> sent(counters.size());  // zeros stay between the rows and the mask
  for (std::size_t j = 0; j < kColumns; j++, columns += counters.size()) {
    stream(*keys.kernel, *keys.keys[j], piece, counters, columns);
    std::memcpy(sent.data(), matrix, 4 * piece.rowWords);
    std::memcpy(&sent[padded], matrix + 4 * piece.rowWords, kBlockBytes);
    const std::uint32_t mask = 0 - ((secret[j / 32] >> (j % 32)) & 1);
    for (std::size_t w = 0; w < sent.size(); w++) columns[w] ^= sent[w] & mask;
    matrix += 4 * piece.sentWords();
  }
}

void hashedRows(const Kernel& kernel, const ColumnRows& rows, std::size_t width, std::uint32_t* result) {
  const std::size_t outputBlocks = (width + kWordsPerBlock - 1) / kWordsPerBlock;
  Array<Block> square(kColumns);
  Array<Block> hashes(kColumns * outputBlocks);
  for (std::size_t first = 0; first < rows.count; first += kColumns) {
    transposedBlock(rows, first / kColumns, square.data());
    kernel.encrypt(permutation(), reinterpret_cast<std::uint8_t*>(square.data()), kColumns);
    outerHashes(kernel, square.data(), rows.batch, static_cast<std::uint32_t>(rows.first + first), outputBlocks,
                hashes.data());
    const std::size_t count = std::min(kColumns, rows.count - first);
    for (std::size_t i = 0; i < count; i++, result += width)
      for (std::size_t w = 0; w < width; w++) result[w] = wordOf(hashes.data(), i, w);
  }
}

void correctedValues(const Kernel& kernel, const ColumnRows& rows, const std::uint32_t* secret, IntegerShape shape,
                     const std::uint32_t* values, std::uint8_t* corrections, std::uint32_t* kept) {
  const std::size_t outputBlocks = (shape.width + kWordsPerBlock - 1) / kWordsPerBlock;
  Array<Block> inner(2 * kColumns);
  Array<Block> own(kColumns * outputBlocks);
  Array<Block> other(kColumns * outputBlocks);
  Block added;
  std::memcpy(&added, secret, sizeof added);
  RowWords words{values, corrections, kept};
  for (std::size_t first = 0; first < rows.count; first += kColumns) {
    transposedBlock(rows, first / kColumns, inner.data());
    for (std::size_t i = 0; i < kColumns; i++) inner[kColumns + i] = inner[i] ^ added;
    kernel.encrypt(permutation(), reinterpret_cast<std::uint8_t*>(inner.data()), 2 * kColumns);
    const std::uint32_t transfer = static_cast<std::uint32_t>(rows.first + first);
    outerHashes(kernel, inner.data(), rows.batch, transfer, outputBlocks, own.data());
    outerHashes(kernel, inner.data() + kColumns, rows.batch, transfer, outputBlocks, other.data());
    const std::size_t count = std::min(kColumns, rows.count - first);
    for (std::size_t i = 0; i < count; i++) {
      if (shape.width == 2 && shape.limbs == 2) {
        correctedPair(own.data(), other.data(), i, words);
      } else {
        correctedRow(own.data(), other.data(), i, shape, words);
      }
      words.value += shape.width;
      words.correction += 4 * shape.width;
      words.kept += shape.width;
    }
  }
}

void addChosen(const std::uint8_t* bits, std::size_t count, IntegerShape shape, const std::uint8_t* given,
               std::uint32_t* shares) {
  for (std::size_t i = 0; i < count; i++) {
    const std::uint32_t mask = 0 - static_cast<std::uint32_t>(bits[i] & 1);
    for (std::size_t integer = 0; integer < shape.width; integer += shape.limbs) {
      std::uint64_t carry = 0;
      for (std::size_t limb = 0; limb < shape.limbs; limb++, given += 4, shares++) {
        std::uint32_t more;
        std::memcpy(&more, given, sizeof more);
        const std::uint64_t sum = std::uint64_t{*shares} + (more & mask) + carry;
        carry = sum >> 32;
        *shares = static_cast<std::uint32_t>(sum);
      }
    }
  }
}

}  // namespace maximum
}  // namespace tandem
