// See public-operations.h. The histogram is in histogram.cpp.
#include "public-operations.h"

#include <algorithm>

#include "threads.h"

namespace tandem {

namespace {

// Elements per hand-out for operations of about a microsecond each.
constexpr std::size_t kShortChunk = 64;

Limbs limbsFrom(const std::uint8_t* bytes, std::size_t sizeBytes) {
  Limbs result(limbsForBytes(sizeBytes));
  loadBytes(result.data(), result.size(), bytes, sizeBytes);
  return result;
}

// Calls work(begin, lanes) for groups of up to ring.lanes() neighbours, in hand-outs of about `chunk` elements.
template <typename Work>
void forGroups(const SquareRing& ring, std::size_t count, std::size_t chunk, std::size_t threads, const Work& work) {
  parallelChunks(count, chunk, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += ring.lanes())
      work(first, std::min(ring.lanes(), end - first));
  });
}

// Addresses of neighbouring elements; null for idle lanes.
template <typename T>
struct LanePointers {
  T* at[kLanesMax] = {nullptr};
  LanePointers(T* base, std::size_t size, std::size_t first, std::size_t lanes) {
    for (std::size_t lane = 0; lane < lanes; lane++) at[lane] = base + (first + lane) * size;
  }
};

// Bases of obfuscators into a group. Refuses 0 and anything from n on.
bool importBases(const PublicContext& context, FlatInput bases, std::size_t first, std::size_t lanes, Word* group,
                 FirstBad& bad) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  Limbs values(lanes * size);
  Limbs difference(context.limbsOfN);
  for (std::size_t lane = 0; lane < lanes; lane++) {
    Limb* value = &values[lane * size];
    loadBytes(value, size, bases.element(first + lane), bases.sizeBytes);
    // r < n: only whether it holds is revealed, and it always does.
    const bool below = subtractLimbs(difference.data(), value, context.n.data(), context.limbsOfN) != 0;
    if (!below || zeroMask(value, size) != 0) {
      bad.report(first + lane);
      return false;
    }
  }
  ring.importPlain(group, LanePointers<const Limb>(values.data(), size, 0, lanes).at);
  return true;
}

}  // namespace

PublicContext::PublicContext(Kernel kernel, const std::uint8_t* nBytes, std::size_t nSizeBytes)
    : limbsOfN(limbsForBytes(nSizeBytes)),
      n(limbsFrom(nBytes, nSizeBytes)),
      nSquared(2 * limbsOfN),
      exponentN(nBytes, nSizeBytes, ExponentKind::kPublic),
      ring(SquareRing::create(kernel, n.data(), limbsOfN)) {
  squareFull(addProductRow, nSquared.data(), n.data(), limbsOfN);
}

long long load(const PublicContext& context, FlatInput source, Limb* target, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  FirstBad bad;
  forGroups(ring, source.count, kShortChunk, threads, [&](std::size_t first, std::size_t lanes) {
    Limb values[kLanesMax][kLimbsMax];
    const Limb* pointers[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) {
      Limb* value = values[lane];
      loadBytes(value, size, source.element(first + lane), source.sizeBytes);
      if (isZero(value, size) || compare(value, context.nSquared.data(), size) >= 0) {
        bad.report(first + lane);
        return;
      }
      pointers[lane] = value;
    }
    Words group(ring.words());
    ring.importPlain(group.data(), pointers);
    ring.scatter(LanePointers<Limb>(target, size, first, lanes).at, group.data());
  });
  return bad.index();
}

long long unload(const PublicContext& context, const Limb* source, std::size_t count, std::uint8_t* target,
                 std::size_t targetBytes, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  const std::size_t half = ring.limbs();
  FirstBad bad;
  forGroups(ring, count, kShortChunk, threads, [&](std::size_t first, std::size_t lanes) {
    Limb pairs[kLanesMax][kLimbsMax];
    Limb* pointers[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) pointers[lane] = pairs[lane];
    Words group(ring.words());
    ring.gather(group.data(), LanePointers<const Limb>(source, size, first, lanes).at);
    ring.exportPlain(pointers, group.data());
    for (std::size_t lane = 0; lane < lanes; lane++) {
      if (isZero(pairs[lane], size)) {
        bad.report(first + lane);
        return;
      }
      Limb value[kLimbsMax];
      multiplyFull(ring.modulus().rows(), value, pairs[lane] + half, context.n.data(), half);
      addSmall(value + half, addLimbs(value, value, pairs[lane], half), half);
      storeBytes(target + (first + lane) * targetBytes, targetBytes, value);
    }
  });
  return bad.index();
}

void multiply(const PublicContext& context, const Limb* a, const Limb* b, Limb* result, std::size_t count,
              std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  forGroups(ring, count, kShortChunk, threads, [&](std::size_t first, std::size_t lanes) {
    Words x(ring.words());
    Words y(ring.words());
    ring.gather(x.data(), LanePointers<const Limb>(a, size, first, lanes).at);
    ring.gather(y.data(), LanePointers<const Limb>(b, size, first, lanes).at);
    ring.multiply(x.data(), x.data(), y.data());
    ring.scatter(LanePointers<Limb>(result, size, first, lanes).at, x.data());
  });
}

long long raise(const PublicContext& context, const Limb* a, FlatInput scalars, Limb* result, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(scalars.count, ring.lanes());
  forGroups(ring, scalars.count, chunk, threads, [&](std::size_t first, std::size_t lanes) {
    Limb values[kLanesMax][kLimbsMax];
    const Limb* exponents[kLanesMax] = {nullptr};
    for (std::size_t lane = 0; lane < lanes; lane++) {
      loadBytes(values[lane], context.limbsOfN, scalars.element(first + lane), scalars.sizeBytes);
      if (compare(values[lane], context.n.data(), context.limbsOfN) >= 0) return bad.report(first + lane);
      exponents[lane] = values[lane];
    }
    Words group(ring.words());
    Words base(ring.words());
    ring.gather(base.data(), LanePointers<const Limb>(a, size, first, lanes).at);
    raiseEach(ring, group.data(), base.data(), exponents, context.limbsOfN);
    ring.scatter(LanePointers<Limb>(result, size, first, lanes).at, group.data());
  });
  return bad.index();
}

long long nthPowers(const PublicContext& context, FlatInput bases, Limb* result, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  FirstBad bad;
  const std::size_t chunk = laneChunk(bases.count, ring.lanes());
  forGroups(ring, bases.count, chunk, threads, [&](std::size_t first, std::size_t lanes) {
    Words group(ring.words());
    if (!importBases(context, bases, first, lanes, group.data(), bad)) return;
    power(ring, group.data(), group.data(), context.exponentN);
    ring.scatter(LanePointers<Limb>(result, ring.elementLimbs(), first, lanes).at, group.data());
  });
  return bad.index();
}

long long seal(const PublicContext& context, FlatInput plaintexts, const Limb* obfuscators, Limb* result,
               std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  const std::size_t half = ring.words() / 2;
  FirstBad bad;
  const Limbs rSquared(ring.rSquared(), ring.rSquared() + size);
  forGroups(ring, plaintexts.count, kShortChunk, threads, [&](std::size_t first, std::size_t lanes) {
    Limbs values(lanes * context.limbsOfN);
    Limbs difference(context.limbsOfN);
    const LanePointers<const Limb> pointers(values.data(), context.limbsOfN, 0, lanes);
    const Limb* factors[kLanesMax];
    std::fill(factors, factors + kLanesMax, rSquared.data());
    for (std::size_t lane = 0; lane < lanes; lane++) {
      Limb* value = &values[lane * context.limbsOfN];
      loadBytes(value, context.limbsOfN, plaintexts.element(first + lane), plaintexts.sizeBytes);
      const Limb below = subtractLimbs(difference.data(), value, context.n.data(), context.limbsOfN);
      if (below == 0) return bad.report(first + lane);
    }
    // (a + b n)(1 + m n) = a + (b + a m) n; halves are products with 1 / R, hence m R = m R^2 / R.
    Words group(ring.words());
    Words plaintext(ring.words());
    Words factor(ring.words());
    ring.gather(group.data(), LanePointers<const Limb>(obfuscators, size, first, lanes).at);
    ring.split(plaintext.data(), pointers.at, context.limbsOfN);
    ring.gather(factor.data(), factors);
    ring.multiplyHalves(plaintext.data(), plaintext.data(), factor.data());
    ring.multiplyHalves(plaintext.data(), plaintext.data(), group.data());
    ring.addHalves(&group[half], &group[half], plaintext.data());
    ring.scatter(LanePointers<Limb>(result, size, first, lanes).at, group.data());
  });
  return bad.index();
}

void runningSums(const PublicContext& context, const RunningSumsJob& job, Limb* result, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  const std::size_t chains = job.chainOffsets.size() - 1;
  const std::size_t chunk = laneChunk(chains, ring.lanes());
  forGroups(ring, chains, chunk, threads, [&](std::size_t firstChain, std::size_t lanes) {
    const Limb* const none[kLanesMax] = {nullptr};
    Words sums(ring.words());
    Words added(ring.words());
    ring.gather(sums.data(), none);
    for (std::size_t step = 0;; step++) {
      const Limb* elements[kLanesMax] = {nullptr};
      std::int32_t targets[kLanesMax];
      std::fill(targets, targets + kLanesMax, -1);
      bool any = false;
      for (std::size_t lane = 0; lane < lanes; lane++) {
        const std::size_t at = job.chainOffsets[firstChain + lane] + step;
        if (at >= job.chainOffsets[firstChain + lane + 1]) continue;
        any = true;
        elements[lane] = job.source + job.sources[at] * size;
        targets[lane] = job.targets[at];
      }
      if (!any) return;
      if (step == 0) {
        ring.gather(sums.data(), elements);
      } else {
        ring.gather(added.data(), elements);
        ring.multiply(sums.data(), sums.data(), added.data());
      }
      for (std::size_t lane = 0; lane < lanes; lane++) {
        if (targets[lane] >= 0) {
          ring.extract(result + static_cast<std::size_t>(targets[lane]) * size, sums.data(), lane);
        }
      }
    }
  });
}

long long pack(const PublicContext& context, const PackJob& job, FlatInput bases, Limb* result, std::size_t threads) {
  const SquareRing& ring = *context.ring;
  const std::size_t size = ring.elementLimbs();
  FirstBad bad;
  const std::size_t chunk = laneChunk(bases.count, ring.lanes());
  forGroups(ring, bases.count, chunk, threads, [&](std::size_t first, std::size_t lanes) {
    Words packed(ring.words());
    if (!importBases(context, bases, first, lanes, packed.data(), bad)) return;
    const std::size_t held = std::min(job.perCiphertext, job.count - first * job.perCiphertext);
    powerAndShift(ring, packed.data(), packed.data(), context.exponentN, job.strideBits, held,
                  [&](Word* factor, std::size_t k) {
                    // The last result may lack its top candidates: 1 in its lane.
                    const Limb* elements[kLanesMax] = {nullptr};
                    for (std::size_t lane = 0; lane < lanes; lane++) {
                      const std::size_t at = (first + lane) * job.perCiphertext + k;
                      if (at < job.count) elements[lane] = job.source + at * size;
                    }
                    ring.gather(factor, elements);
                  });
    ring.scatter(LanePointers<Limb>(result, size, first, lanes).at, packed.data());
  });
  return bad.index();
}

}  // namespace tandem
