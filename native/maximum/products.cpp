// See products.h. The hash of rows is that of src/crypto/transfer/block-cipher.ts: pi(pi(x) + tweak) + pi(x), with AES
// under a public key as pi.
#include "products.h"

#include <cstring>
#include <vector>

#include "../threads.h"
#include "permutation.h"

namespace tandem {
namespace maximum {

namespace {

using Number = unsigned __int128;

// Rows that are hashed together, and products that a thread takes at once.
constexpr std::size_t kRun = 256;
constexpr std::size_t kProductsAtOnce = 64;

std::uint8_t* bytesOf(Number* numbers) { return reinterpret_cast<std::uint8_t*>(numbers); }

// Numbers of callers are not aligned.
Number numberAt(const std::uint32_t* words, std::size_t index) {
  Number number;
  std::memcpy(&number, words + kWordsPerBlock * index, sizeof number);
  return number;
}

void store(std::uint32_t* words, std::size_t index, Number number) {
  std::memcpy(words + kWordsPerBlock * index, &number, sizeof number);
}

Number tweak(std::uint32_t transfer, std::uint32_t use, std::uint64_t batch) {
  return static_cast<Number>(batch) << 64 | static_cast<std::uint64_t>(use) << 32 | transfer;
}

Number maskOf(std::size_t width) { return (static_cast<Number>(1) << width) - 1; }

// pi of each row, `added` to it before.
std::vector<Number> innerHashes(const Kernel& kernel, const Rows& rows, Number added, std::size_t threads) {
  std::vector<Number> inner(rows.count);
  parallelChunks(rows.count, kRun, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) inner[i] = numberAt(rows.words, i) ^ added;
    kernel.encrypt(permutation(), bytesOf(&inner[begin]), end - begin);
  });
  return inner;
}

// The hashes of a product's rows.
void hashes(const Kernel& kernel, const Products& products, std::size_t product, const std::vector<Number>& inner,
            Number* result) {
  const std::size_t first = products.bits * products.factors[product];
  for (std::size_t bit = 0; bit < products.bits; bit++) {
    const std::uint32_t transfer = static_cast<std::uint32_t>(products.rows.first + first + bit);
    result[bit] = inner[first + bit] ^ tweak(transfer, products.uses[product], products.rows.batch);
  }
  kernel.encrypt(permutation(), bytesOf(result), products.bits);
  for (std::size_t bit = 0; bit < products.bits; bit++) result[bit] ^= inner[first + bit];
}

// The first bit of each product's corrections, and the end of all.
std::vector<std::size_t> offsets(const Products& products) {
  std::vector<std::size_t> starts(products.count + 1);
  for (std::size_t i = 0; i < products.count; i++)
    starts[i + 1] = starts[i] + correctionBits(products.bits, products.widths[i]);
  return starts;
}

// Appends numbers of few bits to bytes.
class Writer {
 public:
  Writer(std::size_t firstBit, std::size_t endBit) : bytes_(endBit / 8 - firstBit / 8 + 17), at_(firstBit % 8) {}
  // Below 2^width, width at most 127.
  void put(Number number, std::size_t width) {
    std::uint64_t low;
    std::memcpy(&low, &bytes_[at_ / 8], sizeof low);
    const std::size_t shift = at_ % 8;
    const Number shifted = number << shift | low;
    std::memcpy(&bytes_[at_ / 8], &shifted, sizeof shifted);
    if (shift + width > 128) bytes_[at_ / 8 + 16] = static_cast<std::uint8_t>(number >> (128 - shift));
    at_ += width;
  }
  // Into a message, from the byte of the first bit on.
  void addTo(std::uint8_t* message) const {
    for (std::size_t i = 0; i < (at_ + 7) / 8; i++) message[i] |= bytes_[i];
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_;
};

Number read(const std::uint8_t* bytes, std::size_t length, std::size_t bit, std::size_t width) {
  Number number = 0;
  const std::size_t from = bit / 8;
  const std::size_t taken = std::min<std::size_t>(length - from, 17);
  std::memcpy(&number, bytes + from, std::min<std::size_t>(taken, 16));
  number >>= bit % 8;
  if (taken == 17 && bit % 8 != 0) number |= static_cast<Number>(bytes[from + 16]) << (128 - bit % 8);
  return number & maskOf(width);
}

}  // namespace

std::size_t correctionBits(std::size_t bits, std::size_t width) {
  const std::size_t used = std::min(bits, width);
  return used * width - used * (used - 1) / 2;
}

void hashWords(const Kernel& kernel, const Rows& rows, const std::uint32_t* added, std::uint32_t* result,
               std::size_t threads) {
  const Number addedRow = added == nullptr ? 0 : numberAt(added, 0);
  parallelChunks(rows.count, 16 * kRun, threads, [&](std::size_t begin, std::size_t end) {
    Number inner[kRun];
    Number outer[kRun];
    for (std::size_t from = begin; from < end; from += kRun) {
      const std::size_t count = std::min(kRun, end - from);
      for (std::size_t i = 0; i < count; i++) inner[i] = numberAt(rows.words, from + i) ^ addedRow;
      kernel.encrypt(permutation(), bytesOf(inner), count);
      for (std::size_t i = 0; i < count; i++)
        outer[i] = inner[i] ^ tweak(static_cast<std::uint32_t>(rows.first + from + i), 0, rows.batch);
      kernel.encrypt(permutation(), bytesOf(outer), count);
      for (std::size_t i = 0; i < count; i++) result[from + i] = static_cast<std::uint32_t>(outer[i] ^ inner[i]);
    }
  });
}

void corrections(const Kernel& kernel, const Products& products, const std::uint32_t* secret,
                 const std::uint32_t* numbers, std::uint8_t* message, std::uint32_t* held, std::size_t threads) {
  const std::vector<Number> low = innerHashes(kernel, products.rows, 0, threads);
  const std::vector<Number> high = innerHashes(kernel, products.rows, numberAt(secret, 0), threads);
  const std::vector<std::size_t> starts = offsets(products);
  std::mutex merging;
  parallelChunks(products.count, kProductsAtOnce, threads, [&](std::size_t begin, std::size_t end) {
    Writer writer(starts[begin], starts[end]);
    std::vector<Number> own(products.bits);
    std::vector<Number> other(products.bits);
    for (std::size_t i = begin; i < end; i++) {
      const Number number = numberAt(numbers, i);
      hashes(kernel, products, i, low, own.data());
      hashes(kernel, products, i, high, other.data());
      std::memcpy(held + kWordsPerBlock * products.bits * i, own.data(), sizeof(Number) * products.bits);
      for (std::size_t bit = 0; bit < products.bits && bit < products.widths[i]; bit++) {
        const std::size_t width = products.widths[i] - bit;
        writer.put((number + own[bit] - other[bit]) & maskOf(width), width);
      }
    }
    // Two threads' parts may share a byte.
    const std::lock_guard<std::mutex> lock(merging);
    writer.addTo(message + starts[begin] / 8);
  });
}

void senderShares(const Products& products, const std::uint32_t* numbers, const std::uint32_t* held,
                  const std::uint8_t* flips, std::uint32_t* result, std::size_t threads) {
  parallelChunks(products.count, kProductsAtOnce, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i++) {
      const Number number = numberAt(numbers, i);
      Number share = 0;
      for (std::size_t bit = 0; bit < products.bits && bit < products.widths[i]; bit++) {
        const Number flip = 0 - static_cast<Number>(flips[products.bits * products.factors[i] + bit]);
        const Number h0 = numberAt(held, products.bits * i + bit);
        share += ((flip & (number + h0)) | (~flip & (0 - h0))) << bit;
      }
      store(result, i, share & maskOf(products.widths[i]));
    }
  });
}

void receiverShares(const Kernel& kernel, const Products& products, const std::uint8_t* choices,
                    const std::uint8_t* flips, const std::uint8_t* message, std::size_t messageBytes,
                    std::uint32_t* result, std::size_t threads) {
  const std::vector<Number> inner = innerHashes(kernel, products.rows, 0, threads);
  const std::vector<std::size_t> starts = offsets(products);
  parallelChunks(products.count, kProductsAtOnce, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<Number> own(products.bits);
    for (std::size_t i = begin; i < end; i++) {
      hashes(kernel, products, i, inner, own.data());
      const std::size_t first = products.bits * products.factors[i];
      Number share = 0;
      std::size_t at = starts[i];
      for (std::size_t bit = 0; bit < products.bits && bit < products.widths[i]; bit++) {
        const std::size_t width = products.widths[i] - bit;
        const Number given = read(message, messageBytes, at, width) & (0 - static_cast<Number>(choices[first + bit]));
        const Number flip = 0 - static_cast<Number>(flips[first + bit]);
        share += (((own[bit] + given) ^ flip) - flip) << bit;
        at += width;
      }
      store(result, i, share & maskOf(products.widths[i]));
    }
  });
}

}  // namespace maximum
}  // namespace tandem
