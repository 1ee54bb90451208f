// See row-loops.h. Every index is checked where it is read: JavaScript could change the arrays meanwhile.
#include "row-loops.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>

#include "threads.h"

namespace tandem {

namespace {

// Rows that a thread takes at a time; a multiple of 8, so that no two threads write the same byte of a bitmap.
constexpr std::size_t kChunkRows = std::size_t{1} << 16;
// Rows that are copied before they are used, so that what was checked is what is read.
constexpr std::size_t kBlockRows = 1024;

// Calls work(first, rows, count) for blocks of rows, all of which exist.
template <typename Work>
long long forBlocks(const Rows& rows, std::size_t threads, const Work& work) {
  FirstBad bad;
  parallelChunks(rows.count, kChunkRows, threads, [&](std::size_t begin, std::size_t end) {
    std::uint32_t block[kBlockRows];
    for (std::size_t first = begin; first < end; first += kBlockRows) {
      const std::size_t count = std::min(kBlockRows, end - first);
      std::memcpy(block, rows.data + first, count * sizeof *block);
      std::uint32_t largest = 0;
      for (std::size_t i = 0; i < count; i++) largest = std::max(largest, block[i]);
      if (largest >= rows.rowCount) {
        std::size_t i = 0;
        while (block[i] < rows.rowCount) i++;
        return bad.report(first + i);
      }
      work(first, block, count);
    }
  });
  return bad.index();
}

inline unsigned bitAt(const std::uint8_t* bitmap, std::size_t position) {
  return (bitmap[position >> 3] >> (position & 7)) & 1u;
}

// Numbers that several threads add to.
class SharedSums {
 public:
  explicit SharedSums(double* sums) : sums_(sums) {}
  void add(std::size_t index, double number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    sums_[index] += number;
  }

 private:
  std::mutex mutex_;
  double* sums_;
};

// The sum of number(i), in four lanes: no addition waits for the one before.
template <typename Number>
double sumOf(std::size_t count, const Number& number) {
  double lanes[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t lane = 0; lane < 4; lane++) lanes[lane] += number(i + lane);
  for (; i < count; i++) lanes[0] += number(i);
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// floor(value) for magnitudes below 2^51.
inline double floorOf(double value) {
  constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to the nearest integer
  const double nearest = (value + kRounder) - kRounder;
  return nearest - (nearest > value ? 1.0 : 0.0);
}

}  // namespace

std::size_t countBits(const std::uint8_t* bitmap, std::size_t count, std::size_t threads) {
  std::atomic<std::size_t> total{0};
  parallelChunks(count, 8 * kChunkRows, threads, [&](std::size_t begin, std::size_t end) {
    std::size_t set = 0;
    std::size_t at = begin;
    for (; at + 64 <= end; at += 64) {
      std::uint64_t word;
      std::memcpy(&word, bitmap + at / 8, sizeof word);
      set += static_cast<std::size_t>(__builtin_popcountll(word));
    }
    for (; at < end; at++) set += bitAt(bitmap, at);
    total += set;
  });
  return total;
}

long long sumRows(const std::vector<const double*>& columns, const Rows& rows, const std::uint8_t* bitmap,
                  double* result, std::size_t threads) {
  std::fill_n(result, columns.size(), 0.0);
  SharedSums sums(result);
  return forBlocks(rows, threads, [&](std::size_t first, const std::uint32_t* block, std::size_t count) {
    double factors[kBlockRows];
    if (bitmap != nullptr)
      for (std::size_t i = 0; i < count; i++) factors[i] = bitAt(bitmap, first + i);
    for (std::size_t c = 0; c < columns.size(); c++) {
      const double* const column = columns[c];
      const double sum = bitmap == nullptr ? sumOf(count, [&](std::size_t i) { return column[block[i]]; })
                                           : sumOf(count, [&](std::size_t i) { return column[block[i]] * factors[i]; });
      sums.add(c, sum);
    }
  });
}

long long sumSizes(const double* column, const Rows& rows, double* result, std::size_t threads) {
  *result = 0;
  SharedSums sums(result);
  return forBlocks(rows, threads, [&](std::size_t, const std::uint32_t* block, std::size_t count) {
    sums.add(0, sumOf(count, [&](std::size_t i) { return std::fabs(column[block[i]]); }));
  });
}

void divideRows(const std::uint32_t* rows, std::size_t count, const std::uint8_t* bitmap, std::uint32_t* inside,
                std::uint32_t* outside, std::size_t threads) {
  std::vector<std::size_t> insideBefore;
  std::size_t set = 0;
  for (std::size_t begin = 0; begin < count; begin += kChunkRows) {
    insideBefore.push_back(set);
    set += countBits(bitmap + begin / 8, std::min(kChunkRows, count - begin), 1);
  }
  parallelChunks(count, kChunkRows, threads, [&](std::size_t begin, std::size_t end) {
    std::uint32_t* in = inside + insideBefore[begin / kChunkRows];
    std::uint32_t* out = outside + (begin - insideBefore[begin / kChunkRows]);
    // The end of this chunk's part: were the bitmap changed meanwhile, no write goes beyond it.
    const std::size_t after = begin / kChunkRows + 1;
    std::uint32_t* const inEnd = inside + (after < insideBefore.size() ? insideBefore[after] : set);
    std::uint32_t* const outEnd = outside + (end - (after < insideBefore.size() ? insideBefore[after] : set));
    // One more than is kept: both are written, and one of them advances, which avoids an unpredictable branch.
    std::uint32_t members[kBlockRows + 1];
    std::uint32_t others[kBlockRows + 1];
    for (std::size_t first = begin; first < end; first += kBlockRows) {
      const std::size_t length = std::min(kBlockRows, end - first);
      std::size_t m = 0;
      std::size_t o = 0;
      for (std::size_t i = 0; i < length; i++) {
        const std::uint32_t row = rows[first + i];
        const unsigned bit = bitAt(bitmap, first + i);
        members[m] = row;
        others[o] = row;
        m += bit;
        o += 1 - bit;
      }
      m = std::min(m, static_cast<std::size_t>(inEnd - in));
      o = std::min(o, static_cast<std::size_t>(outEnd - out));
      std::memcpy(in, members, m * sizeof *in);
      std::memcpy(out, others, o * sizeof *out);
      in += m;
      out += o;
    }
  });
}

namespace {

// Writes bit(i) of a block that begins at a multiple of 8.
template <typename Bit>
void writeBits(std::uint8_t* bytes, std::size_t count, const Bit& bit) {
  for (std::size_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(8, count - i); k++) byte |= bit(i + k) << k;
    bytes[i / 8] = static_cast<std::uint8_t>(byte);
  }
}

}  // namespace

long long pickBits(const std::uint8_t* bitmap, const Rows& positions, std::uint8_t* result, std::size_t threads) {
  return forBlocks(positions, threads, [&](std::size_t first, const std::uint32_t* block, std::size_t count) {
    writeBits(result + first / 8, count, [&](std::size_t i) { return bitAt(bitmap, block[i]); });
  });
}

long long lookUpBits(const std::uint8_t* table, std::size_t tableSize, const std::uint16_t* bins, const Rows& rows,
                     std::uint8_t* result, std::size_t threads) {
  // Bins beyond the table have an entry of their own.
  std::vector<std::uint8_t> bits(65536, 2);
  for (std::size_t bin = 0; bin < std::min<std::size_t>(tableSize, bits.size()); bin++) bits[bin] = table[bin] & 1;
  FirstBad bad;
  const long long refused =
      forBlocks(rows, threads, [&](std::size_t first, const std::uint32_t* block, std::size_t count) {
        unsigned seen = 0;
        std::uint8_t found[kBlockRows];
        for (std::size_t i = 0; i < count; i++) {
          found[i] = bits[bins[block[i]]];
          seen |= found[i];
        }
        if ((seen & 2) != 0) {
          std::size_t i = 0;
          while (found[i] < 2) i++;
          return bad.report(first + i);
        }
        writeBits(result + first / 8, count, [&](std::size_t i) { return static_cast<unsigned>(found[i]); });
      });
  return refused >= 0 ? refused : bad.index();
}

long long placeRows(const double* column, const Rows& rows, const std::int32_t* placeOf, std::size_t placeCount,
                    std::int32_t* result, std::size_t threads) {
  return forBlocks(rows, threads, [&](std::size_t, const std::uint32_t* block, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
      const std::int64_t place = placeOf == nullptr ? static_cast<std::int64_t>(block[i]) : placeOf[block[i]];
      if (place < 0 || static_cast<std::size_t>(place) >= placeCount) continue;
      result[place] = static_cast<std::int32_t>(static_cast<std::int64_t>(column[block[i]]));
    }
  });
}

long long roundToGrid(const double* values, std::size_t count, const RowGrid& grid, double* result,
                      std::size_t threads) {
  FirstBad bad;
  const RowGrid g = grid;
  parallelChunks(count, kChunkRows, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += kBlockRows) {
      const std::size_t last = std::min(end, first + kBlockRows);
      unsigned below = 0;
      for (std::size_t i = first; i < last; i++) {
        const double value = values[i];
        below |= value - g.shift >= 0 ? 0u : 1u;
        const double rounded = floorOf((value < g.top ? value : g.top) / g.resolution + 0.5);
        result[i] = rounded < g.largest ? rounded : g.largest;
      }
      if (below == 0) continue;
      for (std::size_t i = first; i < last; i++)
        if (!(values[i] - g.shift >= 0)) return bad.report(i);
    }
  });
  return bad.index();
}

long long markRows(const Rows& rows, std::uint32_t number, std::uint32_t* result, std::size_t threads) {
  return forBlocks(rows, threads, [&](std::size_t, const std::uint32_t* block, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) result[block[i]] = number;
  });
}

long long addByLeaf(const std::uint32_t* leaves, std::size_t count, const double* weights, std::size_t weightCount,
                    double* numbers, std::size_t first, std::size_t stride, std::size_t threads) {
  return forBlocks({leaves, count, weightCount}, threads,
                   [&](std::size_t begin, const std::uint32_t* block, std::size_t length) {
                     double* at = numbers + first + stride * begin;
                     for (std::size_t i = 0; i < length; i++, at += stride) *at += weights[block[i]];
                   });
}

}  // namespace tandem
