// See lattice-answers.h.
#include "lattice-answers.h"

#include <algorithm>
#include <memory>

#include "lattice-cells.h"
#include "lattice-samplers.h"
#include "threads.h"

namespace tandem {
namespace lattice {

namespace {

// Candidates whose sums stay in the second-level cache while tables are made once for all of them.
constexpr std::size_t kCandidatesPerPass = 2048;
constexpr std::size_t kChainsPerChunk = 64;

// Sums of cells along the chains: kLanes folded numbers per candidate.
Array<std::int64_t> chainSums(const Context& context, const AnswerJob& job, std::size_t threads) {
  Array<std::int64_t> sums(kLanes * job.candidates);
  parallelChunks(job.chains.count(), kChainsPerChunk, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t chain = begin; chain < end; chain++) {
      std::int64_t sum[kLanes] = {};
      for (std::size_t step = job.chains.offsets[chain]; step < job.chains.offsets[chain + 1]; step++) {
        const std::uint64_t* cell = job.cells + kLanes * job.chains.sources[step];
        for (std::size_t lane = 0; lane < context.set.lanes; lane++) {
          const std::size_t limb = lane % context.set.limbs;
          // A cell is canonical; whatever it is, the sum stays within 64 bits.
          const std::int64_t added = static_cast<std::int64_t>(cell[lane] & kPrimeMask);
          sum[lane] = static_cast<std::int64_t>(canonicalOfFolded(sum[lane] + added, limb));
        }
        const std::int32_t target = job.chains.targets[step];
        if (target >= 0) std::copy(sum, sum + kLanes, sums.data() + kLanes * static_cast<std::size_t>(target));
      }
    }
  });
  return sums;
}

class AnswerWriter {
 public:
  AnswerWriter(const Context& context, const AnswerJob& job, const Array<std::int64_t>& sums)
      : context_(context), job_(job), sums_(sums), smudging_(job.smudgingWidth) {
    for (std::size_t l = 0; l < context.set.limbs; l++) {
      wordFactors_[l] = Factor(context.wordFactors[l], kPrimes[l]);
      for (std::size_t column = 0; column < kColumns; column++) {
        multipliers_[column][l] = Factor(context.multipliers[column][l], kPrimes[l]);
      }
    }
  }

  // Candidates of one stream of smudging noise.
  void write(const AesKey& key, std::size_t stream) const {
    KeyStream bytes(context_.kernel, key, {Domain::kSmudging, 0, stream});
    const std::size_t first = stream * kSmudgingCandidates;
    const std::size_t end = std::min(first + kSmudgingCandidates, job_.candidates);
    const Set& set = context_.set;
    for (std::size_t c = first; c < end; c++) {
      for (std::size_t group = 0; group < set.groups; group++) {
        const SignedWide smudging = smudging_.draw(bytes);
        std::uint64_t y[kLimbsMax];
        for (std::size_t limb = 0; limb < set.limbs; limb++) y[limb] = wordPart(c, group, limb, smudging);
        context_.words.write(y, job_.words + (c * set.groups + group) * set.wordBytes);
      }
    }
  }

 private:
  // u_c times what a word needs, modulo a prime.
  std::uint64_t wordPart(std::size_t c, std::size_t group, std::size_t limb, SignedWide smudging) const {
    const std::size_t lane = group * context_.set.limbs + limb;
    const std::int64_t product = fold(static_cast<SignedWide>(job_.products[c * context_.set.lanes + lane]), limb);
    std::int64_t sum = sums_[kLanes * c + lane] + product + fold(smudging, limb);
    if (!job_.noise.empty()) sum += noiseOf(c, group, limb);
    return wordFactors_[limb].times(canonicalOfFolded(sum, limb), kPrimes[limb]);
  }

  std::int64_t noiseOf(std::size_t c, std::size_t group, std::size_t limb) const {
    std::uint64_t sum = 0;
    for (std::size_t column = 0; column < kColumns; column++) {
      if (context_.set.groups == 2 && column != group) continue;
      const std::int64_t noise = job_.noise[kColumns * c + column];
      const std::uint64_t residue = canonicalOfFolded(fold(static_cast<SignedWide>(noise), limb), limb);
      sum = lessPrime(sum + multipliers_[column][limb].times(residue, kPrimes[limb]), kPrimes[limb]);
    }
    return static_cast<std::int64_t>(sum);
  }

  const Context& context_;
  const AnswerJob& job_;
  const Array<std::int64_t>& sums_;
  Smudging smudging_;
  Factor wordFactors_[kLimbsMax];
  Factor multipliers_[kColumns][kLimbsMax];
};

}  // namespace

long long maskProducts(const Context& context, const std::uint8_t* masks, const std::uint8_t* records,
                       std::size_t candidates, std::int64_t* products, std::size_t threads) {
  // All of it is written, and it came from the wire: it need be neither cleared nor wiped.
  const std::unique_ptr<std::uint64_t[]> lanes(new std::uint64_t[kLanes * context.set.degree]);
  const long long refused = unpackChecked(context, records, context.set.degree, lanes.get());
  if (refused >= 0) return refused;
  const std::size_t share = (candidates + threads - 1) / threads;
  const std::size_t chunk = std::clamp<std::size_t>(share, 1, kCandidatesPerPass);
  parallelChunks(candidates, chunk, threads, [&](std::size_t begin, std::size_t end) {
    Array<std::int64_t> sums(kLanes * (end - begin));
    context.kernel.addMaskProducts(lanes.get(), masks, candidates, begin, end, sums.data());
    for (std::size_t c = begin; c < end; c++) {
      const std::int64_t* own = sums.data() + kLanes * (c - begin);
      std::copy(own, own + context.set.lanes, products + c * context.set.lanes);
    }
  });
  return -1;
}

void answer(const Context& context, const AnswerJob& job, std::size_t threads) {
  const AesKey key(job.seed, kSeedBytes);
  const Array<std::int64_t> sums = chainSums(context, job, threads);
  const AnswerWriter writer(context, job, sums);
  const std::size_t streams = (job.candidates + kSmudgingCandidates - 1) / kSmudgingCandidates;
  parallelChunks(streams, 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t stream = begin; stream < end; stream++) writer.write(key, stream);
  });
}

}  // namespace lattice
}  // namespace tandem
