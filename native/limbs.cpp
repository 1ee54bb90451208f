// See limbs.h.
#include "limbs.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tandem {

namespace {

// One step of a carry chain. Compilers keep the carry in its flag through straight lines of these, not through sums of
// 128 bits.
#if defined(__x86_64__)
using Carry = unsigned char;

inline Carry addWithCarry(Carry carry, Limb a, Limb b, Limb* sum) {
  unsigned long long low = 0;
  const Carry out = _addcarry_u64(carry, a, b, &low);
  *sum = low;
  return out;
}

inline Carry subtractWithBorrow(Carry borrow, Limb a, Limb b, Limb* difference) {
  unsigned long long low = 0;
  const Carry out = _subborrow_u64(borrow, a, b, &low);
  *difference = low;
  return out;
}
#else
using Carry = Limb;

inline Carry addWithCarry(Carry carry, Limb a, Limb b, Limb* sum) {
  const DoubleLimb wide = static_cast<DoubleLimb>(a) + b + carry;
  *sum = static_cast<Limb>(wide);
  return static_cast<Limb>(wide >> kLimbBits);
}

inline Carry subtractWithBorrow(Carry borrow, Limb a, Limb b, Limb* difference) {
  const DoubleLimb wide = static_cast<DoubleLimb>(a) - b - borrow;
  *difference = static_cast<Limb>(wide);
  return static_cast<Limb>(wide >> kLimbBits) & 1;
}
#endif

}  // namespace

void wipe(void* memory, std::size_t sizeBytes) {
  if (sizeBytes == 0) return;
  std::memset(memory, 0, sizeBytes);
  // The compiler must assume that this reads the memory, so the memset stays.
  __asm__ __volatile__("" : : "r"(memory) : "memory");
}

// Written for what compilers make of it: with carries taken from overflow flags, four steps per iteration and no
// inlining, gcc keeps all in registers; summing in 128 bits instead spills and is 1.5 times slower.
__attribute__((noinline)) Limb addProductRow(Limb* result, const Limb* a, std::size_t limbs, Limb factor) {
  Limb carry = 0;
  const auto step = [&](std::size_t at) __attribute__((always_inline)) {
    const DoubleLimb product = static_cast<DoubleLimb>(a[at]) * factor;
    Limb low = static_cast<Limb>(product);
    Limb high = static_cast<Limb>(product >> kLimbBits);
    high += static_cast<Limb>(__builtin_add_overflow(low, result[at], &low));
    high += static_cast<Limb>(__builtin_add_overflow(low, carry, &low));
    result[at] = low;
    carry = high;
  };
  std::size_t j = 0;
  for (; j + 4 <= limbs; j += 4) {
    step(j);
    step(j + 1);
    step(j + 2);
    step(j + 3);
  }
  for (; j < limbs; j++) step(j);
  return carry;
}

Limb addLimbs(Limb* result, const Limb* a, const Limb* b, std::size_t limbs) {
  Carry carry = 0;
  std::size_t i = 0;
  for (; i + 4 <= limbs; i += 4) {
    carry = addWithCarry(carry, a[i], b[i], result + i);
    carry = addWithCarry(carry, a[i + 1], b[i + 1], result + i + 1);
    carry = addWithCarry(carry, a[i + 2], b[i + 2], result + i + 2);
    carry = addWithCarry(carry, a[i + 3], b[i + 3], result + i + 3);
  }
  for (; i < limbs; i++) carry = addWithCarry(carry, a[i], b[i], result + i);
  return carry;
}

Limb subtractLimbs(Limb* result, const Limb* a, const Limb* b, std::size_t limbs) {
  Carry borrow = 0;
  std::size_t i = 0;
  for (; i + 4 <= limbs; i += 4) {
    borrow = subtractWithBorrow(borrow, a[i], b[i], result + i);
    borrow = subtractWithBorrow(borrow, a[i + 1], b[i + 1], result + i + 1);
    borrow = subtractWithBorrow(borrow, a[i + 2], b[i + 2], result + i + 2);
    borrow = subtractWithBorrow(borrow, a[i + 3], b[i + 3], result + i + 3);
  }
  for (; i < limbs; i++) borrow = subtractWithBorrow(borrow, a[i], b[i], result + i);
  return borrow;
}

void addSmall(Limb* a, Limb carry, std::size_t limbs) {
  for (std::size_t i = 0; i < limbs; i++) {
    const DoubleLimb sum = static_cast<DoubleLimb>(a[i]) + carry;
    a[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
}

void subtractSmall(Limb* a, Limb borrow, std::size_t limbs) {
  for (std::size_t i = 0; i < limbs; i++) {
    const DoubleLimb difference = static_cast<DoubleLimb>(a[i]) - borrow;
    a[i] = static_cast<Limb>(difference);
    borrow = static_cast<Limb>(difference >> kLimbBits) & 1;
  }
}

void addMasked(Limb* result, const Limb* b, Limb mask, std::size_t limbs) {
  Limb carry = 0;
  for (std::size_t i = 0; i < limbs; i++) {
    const DoubleLimb sum = static_cast<DoubleLimb>(result[i]) + (b[i] & mask) + carry;
    result[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
}

void shiftRightOne(Limb* result, const Limb* a, Limb top, std::size_t limbs) {
  for (std::size_t i = 0; i + 1 < limbs; i++) result[i] = (a[i] >> 1) | (a[i + 1] << 63);
  result[limbs - 1] = (a[limbs - 1] >> 1) | (top << 63);
}

void multiplyFull(RowFunction rows, Limb* result, const Limb* a, const Limb* b, std::size_t limbs) {
  std::memset(result, 0, limbs * sizeof(Limb));
  for (std::size_t i = 0; i < limbs; i++) result[i + limbs] = rows(result + i, a, limbs, b[i]);
}

Limb subtractIfNotBelow(Limb* a, const Limb* b, std::size_t limbs) {
  Limb difference[kLimbsMax + 1];
  const Limb borrow = subtractLimbs(difference, a, b, limbs);
  const Limb keep = 0 - borrow;
  for (std::size_t i = 0; i < limbs; i++) a[i] = (a[i] & keep) | (difference[i] & ~keep);
  return 1 - borrow;
}

void squareFull(RowFunction rows, Limb* result, const Limb* a, std::size_t limbs) {
  std::memset(result, 0, 2 * limbs * sizeof(Limb));
  // The products a[i] a[j] with i < j.
  for (std::size_t i = 0; i + 1 < limbs; i++) {
    result[i + limbs] = rows(result + 2 * i + 1, a + i + 1, limbs - 1 - i, a[i]);
  }
  // Doubled, plus the squares a[i]^2.
  Limb carry = 0;
  Limb shifted = 0;
  for (std::size_t i = 0; i < limbs; i++) {
    const Limb low = (result[2 * i] << 1) | shifted;
    const Limb high = (result[2 * i + 1] << 1) | (result[2 * i] >> 63);
    shifted = result[2 * i + 1] >> 63;
    const DoubleLimb square = static_cast<DoubleLimb>(a[i]) * a[i];
    DoubleLimb sum = static_cast<DoubleLimb>(low) + static_cast<Limb>(square) + carry;
    result[2 * i] = static_cast<Limb>(sum);
    sum = static_cast<DoubleLimb>(high) + static_cast<Limb>(square >> kLimbBits) + static_cast<Limb>(sum >> kLimbBits);
    result[2 * i + 1] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> kLimbBits);
  }
}

Limb negatedInverse(Limb a) {
  Limb inverse = a;  // right in the low three bits
  for (int i = 0; i < 5; i++) inverse *= 2 - a * inverse;
  return ~inverse + 1;
}

Limb zeroMask(const Limb* a, std::size_t limbs) {
  Limb any = 0;
  for (std::size_t i = 0; i < limbs; i++) any |= a[i];
  // The top bit of any | -any is set for every value but zero.
  return ((any | (~any + 1)) >> 63) - 1;
}

bool isZero(const Limb* a, std::size_t limbs) { return zeroMask(a, limbs) != 0; }

int compare(const Limb* a, const Limb* b, std::size_t limbs) {
  for (std::size_t i = limbs; i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

}  // namespace tandem
