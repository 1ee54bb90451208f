// See lattice-dots.h.
#include "lattice-dots.h"

#include <algorithm>
#include <cstring>

#include "lattice-seal.h"
#include "threads.h"

namespace tandem {
namespace lattice {

namespace {

// Digits of few secrets are padded to this number: a cell that is added to at every other step would make the next
// addition wait for the last.
constexpr std::size_t kDigitsMin = 3;

// Secrets [first, end) of all, digit by digit the patterns of their coefficients.
struct Pass {
  std::size_t first;
  std::size_t end;
  std::size_t digits;
  Array<std::uint8_t> patterns;
};

Pass makePass(const Set& set, const Array<std::int8_t>& secrets, std::size_t first, std::size_t end) {
  Pass pass{first, end, std::max(end - first, kDigitsMin), Array<std::uint8_t>(set.degree)};
  int weight = 1;
  for (std::size_t s = first; s < end; s++, weight *= 3) {
    const std::int8_t* secret = secrets.data() + s * set.degree;
    for (std::size_t i = 0; i < set.degree; i++) {
      pass.patterns[i] = static_cast<std::uint8_t>(pass.patterns[i] + weight * (secret[i] + 1));
    }
  }
  for (std::size_t filler = end - first, period = 1; filler < pass.digits; filler++, weight *= 3, period *= 3) {
    for (std::size_t i = 0; i < set.degree; i++) {
      pass.patterns[i] = static_cast<std::uint8_t>(pass.patterns[i] + weight * static_cast<int>(i / period % 3));
    }
  }
  return pass;
}

// As few passes as can be, of nearly equal size.
std::vector<Pass> planPasses(const Set& set, const Array<std::int8_t>& secrets, std::size_t threads) {
  const std::size_t count = secrets.size() / set.degree;
  const std::size_t passes = (count + kSecretsPerPass - 1) / kSecretsPerPass;
  std::vector<Pass> result(passes);
  parallelChunks(passes, 1, threads, [&](std::size_t p, std::size_t) {
    result[p] = makePass(set, secrets, p * count / passes, (p + 1) * count / passes);
  });
  return result;
}

// One tile's inner products with all secrets.
class TileDots {
 public:
  TileDots(const Context& context, std::size_t candidates, std::uint64_t* dots)
      : context_(context), columns_(columnsOf(context.set, candidates)), dots_(dots), cells_(2 * kCells) {}

  void add(const std::uint64_t* words, std::size_t tile, const std::vector<Pass>& passes) {
    for (std::size_t p = 0; p < passes.size(); p += 2) {
      const Pass& pass = passes[p];
      std::fill(cells_.begin(), cells_.end(), 0);
      if (p + 1 < passes.size()) {
        const Pass& second = passes[p + 1];
        context_.kernel.addToPatterns(words, pass.patterns.data(), cells_.data(), second.patterns.data(),
                                      cells_.data() + kCells);
        take(second, cells_.data() + kCells, tile);
      } else {
        context_.kernel.addToPatterns(words, pass.patterns.data(), cells_.data());
      }
      take(pass, cells_.data(), tile);
    }
  }

 private:
  static constexpr std::size_t kCells = kTile * kPatternCells;

  void take(const Pass& pass, std::uint64_t* cells, std::size_t tile) {
    const std::size_t count = std::min(kTile, columns_ - tile * kTile);
    for (std::size_t digit = 0; digit < pass.end - pass.first; digit++) {
      std::uint64_t difference[kTile];
      context_.kernel.takeDigit(cells, pass.digits - digit, difference);
      std::copy(difference, difference + count, dots_ + (pass.first + digit) * columns_ + tile * kTile);
      wipe(difference, sizeof difference);
    }
  }

  const Context& context_;
  std::size_t columns_;
  std::uint64_t* dots_;
  Array<std::uint64_t> cells_;
};

// The lowest 104 bits as a signed number.
SignedWide signed104(Wide x) { return static_cast<SignedWide>(x << 24) >> 24; }

}  // namespace

void loadHints(const Context& context, const std::uint8_t* words, std::size_t first, std::size_t count,
               std::uint64_t* table, std::size_t threads) {
  const Set& set = context.set;
  const std::size_t firstColumn = columnsOf(set, first);
  const std::size_t endColumn = columnsOf(set, first + count);
  const std::size_t firstTile = firstColumn / kTile;
  const std::size_t tiles = (endColumn + kTile - 1) / kTile - firstTile;
  const std::size_t candidatesPerTile = kTile / set.wordParts;
  parallelChunks(tiles, 1, threads, [&](std::size_t begin, std::size_t) {
    const std::size_t tile = firstTile + begin;
    const std::size_t from = std::max(first, tile * candidatesPerTile);
    const std::size_t to = std::min(first + count, (tile + 1) * candidatesPerTile);
    std::uint64_t* rows = table + tile * set.degree * kTile;
    for (std::size_t i = 0; i < set.degree; i++, rows += kTile) {
      for (std::size_t c = from; c < to; c++) {
        const Wide word = readWord(words + ((c - first) * set.degree + i) * set.wordBytes, set.wordBytes);
        std::uint64_t* own = rows + columnsOf(set, c) % kTile;
        if (set.wordParts == 1) {
          own[0] = static_cast<std::uint64_t>(word) << 8;
        } else {
          own[0] = static_cast<std::uint64_t>(word >> kPrimeBits);
          own[1] = static_cast<std::uint64_t>(word) & kPrimeMask;
        }
      }
    }
  });
}

void dots(const Context& context, const std::uint64_t* table, std::size_t candidates, const std::uint8_t* seeds,
          std::size_t seedCount, std::uint64_t* dots, std::size_t threads) {
  const Set& set = context.set;
  Array<std::int8_t> secrets(seedCount * set.groups * set.degree);
  parallelChunks(seedCount, 1, threads, [&](std::size_t i, std::size_t) {
    const AesKey key(seeds + i * kSeedBytes, kSeedBytes);
    const Array<std::int8_t> own = drawSecrets(context, key);
    std::copy(own.begin(), own.end(), secrets.data() + i * own.size());
  });
  const std::vector<Pass> passes = planPasses(set, secrets, threads);
  parallelChunks(tileCount(set, candidates), 8, threads, [&](std::size_t begin, std::size_t end) {
    TileDots tileDots(context, candidates, dots);
    for (std::size_t tile = begin; tile < end; tile++) {
      tileDots.add(table + tile * set.degree * kTile, tile, passes);
    }
  });
}

void open(const Context& context, const std::uint64_t* dots, std::size_t candidates, const std::uint8_t* words,
          std::size_t count, const std::uint32_t* positions, double* sums) {
  const Set& set = context.set;
  const std::size_t columns = columnsOf(set, candidates);
  for (std::size_t i = 0; i < count; i++, sums += kColumns) {
    const std::size_t column = columnsOf(set, positions == nullptr ? i : positions[i]);
    const std::uint8_t* own = words + i * set.groups * set.wordBytes;
    if (set.groups == 2) {
      for (std::size_t group = 0; group < 2; group++) {
        const std::uint64_t word = static_cast<std::uint64_t>(readWord(own + group * set.wordBytes, set.wordBytes))
                                   << 8;
        const auto x = static_cast<std::int64_t>(word - dots[group * columns + column]);
        const SignedWide scaled = static_cast<SignedWide>(x) * static_cast<SignedWide>(context.shape.t);
        sums[group] = static_cast<double>(static_cast<std::int64_t>((scaled + (SignedWide{1} << 63)) >> 64));
      }
    } else {
      const Wide upper = static_cast<Wide>(dots[column]) << kPrimeBits;
      const Wide lower = static_cast<Wide>(static_cast<SignedWide>(static_cast<std::int64_t>(dots[column + 1])));
      const SignedWide x = signed104(readWord(own, set.wordBytes) - upper - lower);
      const std::size_t tBits = 2 * context.shape.slotBits + 1;
      const SignedWide z = (x + (SignedWide{1} << (103 - tBits))) >> (104 - tBits);
      const SignedWide h = z & ((SignedWide{1} << context.shape.slotBits) - 1);
      sums[0] = static_cast<double>(static_cast<std::int64_t>((z - h) >> context.shape.slotBits));
      sums[1] = static_cast<double>(static_cast<std::int64_t>(h));
    }
  }
}

}  // namespace lattice
}  // namespace tandem
