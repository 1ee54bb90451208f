// Products of numbers with another party's bits by correlated transfers, as src/crypto/transfer/product-kernel.ts
// describes them.
//
// A column is held in whole blocks: a word for every 32 rows, zeros up to a whole block, and the block of the mask. In
// a matrix, as it is sent, there are no such zeros.
#pragma once

#include <memory>
#include <vector>

#include "kernel.h"

namespace tandem {
namespace maximum {

// Streams of keys, one for each column, or two: then all first ones stand before all second ones.
struct ColumnKeys {
  const Kernel* kernel;
  std::vector<std::unique_ptr<AesKey>> keys;
};

// Where columns are in their streams, and how many words of rows each has.
struct Piece {
  std::uint64_t batch;
  std::uint32_t block;
  std::size_t rowWords;

  std::size_t heldBlocks() const { return (rowWords + kWordsPerBlock - 1) / kWordsPerBlock + 1; }
  std::size_t sentWords() const { return rowWords + kWordsPerBlock; }
};

// The receiver's columns, those of the first keys, and the matrix: both streams of each column with the choices.
void receiverPiece(const ColumnKeys& pairs, const Piece& piece, const std::uint32_t* choices, std::uint32_t* columns,
                   std::uint8_t* matrix);
// The sender's columns: streams, with the matrix's column where the bit of the secret is set.
void senderPiece(const ColumnKeys& keys, const Piece& piece, const std::uint32_t* secret, const std::uint8_t* matrix,
                 std::uint32_t* columns);

// Rows of held columns, and the number of the first one in its batch.
struct ColumnRows {
  const std::uint32_t* columns;
  std::size_t heldBlocks;
  std::size_t count;
  std::uint64_t batch;
  std::uint32_t first;
};

// `width` words of each row's hash.
void hashedRows(const Kernel& kernel, const ColumnRows& rows, std::size_t width, std::uint32_t* result);

// Integers of `limbs` words, those of a transfer side by side in `width` words.
struct IntegerShape {
  std::size_t width;
  std::size_t limbs;
};

// Corrections: values, plus the hash of each row, minus that of the row with the secret. Kept: minus the former hash.
void correctedValues(const Kernel& kernel, const ColumnRows& rows, const std::uint32_t* secret, IntegerShape shape,
                     const std::uint32_t* values, std::uint8_t* corrections, std::uint32_t* kept);
// Adds the given integers of transfers whose bit is 1 to the shares.
void addChosen(const std::uint8_t* bits, std::size_t count, IntegerShape shape, const std::uint8_t* given,
               std::uint32_t* shares);

}  // namespace maximum
}  // namespace tandem
