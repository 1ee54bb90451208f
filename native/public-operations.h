// What the holder of a public key computes on ciphertexts: products, powers and packings modulo n^2.
//
// Layout: a resident element is a pair of halves modulo n (square-ring.h), elementLimbs() limbs; vectors are flat. Wire
// elements and plaintexts are little-endian bytes.
//
// Trust: sizes were checked by the glue. Index arrays that stay in JavaScript's memory are checked here at every use,
// because JavaScript can change them meanwhile. Resident elements are trusted to come from the same key and kernel:
// src/crypto/paillier/resident-bytes.ts ensures it. Others would give wrong sums, never a bad access.
//
// Constant-time: operations on obfuscators and their bases are, as square-ring.h and power.h (n is public) are.
// raise (scalars) and firstNonUnit are not; load and unload compare public ciphertexts in variable time.
//
// Why obfuscators are r^n and not powers of prepared bases. Re-randomisation must hold against the key owner, who knows
// the group of n-th residues, Z_(p-1) x Z_(q-1), and may have chosen p - 1 and q - 1 full of small factors. Suppose the
// passive party drew k bases itself. A product of their powers is uniform in the subgroup that they generate, however
// long the exponents. But p - 1 and q - 1 always share the factor 2, and because of that alone k random elements fail
// to generate the whole group with probability about 3 2^-k. Then a character of the sum's original obfuscator shows
// through.
//
// Safe for every structure is one independent base per bit of |n| + 128: a random subset product is close to uniform in
// any group, by the leftover hash lemma. At 2048 bits that is 2176 powers r^n before the first obfuscator, and then a
// sixth of the cost of r^n each. It pays beyond about 2600 obfuscators, more than most jobs use, so it is not done. (In
// between lie a few long exponents and some 200 such bits for the small factors: a third of the cost after some 300
// powers. The gain would be one or two percent of a tree.)
#pragma once

#include <memory>

#include "power.h"
#include "square-ring.h"

namespace tandem {

struct PublicContext {
  PublicContext(Kernel kernel, const std::uint8_t* n, std::size_t nBytes);

  std::size_t elementLimbs() const { return ring->elementLimbs(); }

  std::size_t limbsOfN;
  Limbs n;
  Limbs nSquared;  // elementLimbs() limbs
  Exponent exponentN;
  std::unique_ptr<SquareRing> ring;  // modulo n^2
};

// Bytes of fixed-width elements.
struct FlatInput {
  const std::uint8_t* bytes;
  std::size_t sizeBytes;
  std::size_t count;
  const std::uint8_t* element(std::size_t index) const { return bytes + index * sizeBytes; }
};

// The functions that return a number return the index of the first element that was refused, or -1.

// Wire to resident; refuses 0 and anything from n^2 on.
long long load(const PublicContext& context, FlatInput source, Limb* target, std::size_t threads);
// Resident to wire; refuses 0, which only unloaded elements and multiples of n give.
long long unload(const PublicContext& context, const Limb* source, std::size_t count, std::uint8_t* target,
                 std::size_t targetBytes, std::size_t threads);

void multiply(const PublicContext& context, const Limb* a, const Limb* b, Limb* result, std::size_t count,
              std::size_t threads);
// The first element that shares a factor with n, or -1.
long long firstNonUnit(const PublicContext& context, const Limb* elements, std::size_t count, std::size_t threads);
// result[i] = a[i]^scalars[i]; refuses scalars from n on.
long long raise(const PublicContext& context, const Limb* a, FlatInput scalars, Limb* result, std::size_t threads);

// result[i] = bases[i]^n; refuses 0 and anything from n on.
long long nthPowers(const PublicContext& context, FlatInput bases, Limb* result, std::size_t threads);
// result[i] = (1 + plaintexts[i] n) * obfuscators[i]; refuses plaintexts from n on.
long long seal(const PublicContext& context, FlatInput plaintexts, const Limb* obfuscators, Limb* result,
               std::size_t threads);

struct HistogramJob {
  const Limb* gradients;
  std::size_t instanceCount;
  std::size_t perInstance;
  const std::uint32_t* instances;
  std::size_t selectedCount;
  struct Feature {
    const std::uint16_t* bins;
    std::size_t binCount;
    std::int64_t skippedBin;
    std::size_t firstCell;
  };
  std::vector<Feature> features;
  std::size_t cellCount;
  bool jointBins;  // may features be summed jointly (joint-bins.h); the result is the same
};

// Throws std::out_of_range for an instance or bin that does not exist.
void histogram(const PublicContext& context, const HistogramJob& job, Limb* result, std::size_t threads);

struct RunningSumsJob {
  const Limb* source;
  std::vector<std::uint32_t> chainOffsets;
  std::vector<std::uint32_t> sources;
  std::vector<std::int32_t> targets;
};

void runningSums(const PublicContext& context, const RunningSumsJob& job, Limb* result, std::size_t threads);

struct PackJob {
  const Limb* source;
  std::size_t count;
  std::size_t strideBits;
  std::size_t perCiphertext;
};

// result[e] = bases[e]^n times source[e * perCiphertext + k]^(2^(k strideBits)) for all k: packed and re-randomised.
// Both need about |n| squarings, and share them. Refuses bases as nthPowers does.
long long pack(const PublicContext& context, const PackJob& job, FlatInput bases, Limb* result, std::size_t threads);

}  // namespace tandem
