// See lattice-aes.h.
#include "lattice-aes.h"

#include <cstring>

namespace tandem {
namespace lattice {

namespace {

// The S-box of Boyar and Peralta ("A new combinational logic minimization technique with applications to cryptology",
// 2009): bits[b] holds bit b of as many bytes as Bits has bits.
template <typename Bits>
void substitute(Bits* bits) {
  const Bits x0 = bits[7], x1 = bits[6], x2 = bits[5], x3 = bits[4], x4 = bits[3], x5 = bits[2], x6 = bits[1],
             x7 = bits[0];
  // The linear layer in front.
  const Bits y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2;
  const Bits y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12;
  const Bits y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0, y11 = y20 ^ y9, y7 = x7 ^ y11;
  const Bits y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;
  // The inversion.
  const Bits t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2, t7 = y13 & y16;
  const Bits t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7, t12 = y9 & y11, t14 = (y14 & y17) ^ t12;
  const Bits t16 = (y8 & y10) ^ t12, t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21;
  const Bits t24 = t11 ^ t16 ^ y18, t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22;
  const Bits t33 = ((t22 ^ t26) & (t23 ^ t24)) ^ t24, t36 = t24 & (t27 ^ t33), t37 = t36 ^ t23 ^ t33;
  const Bits t40 = t25 ^ (t29 & (t27 ^ t36)), t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37;
  const Bits t45 = t42 ^ t41;
  const Bits z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1, z5 = t29 & y7;
  const Bits z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
  const Bits z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
  // The linear layer behind.
  const Bits t46 = z15 ^ z16, t48 = z5 ^ z13, t50 = z2 ^ z12, t53 = z0 ^ z3, t57 = t50 ^ t53, t58 = z4 ^ t46;
  const Bits t59 = z3 ^ z6 ^ z7, t60 = t46 ^ t57, t62 = z7 ^ z8 ^ t58, t63 = z9 ^ z10 ^ t58, t64 = z4 ^ t59;
  const Bits t65 = z14 ^ t57 ^ t62, t66 = z1 ^ t63, s3 = t53 ^ t66;
  bits[7] = t59 ^ t63;
  bits[6] = static_cast<Bits>(~(t64 ^ s3));
  bits[5] = static_cast<Bits>(~(z16 ^ z17 ^ t64 ^ t65));
  bits[4] = s3;
  bits[3] = z2 ^ z5 ^ t66;
  bits[2] = z10 ^ z11 ^ t65;
  bits[1] = static_cast<Bits>(~(z12 ^ t48 ^ t62));
  bits[0] = static_cast<Bits>(~(t48 ^ t60));
}

// The S-box of four bytes of a key.
void substituteWord(std::uint8_t* word) {
  std::uint32_t bits[8] = {};
  for (int b = 0; b < 8; b++) {
    for (int i = 0; i < 4; i++) bits[b] |= static_cast<std::uint32_t>((word[i] >> b) & 1) << i;
  }
  substitute(bits);
  std::memset(word, 0, 4);
  for (int b = 0; b < 8; b++) {
    for (int i = 0; i < 4; i++) word[i] = static_cast<std::uint8_t>(word[i] | ((bits[b] >> i) & 1) << b);
  }
  wipe(bits, sizeof bits);
}

using Bits = std::uint64_t;
using Byte = Bits[8];

// Bit i of the result is bit `bit` of block i's counter, for counters that begin at a multiple of 64.
Bits counterBits(std::uint64_t counter, int bit) {
  constexpr Bits kLow[6] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                            0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};
  return bit < 6 ? kLow[bit] : 0 - ((counter >> bit) & 1);
}

void addRoundKey(Byte* state, const std::uint8_t* roundKey) {
  for (std::size_t i = 0; i < kBlockBytes; i++) {
    for (int b = 0; b < 8; b++) state[i][b] ^= 0 - static_cast<Bits>((roundKey[i] >> b) & 1);
  }
}

// Byte 4 column + row comes from the column `row` places further.
void shiftRows(Byte* result, const Byte* state) {
  for (std::size_t i = 0; i < kBlockBytes; i++)
    std::memcpy(result[i], state[(i + 4 * (i % 4)) % kBlockBytes], sizeof(Byte));
}

// Row r becomes 2 (a_r + a_(r+1)) + a_(r+1) + a_(r+2) + a_(r+3); doubling folds x^8 onto x^4 + x^3 + x + 1.
void mixColumns(Byte* result, const Byte* state) {
  for (std::size_t i = 0; i < kBlockBytes; i++) {
    const std::size_t column = i / 4 * 4;
    const Bits* a = state[i];
    const Bits* next = state[column + (i + 1) % 4];
    const Bits* third = state[column + (i + 2) % 4];
    const Bits* last = state[column + (i + 3) % 4];
    const Bits top = a[7] ^ next[7];
    for (int b = 0; b < 8; b++) {
      const Bits doubled = (b == 0 ? 0 : a[b - 1] ^ next[b - 1]) ^ (b == 0 || b == 1 || b == 3 || b == 4 ? top : 0);
      result[i][b] = doubled ^ next[b] ^ third[b] ^ last[b];
    }
  }
}

// Rows and columns of 8 x 8 bits exchanged.
std::uint64_t transposed(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
  return x ^ t ^ (t << 28);
}

// Byte `at` of all blocks.
void storeByte(const Bits* bits, std::size_t at, std::uint8_t* result) {
  for (std::size_t eight = 0; eight < 8; eight++) {
    std::uint64_t rows = 0;
    for (int b = 0; b < 8; b++) rows |= ((bits[b] >> (8 * eight)) & 0xff) << (8 * b);
    rows = transposed(rows);
    for (std::size_t i = 0; i < 8; i++) {
      result[kBlockBytes * (8 * eight + i) + at] = static_cast<std::uint8_t>(rows >> (8 * i));
    }
  }
}

// The reverse.
void loadByte(const std::uint8_t* blocks, std::size_t at, Bits* bits) {
  for (int b = 0; b < 8; b++) bits[b] = 0;
  for (std::size_t eight = 0; eight < 8; eight++) {
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < 8; i++)
      rows |= static_cast<std::uint64_t>(blocks[kBlockBytes * (8 * eight + i) + at]) << (8 * i);
    rows = transposed(rows);
    for (int b = 0; b < 8; b++) bits[b] |= ((rows >> (8 * b)) & 0xff) << (8 * eight);
  }
}

}  // namespace

AesKey::AesKey(const std::uint8_t* key, std::size_t keyBytes) : rounds_(keyBytes / 4 + 6) {
  const std::size_t words = keyBytes / 4;
  std::memcpy(roundKeys_, key, keyBytes);
  std::uint8_t constant = 1;
  for (std::size_t i = words; i < 4 * (rounds_ + 1); i++) {
    std::uint8_t word[4];
    std::memcpy(word, roundKeys_ + 4 * (i - 1), 4);
    if (i % words == 0) {
      const std::uint8_t first = word[0];
      std::memmove(word, word + 1, 3);
      word[3] = first;
      substituteWord(word);
      word[0] ^= constant;
      constant = static_cast<std::uint8_t>(constant << 1 ^ (constant >> 7) * 0x1b);
    } else if (words > 6 && i % words == 4) {
      substituteWord(word);
    }
    for (std::size_t b = 0; b < 4; b++) {
      roundKeys_[4 * i + b] = static_cast<std::uint8_t>(roundKeys_[4 * (i - words) + b] ^ word[b]);
    }
    wipe(word, sizeof word);
  }
}

namespace {

// Of the blocks in `state`, which is wiped.
void encrypt(const AesKey& key, Byte* state, std::uint8_t* result) {
  Byte shifted[kBlockBytes];
  addRoundKey(state, key.roundKey(0));
  for (std::size_t round = 1; round <= key.rounds(); round++) {
    for (std::size_t i = 0; i < kBlockBytes; i++) substitute(state[i]);
    shiftRows(shifted, state);
    if (round < key.rounds()) {
      mixColumns(state, shifted);
    } else {
      std::memcpy(state, shifted, sizeof shifted);
    }
    addRoundKey(state, key.roundKey(round));
  }
  for (std::size_t i = 0; i < kBlockBytes; i++) storeByte(state[i], i, result);
  wipe(state, kBlockBytes * sizeof *state);
  wipe(shifted, sizeof shifted);
}

}  // namespace

void softwareChunk(const AesKey& key, const std::uint8_t* prefix, std::uint64_t counter, std::uint8_t* result) {
  Byte state[kBlockBytes];
  for (std::size_t i = 0; i < 8; i++) {
    for (int b = 0; b < 8; b++) {
      state[i][b] = 0 - static_cast<Bits>((prefix[i] >> b) & 1);
      state[8 + i][b] = counterBits(counter, static_cast<int>(8 * (7 - i)) + b);
    }
  }
  encrypt(key, state, result);
}

void softwareBlocks(const AesKey& key, const std::uint8_t* blocks, std::uint8_t* result) {
  Byte state[kBlockBytes];
  for (std::size_t i = 0; i < kBlockBytes; i++) loadByte(blocks, i, state[i]);
  encrypt(key, state, result);
}

}  // namespace lattice
}  // namespace tandem
