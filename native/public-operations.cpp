// See public-operations.h. The histogram is in histogram.cpp.
#include "public-operations.h"

#include <algorithm>

#include "threads.h"

namespace tandem {

namespace {

// Elements per hand-out for operations of about a microsecond each.
constexpr std::size_t kShortChunk = 64;
// Elements that share one inversion (Montgomery's trick): an inversion costs about as much as some 200 products.
constexpr std::size_t kInversionChunk = 512;

Limbs squareOf(const Limbs& n, std::size_t squareBits) {
  Limbs square(2 * n.size());
  squareFull(square.data(), n.data(), n.size());
  square.resize((squareBits + kLimbBits - 1) / kLimbBits);
  return square;
}

std::size_t bitsOf(const Limbs& n) {
  std::size_t bits = n.size() * kLimbBits;
  while (bits > 0 && ((n[(bits - 1) / kLimbBits] >> ((bits - 1) % kLimbBits)) & 1) == 0) bits--;
  return bits;
}

Limbs limbsFrom(const std::uint8_t* bytes, std::size_t sizeBytes) {
  Limbs result(limbsForBytes(sizeBytes));
  loadBytes(result.data(), result.size(), bytes, sizeBytes);
  return result;
}

}  // namespace

PublicContext::PublicContext(const std::uint8_t* nBytes, std::size_t nSizeBytes)
    : limbsOfN(limbsForBytes(nSizeBytes)),
      n(limbsFrom(nBytes, nSizeBytes)),
      exponentN(nBytes, nSizeBytes, ExponentKind::kPublic) {
  const Limbs square = squareOf(n, 2 * bitsOf(n));
  modulus = std::make_unique<Modulus>(square.data(), square.size());
}

long long load(const PublicContext& context, FlatInput source, Limb* target, std::size_t threads) {
  const Modulus& modulus = *context.modulus;
  const std::size_t limbs = modulus.limbs();
  FirstBad bad;
  parallelChunks(source.count, kShortChunk, threads, [&](std::size_t begin, std::size_t end) {
    Limb value[kLimbsMax];
    for (std::size_t i = begin; i < end; i++) {
      loadBytes(value, limbs, source.element(i), source.sizeBytes);
      if (isZero(value, limbs) || compare(value, modulus.value(), limbs) >= 0) {
        bad.report(i);
        return;
      }
      modulus.toMontgomery(target + i * limbs, value);
    }
  });
  return bad.index();
}

long long unload(const PublicContext& context, const Limb* source, std::size_t count, std::uint8_t* target,
                 std::size_t targetBytes, std::size_t threads) {
  const Modulus& modulus = *context.modulus;
  const std::size_t limbs = modulus.limbs();
  FirstBad bad;
  parallelChunks(count, kShortChunk, threads, [&](std::size_t begin, std::size_t end) {
    Limb value[kLimbsMax];
    for (std::size_t i = begin; i < end; i++) {
      modulus.fromMontgomery(value, source + i * limbs);
      if (isZero(value, limbs)) {
        bad.report(i);
        return;
      }
      storeBytes(target + i * targetBytes, targetBytes, value);
    }
  });
  return bad.index();
}

void multiply(const PublicContext& context, const Limb* a, const Limb* b, Limb* result, std::size_t count,
              std::size_t threads) {
  const std::size_t limbs = context.limbs();
  parallelChunks(count, kShortChunk, threads, [&](std::size_t begin, std::size_t end) {
    Product jobs[kLanes];
    for (std::size_t first = begin; first < end; first += kLanes) {
      const std::size_t lanes = std::min(kLanes, end - first);
      for (std::size_t lane = 0; lane < lanes; lane++) {
        const std::size_t at = (first + lane) * limbs;
        jobs[lane] = {result + at, a + at, b + at};
      }
      context.modulus->products(jobs, lanes);
    }
  });
}

long long invert(const PublicContext& context, const Limb* a, Limb* result, std::size_t count, std::size_t threads) {
  const Modulus& modulus = *context.modulus;
  const std::size_t limbs = modulus.limbs();
  FirstBad bad;
  parallelChunks(count, kInversionChunk, threads, [&](std::size_t begin, std::size_t end) {
    // result[i] = a[begin] ... a[i]; then one inverse, which is unwound from the end.
    copyLimbs(result + begin * limbs, a + begin * limbs, limbs);
    for (std::size_t i = begin + 1; i < end; i++) {
      modulus.product(result + i * limbs, result + (i - 1) * limbs, a + i * limbs);
    }
    Limb inverse[kLimbsMax];
    if (!modulus.invert(inverse, result + (end - 1) * limbs)) {
      for (std::size_t i = begin; i < end; i++) {
        if (!modulus.invert(inverse, a + i * limbs)) return bad.report(i);
      }
      return;
    }
    for (std::size_t i = end - 1; i > begin; i--) {
      modulus.product(result + i * limbs, inverse, result + (i - 1) * limbs);
      modulus.product(inverse, inverse, a + i * limbs);
    }
    copyLimbs(result + begin * limbs, inverse, limbs);
  });
  return bad.index();
}

long long raise(const PublicContext& context, const Limb* a, FlatInput scalars, Limb* result, std::size_t threads) {
  const std::size_t limbs = context.limbs();
  FirstBad bad;
  parallelChunks(scalars.count, 1, threads, [&](std::size_t i, std::size_t) {
    Limb value[kLimbsMax];
    loadBytes(value, context.limbsOfN, scalars.element(i), scalars.sizeBytes);
    if (compare(value, context.n.data(), context.limbsOfN) >= 0) return bad.report(i);
    const Exponent exponent(reinterpret_cast<const std::uint8_t*>(value), 8 * context.limbsOfN, ExponentKind::kPublic);
    Limb* const target = result + i * limbs;
    const Limb* const base = a + i * limbs;
    powers(*context.modulus, &target, &base, 1, exponent);
  });
  return bad.index();
}

long long nthPowers(const PublicContext& context, FlatInput bases, Limb* result, std::size_t threads) {
  const Modulus& modulus = *context.modulus;
  const std::size_t limbs = modulus.limbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(bases.count, threads, kLanes);
  parallelChunks(bases.count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    Limb* targets[kLanes];
    Limb value[kLimbsMax];
    for (std::size_t i = begin; i < end; i++) {
      Limb* target = result + i * limbs;
      targets[i - begin] = target;
      loadBytes(value, limbs, bases.element(i), bases.sizeBytes);
      // r < n: only whether it holds is revealed, and it always does.
      Limb difference[kLimbsMax];
      const bool below = subtractLimbs(difference, value, context.n.data(), context.limbsOfN) != 0;
      if (!below || zeroMask(value, limbs) != 0) bad.report(i);
      modulus.toMontgomery(target, value);
      wipe(difference, sizeof difference);
    }
    wipe(value, sizeof value);
    powers(modulus, targets, targets, end - begin, context.exponentN);
  });
  return bad.index();
}

long long seal(const PublicContext& context, FlatInput plaintexts, const Limb* obfuscators, Limb* result,
               std::size_t threads) {
  const Modulus& modulus = *context.modulus;
  const std::size_t limbs = modulus.limbs();
  FirstBad bad;
  parallelChunks(plaintexts.count, kShortChunk, threads, [&](std::size_t begin, std::size_t end) {
    Limb plaintext[kLimbsMax];
    Limb factor[2 * kLimbsMax];
    for (std::size_t i = begin; i < end; i++) {
      loadBytes(plaintext, context.limbsOfN, plaintexts.element(i), plaintexts.sizeBytes);
      if (subtractLimbs(factor, plaintext, context.n.data(), context.limbsOfN) == 0) return bad.report(i);
      multiplyFull(factor, plaintext, context.n.data(), context.limbsOfN);
      addSmall(factor, 1, limbs);
      modulus.toMontgomery(factor, factor);
      modulus.product(result + i * limbs, factor, obfuscators + i * limbs);
    }
    wipe(plaintext, sizeof plaintext);
    wipe(factor, sizeof factor);
  });
  return bad.index();
}

void runningSums(const PublicContext& context, const RunningSumsJob& job, Limb* result, std::size_t threads) {
  const std::size_t limbs = context.limbs();
  const std::size_t chains = job.chainOffsets.size() - 1;
  parallelChunks(chains, laneChunk(chains, threads, kLanes), threads, [&](std::size_t begin, std::size_t end) {
    Limbs sums((end - begin) * limbs);
    for (std::size_t step = 0;; step++) {
      Product jobs[kLanes];
      std::size_t lanes = 0;
      bool any = false;
      for (std::size_t chain = begin; chain < end; chain++) {
        const std::size_t at = job.chainOffsets[chain] + step;
        if (at >= job.chainOffsets[chain + 1]) continue;
        any = true;
        Limb* sum = &sums[(chain - begin) * limbs];
        const Limb* added = job.source + job.sources[at] * limbs;
        if (step == 0) {
          copyLimbs(sum, added, limbs);
        } else {
          jobs[lanes++] = {sum, sum, added};
        }
      }
      if (!any) return;
      context.modulus->products(jobs, lanes);
      for (std::size_t chain = begin; chain < end; chain++) {
        const std::size_t at = job.chainOffsets[chain] + step;
        if (at >= job.chainOffsets[chain + 1] || job.targets[at] < 0) continue;
        copyLimbs(result + static_cast<std::size_t>(job.targets[at]) * limbs, &sums[(chain - begin) * limbs], limbs);
      }
    }
  });
}

void pack(const PublicContext& context, const Limb* source, std::size_t count, std::size_t strideBits,
          std::size_t perCiphertext, Limb* result, std::size_t threads) {
  const std::size_t limbs = context.limbs();
  const std::size_t results = (count + perCiphertext - 1) / perCiphertext;
  parallelChunks(results, laneChunk(results, threads, kLanes), threads, [&](std::size_t begin, std::size_t end) {
    // All lanes start with candidate perCiphertext - 1; the last result may lack its top candidates and joins later.
    for (std::size_t k = perCiphertext; k-- > 0;) {
      Product squares[kLanes];
      Product products[kLanes];
      std::size_t lanes = 0;
      for (std::size_t e = begin; e < end; e++) {
        const std::size_t at = e * perCiphertext + k;
        if (at >= count) continue;
        Limb* packed = result + e * limbs;
        if (k + 1 == perCiphertext || at + 1 == count) {
          copyLimbs(packed, source + at * limbs, limbs);
          continue;
        }
        squares[lanes] = {packed, packed, packed};
        products[lanes++] = {packed, packed, source + at * limbs};
      }
      for (std::size_t s = 0; s < strideBits && lanes > 0; s++) context.modulus->products(squares, lanes);
      context.modulus->products(products, lanes);
    }
  });
}

}  // namespace tandem
