// Arithmetic modulo N^2 for an odd N, on numbers written to base N: the pair (a, b) stands for a + b N. This is where a
// kernel begins: everything above works on any implementation of this class.
//
// Why pairs (the n-adic arithmetic of Takagi, CRYPTO '97, joined with Montgomery, Math. Comp. 1985). An element X is
// held as (a, b) with a + b N = X R modulo N^2. To multiply by (c, d), reduce a c by Montgomery: m = -a c / N modulo R
// and r = (a c + m N) / R, so that a c = r R - m N. Hence modulo N^2
//     (a + b N)(c + d N) / R  =  r + N (a d + b c - m) / R,
// and the second half is one more Montgomery reduction modulo N: s = (a d + b c - m) / R. Montgomery's quotient m,
// which is usually thrown away, is exactly the carry into the second half. In products of |N|-sized halves that is 5 (3
// and two reductions) instead of 8 for a product modulo the full N^2, and 3.5 instead of 6 for a square.
//
// Layout: an element in memory ("resident") is a, then b, each fully reduced (below N), limbs() limbs: unique, whatever
// order it was computed in. A group is lanes() elements in the kernel's own form, words() 8-byte words; its first half
// holds the a of all lanes, its second half the b. Halves of a group are numbers modulo N; they may be only partly
// reduced, within the bounds that each function states.
//
// Constant-time: every function branches and indexes on sizes and pointers only, unless it says otherwise.
#pragma once

#include <memory>

#include "cpu.h"
#include "montgomery.h"

namespace tandem {

constexpr std::size_t kLanesMax = 8;
constexpr std::size_t tableMarginBytes = 64;

class SquareRing {
 public:
  // `n` is odd and above 2^60; its top limb is not zero.
  static std::unique_ptr<SquareRing> create(Kernel kernel, const Limb* n, std::size_t limbs);
  virtual ~SquareRing() = default;

  const Modulus& modulus() const { return modulus_; }
  std::size_t limbs() const { return modulus_.limbs(); }
  std::size_t elementLimbs() const { return 2 * modulus_.limbs(); }
  std::size_t lanes() const { return lanes_; }
  std::size_t words() const { return words_; }
  // 1, resident.
  const Limb* one() const { return one_.data(); }
  // R^2 and R^3 (their Montgomery forms), resident.
  const Limb* rSquared() const { return rSquared_.data(); }
  const Limb* rCubed() const { return rCubed_.data(); }

  // r = x y and r = x x. r may be x or y.
  virtual void multiply(Word* r, const Word* x, const Word* y) const = 0;
  virtual void square(Word* r, const Word* x) const = 0;
  // (a, b) times the half c taken as the pair (c, 0): what fixed-base powers need (fixed-base.h).
  virtual void multiplyByHalf(Word* r, const Word* x, const Word* c) const = 0;
  // Halves: r = x y / R modulo N, for x y < 16 N R; r = x + y.
  virtual void multiplyHalves(Word* r, const Word* x, const Word* y) const = 0;
  virtual void addHalves(Word* r, const Word* x, const Word* y) const = 0;
  // r = x + y for plain pairs, whose halves may be below 4 N each.
  virtual void addPairs(Word* r, const Word* x, const Word* y) const = 0;
  // Reduces plain pairs fully, first halves below 8 N and second halves below 15 N: x = a + b N is then unique.
  virtual void reduce(Word* x) const = 0;
  // r = x N + z, plain: x of any number of words, z a half, r as many words more than x as a half has. r is not x.
  virtual void timesModulus(Word* r, const Word* x, std::size_t wordsOfX, const Word* z) const = 0;
  // Such an x in limbs, which hold it; skips null pointers.
  virtual void store(Limb* const* values, std::size_t limbsOfValue, const Word* x, std::size_t wordsOfX) const = 0;

  // Between residents and a group. gather reads 1 for a null pointer; scatter skips it.
  virtual void gather(Word* r, const Limb* const* elements) const = 0;
  virtual void scatter(Limb* const* elements, const Word* x) const = 0;
  virtual void insert(Word* r, std::size_t lane, const Limb* element) const = 0;
  virtual void extract(Limb* element, const Word* x, std::size_t lane) const = 0;
  // Entries of fixed-base tables (fixed-base.h): two halves c and l of a lane, in the kernel's own digits, so that
  // nothing is converted when they are read. A table ends with tableMarginBytes that are read and not used.
  virtual std::size_t tableEntryBytes() const = 0;
  // Writes every lane's entry; skips null pointers.
  virtual void writeEntries(std::uint8_t* const* entries, const Word* c, const Word* l) const = 0;
  // c of every lane's entry into a half, and l added to that lane's sum: sumWords() zero words for all lanes at first,
  // up to 256 times.
  virtual std::size_t sumWords() const = 0;
  virtual void readEntries(Word* c, Word* sums, const std::uint8_t* const* entries) const = 0;
  // A lane's sum, not reduced, limbs() + 1 limbs.
  virtual void readSum(Limb* sum, const Word* sums, std::size_t lane) const = 0;
  // Numbers below N, limbs() limbs, into a half. Null pointers read 0.
  virtual void loadHalf(Word* r, const Limb* const* values) const = 0;
  // Low half and high half of numbers below R^2: value = low + high R. Null pointers read 0.
  virtual void split(Word* r, const Limb* const* values, std::size_t limbsOfValue) const = 0;

  // Plain numbers below N^2, elementLimbs() limbs, into a group. Null pointers read 0.
  virtual void importPlain(Word* r, const Limb* const* values) const = 0;
  // A group into plain pairs (a, b), X = a + b N, both below N; skips null pointers.
  virtual void exportPlain(Limb* const* pairs, const Word* x) const = 0;

  // Tables of groups in a form that is quick to search: `tableWords` words per entry.
  virtual std::size_t tableWords() const = 0;
  virtual void toTable(Word* entry, const Word* x) const = 0;
  virtual void fromTable(Word* r, const Word* entry) const = 0;
  // Reads all `size` entries and keeps entry `index`: no address depends on the index.
  virtual void select(Word* r, const Word* table, std::size_t size, std::size_t index) const = 0;

 protected:
  SquareRing(const Limb* n, std::size_t limbs, RowFunction rows, std::size_t lanes);
  // Sets words() and the resident constants; radixBits is log2 R.
  void prepare(std::size_t words, std::size_t radixBits);
  // Writes a + b N reduced to a resident: a < 2 N, b < 4 N, in limbs() + 1 limbs each, which are overwritten.
  void reducePair(Limb* element, Limb* a, Limb* b) const;
  // 2^exponent modulo N^2 as a pair of reduced halves.
  Limbs powerOfTwo(std::size_t exponent) const;

 private:
  Modulus modulus_;
  std::size_t lanes_;
  std::size_t words_ = 0;
  Limbs padded_;  // N and 2 N with one more limb
  Limbs padded2_;
  Limbs one_;
  Limbs rSquared_;
  Limbs rCubed_;
};

// A group or several, aligned for every kernel, wiped when freed.
using Words = std::vector<Word, WipingAllocator<Word>>;

}  // namespace tandem
