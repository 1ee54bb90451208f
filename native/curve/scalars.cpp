// See scalars.h.
#include "scalars.h"

#include <cstring>

namespace tandem {
namespace curve {

namespace {

constexpr std::uint64_t kOrder[kScalarWords] = {0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000};
// -1/l modulo 2^64, and 2^512 modulo l
constexpr std::uint64_t kOrderInverse = 0xd2b51da312547e1b;
constexpr Scalar kSquareOfRadix = {{0xa40611e3449c0f01, 0xd00e1ba768859347, 0xceec73d217f5be65, 0x0399411b7c309a3d}};

std::uint64_t highWord(DoubleLimb value) { return static_cast<std::uint64_t>(value >> 64); }
std::uint64_t lowWord(DoubleLimb value) { return static_cast<std::uint64_t>(value); }

// a or a - l, whichever is below l; for a < 2 l.
Scalar reducedOnce(Scalar a) {
  std::uint64_t less[kScalarWords];
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < kScalarWords; i++) {
    const DoubleLimb difference = static_cast<DoubleLimb>(a.words[i]) - kOrder[i] - borrow;
    less[i] = lowWord(difference);
    borrow = highWord(difference) & 1;
  }
  const std::uint64_t keep = std::uint64_t{0} - borrow;
  for (std::size_t i = 0; i < kScalarWords; i++) a.words[i] = (a.words[i] & keep) | (less[i] & ~keep);
  return a;
}

// a b / 2^256 modulo l (Montgomery); for a b < 2^256 l.
Scalar montgomery(const Scalar& a, const Scalar& b) {
  std::uint64_t t[kScalarWords + 2] = {0};
  for (std::size_t i = 0; i < kScalarWords; i++) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < kScalarWords; j++) {
      const DoubleLimb sum = static_cast<DoubleLimb>(a.words[i]) * b.words[j] + t[j] + carry;
      t[j] = lowWord(sum);
      carry = highWord(sum);
    }
    DoubleLimb top = static_cast<DoubleLimb>(t[4]) + carry;
    t[4] = lowWord(top);
    t[5] = highWord(top);
    const std::uint64_t factor = t[0] * kOrderInverse;
    carry = highWord(static_cast<DoubleLimb>(factor) * kOrder[0] + t[0]);
    for (std::size_t j = 1; j < kScalarWords; j++) {
      const DoubleLimb sum = static_cast<DoubleLimb>(factor) * kOrder[j] + t[j] + carry;
      t[j - 1] = lowWord(sum);
      carry = highWord(sum);
    }
    top = static_cast<DoubleLimb>(t[4]) + carry;
    t[3] = lowWord(top);
    t[4] = t[5] + highWord(top);
  }
  return reducedOnce({{t[0], t[1], t[2], t[3]}});
}

}  // namespace

Scalar addScalars(const Scalar& a, const Scalar& b) {
  Scalar sum;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < kScalarWords; i++) {
    const DoubleLimb word = static_cast<DoubleLimb>(a.words[i]) + b.words[i] + carry;
    sum.words[i] = lowWord(word);
    carry = highWord(word);
  }
  return reducedOnce(sum);
}

Scalar negatedScalar(const Scalar& a) {
  Scalar difference;
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < kScalarWords; i++) {
    const DoubleLimb word = static_cast<DoubleLimb>(kOrder[i]) - a.words[i] - borrow;
    difference.words[i] = lowWord(word);
    borrow = highWord(word) & 1;
  }
  return reducedOnce(difference);  // l for 0
}

Scalar signedScalar(std::int64_t value) {
  const std::uint64_t sign = static_cast<std::uint64_t>(value >> 63);
  const Scalar magnitude = {{(static_cast<std::uint64_t>(value) ^ sign) - sign, 0, 0, 0}};
  Scalar result = negatedScalar(magnitude);
  for (std::size_t i = 0; i < kScalarWords; i++) {
    result.words[i] = (result.words[i] & sign) | (magnitude.words[i] & ~sign);
  }
  return result;
}

Scalar preparedScalar(const Scalar& a) { return montgomery(a, kSquareOfRadix); }

Scalar multiplyPrepared(const Scalar& a, const Scalar& prepared) { return montgomery(a, prepared); }

Scalar reducedScalar(const std::uint8_t* wide) {
  Scalar low;
  Scalar high;
  std::memcpy(low.words, wide, sizeof low.words);
  std::memcpy(high.words, wide + sizeof low.words, sizeof high.words);
  // high 2^256 + low, each from a Montgomery product
  const Scalar one = {{1, 0, 0, 0}};
  return addScalars(montgomery(high, kSquareOfRadix), montgomery(montgomery(low, kSquareOfRadix), one));
}

}  // namespace curve
}  // namespace tandem
