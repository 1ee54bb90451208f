// See extension.h.
#include "extension.h"

#include <cstring>

#include "../threads.h"
#include "transposition.h"

namespace tandem {
namespace maximum {

namespace {

// Blocks of each stream that are summed up at once, so that all sums of a tree stay in the nearest cache.
constexpr std::size_t kRunBlocks = 64;
constexpr std::size_t kRunWords = kRunBlocks * kBlockBytes / 8;
constexpr std::size_t kDepthMax = 8;

using Run = std::uint64_t[kRunWords];

void addTo(std::uint64_t* target, const std::uint64_t* values, std::size_t words) {
  Block* to = reinterpret_cast<Block*>(target);
  const Block* from = reinterpret_cast<const Block*>(values);
  for (std::size_t i = 0; i < words / 2; i++) to[i] ^= from[i];
}

void counters(StreamPlace place, std::size_t first, std::size_t count, std::uint8_t* blocks) {
  for (std::size_t i = 0; i < count; i++) {
    const std::uint64_t words[2] = {static_cast<std::uint32_t>(place.block + first + i), place.batch};
    std::memcpy(blocks + kBlockBytes * i, words, sizeof words);
  }
}

// Leaves are met in order: as soon as a right subtree is complete, its sum joins a plane and the left subtree's sum.
void foldRun(const Leaves& leaves, std::size_t tree, StreamPlace place, std::size_t first, std::size_t count,
             Run* planes, std::uint64_t* sum) {
  alignas(32) Run input;
  alignas(32) Run current;
  alignas(32) Run left[kDepthMax];
  const std::size_t words = count * kBlockBytes / 8;
  counters(place, first, count, reinterpret_cast<std::uint8_t*>(input));
  for (std::size_t bit = 0; bit < leaves.depth; bit++) std::memset(planes[bit], 0, 8 * words);
  for (std::size_t leaf = 0; leaf < leaves.leafCount; leaf++) {
    if (leaf == 0 && leaves.hasMissing) {
      std::memset(current, 0, 8 * words);
    } else {
      std::memcpy(current, input, 8 * words);
      leaves.kernel->encrypt(*leaves.keys[tree * leaves.leafCount + leaf], reinterpret_cast<std::uint8_t*>(current),
                             count);
    }
    std::size_t bit = 0;
    for (; ((leaf >> bit) & 1) != 0; bit++) {
      addTo(planes[bit], current, words);
      addTo(current, left[bit], words);
    }
    std::memcpy(bit < leaves.depth ? left[bit] : sum, current, 8 * words);
  }
  wipe(current, sizeof current);
  wipe(left, sizeof left);
}

}  // namespace

void fold(const Leaves& leaves, StreamPlace place, std::size_t blockCount, std::uint32_t* columns, std::uint32_t* sums,
          std::size_t threads) {
  const std::size_t words = kWordsPerBlock * blockCount;
  parallelChunks(leaves.treeCount, 1, threads, [&](std::size_t begin, std::size_t end) {
    alignas(32) Run planes[kDepthMax];
    alignas(32) Run sum;
    for (std::size_t tree = begin; tree < end; tree++) {
      for (std::size_t first = 0; first < blockCount; first += kRunBlocks) {
        const std::size_t count = std::min(kRunBlocks, blockCount - first);
        foldRun(leaves, tree, place, first, count, planes, sum);
        const std::size_t at = kWordsPerBlock * first;
        for (std::size_t bit = 0; bit < leaves.depth; bit++)
          std::memcpy(columns + (leaves.depth * tree + bit) * words + at, planes[bit], kBlockBytes * count);
        std::memcpy(sums + tree * words + at, sum, kBlockBytes * count);
      }
    }
    wipe(planes, sizeof planes);
  });
}

void rows(const std::uint32_t* columns, std::size_t blockCount, std::uint32_t* result, std::size_t threads) {
  const std::size_t words = kWordsPerBlock * blockCount;
  parallelChunks(blockCount - 1, 16, threads, [&](std::size_t begin, std::size_t end) {
    Block square[kColumns];
    for (std::size_t block = begin; block < end; block++) {
      for (std::size_t column = 0; column < kColumns; column++)
        std::memcpy(&square[column], columns + column * words + kWordsPerBlock * block, kBlockBytes);
      transpose(square);
      std::memcpy(result + kColumns * kWordsPerBlock * block, square, sizeof square);
    }
    wipe(square, sizeof square);
  });
}

}  // namespace maximum
}  // namespace tandem
