// Unsigned integers as little-endian arrays of 64-bit limbs: the primitives under everything else.
//
// Layout: limb 0 is the least significant. A flat buffer from JavaScript holds elements of a fixed number of bytes,
// little-endian and possibly unaligned, and is only ever read and written through loadBytes and storeBytes.
//
// Constant-time: every function here runs the same instructions for all values of the same length, except isZero and
// compare, which say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace tandem {

using Limb = std::uint64_t;
using DoubleLimb = unsigned __int128;
// A word of a kernel's own number format.
using Word = std::uint64_t;

constexpr std::size_t kLimbBits = 64;
// Keys have at most 4096 bits, so n^2 has at most 8192.
constexpr std::size_t kLimbsMax = 128;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "flat buffers are little-endian limbs");

// Overwrites memory in a way that the compiler may not leave out.
void wipe(void* memory, std::size_t sizeBytes);

// Memory is wiped when it is released: limbs may be secret, and wiping costs little compared with the arithmetic. It is
// aligned to cache lines, which vector instructions need.
constexpr std::size_t kAlignment = 64;

template <typename T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <typename U>
  WipingAllocator(const WipingAllocator<U>&) {}
  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kAlignment)));
  }
  void deallocate(T* memory, std::size_t count) {
    wipe(memory, count * sizeof(T));
    ::operator delete(memory, std::align_val_t(kAlignment));
  }
  template <typename U>
  bool operator==(const WipingAllocator<U>&) const {
    return true;
  }
  template <typename U>
  bool operator!=(const WipingAllocator<U>&) const {
    return false;
  }
};

using Limbs = std::vector<Limb, WipingAllocator<Limb>>;

inline std::size_t limbsForBytes(std::size_t sizeBytes) { return (sizeBytes + 7) / 8; }

// Reads sizeBytes bytes into `limbs` limbs, zero-extended. sizeBytes <= 8 * limbs.
inline void loadBytes(Limb* result, std::size_t limbs, const std::uint8_t* bytes, std::size_t sizeBytes) {
  std::memset(result, 0, limbs * sizeof(Limb));
  std::memcpy(result, bytes, sizeBytes);
}

// Writes the low sizeBytes bytes.
inline void storeBytes(std::uint8_t* bytes, std::size_t sizeBytes, const Limb* value) {
  std::memcpy(bytes, value, sizeBytes);
}

inline void copyLimbs(Limb* result, const Limb* value, std::size_t limbs) {
  std::memmove(result, value, limbs * sizeof(Limb));
}

// result += a * factor over `limbs` limbs; returns the carry out. Scalar arithmetic spends nearly all its time here.
using RowFunction = Limb (*)(Limb* result, const Limb* a, std::size_t limbs, Limb factor);
Limb addProductRow(Limb* result, const Limb* a, std::size_t limbs, Limb factor);
// The same with MULX, ADCX and ADOX; only where cpu.h says that the processor has them.
Limb addProductRowAdx(Limb* result, const Limb* a, std::size_t limbs, Limb factor);

// result = a + b; returns the carry out. result may be a or b.
Limb addLimbs(Limb* result, const Limb* a, const Limb* b, std::size_t limbs);
// result = a - b; returns the borrow out. result may be a or b.
Limb subtractLimbs(Limb* result, const Limb* a, const Limb* b, std::size_t limbs);
// a += carry and a -= borrow, over all limbs; what leaves the top is dropped.
void addSmall(Limb* a, Limb carry, std::size_t limbs);
void subtractSmall(Limb* a, Limb borrow, std::size_t limbs);
// result += b & mask, with mask all ones or all zeros.
void addMasked(Limb* result, const Limb* b, Limb mask, std::size_t limbs);
// result = a >> 1, with `top` shifted in.
void shiftRightOne(Limb* result, const Limb* a, Limb top, std::size_t limbs);

// result = a * b, 2 * limbs limbs. result is neither a nor b.
void multiplyFull(RowFunction rows, Limb* result, const Limb* a, const Limb* b, std::size_t limbs);
// result = a * a, 2 * limbs limbs: half the limb products.
void squareFull(RowFunction rows, Limb* result, const Limb* a, std::size_t limbs);
// a -= b if a >= b, without a branch; returns 1 if so, otherwise 0. Up to kLimbsMax + 1 limbs.
Limb subtractIfNotBelow(Limb* a, const Limb* b, std::size_t limbs);

// -a^-1 modulo 2^64, for odd a (Newton: five steps double 3 correct bits to 96).
Limb negatedInverse(Limb a);

// All ones if a is zero, otherwise zero.
Limb zeroMask(const Limb* a, std::size_t limbs);

// Variable-time; for public values only.
bool isZero(const Limb* a, std::size_t limbs);
// Variable-time; for public values only. -1, 0 or 1.
int compare(const Limb* a, const Limb* b, std::size_t limbs);

}  // namespace tandem
