// See lattice-hints.h.
#include "lattice-hints.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "lattice-samplers.h"
#include "threads.h"

namespace tandem {
namespace lattice {

namespace {

// Terms of at most 0.6 p that may be added to a reduced sum.
constexpr std::size_t kTermsMax = 4;
// Sums of bins that are kept because another chain needs them, per feature.
constexpr std::size_t kKeptMax = 256;

// Ring elements that are summed, transformed: all limbs.
class Sum {
 public:
  explicit Sum(const Context& context) : context_(context), values_(context.set.limbs * context.set.degree) {}

  double* limb(std::size_t l) { return values_.data() + l * context_.set.degree; }
  const double* limb(std::size_t l) const { return values_.data() + l * context_.set.degree; }
  void clear() {
    std::fill(values_.begin(), values_.end(), 0.0);
    terms_ = 0;
  }
  // To be called after every term.
  void countTerm() {
    if (++terms_ == kTermsMax) reduce();
  }
  void reduce() {
    for (std::size_t l = 0; l < context_.set.limbs; l++) context_.kernel.reduce(limb(l), l);
    terms_ = 0;
  }
  // Adds a sum that is reduced.
  void add(const Sum& other) {
    for (std::size_t l = 0; l < context_.set.limbs; l++) context_.kernel.add(limb(l), other.limb(l));
    countTerm();
  }

 private:
  const Context& context_;
  Array<double> values_;
  std::size_t terms_ = 0;
};

// The rows of every bin of a feature, in order.
class BinRows {
 public:
  // False if a bin is out of range. Bins are read once: JavaScript could change them meanwhile.
  bool sort(const std::uint16_t* bins, std::size_t rows, std::size_t binCount) {
    const std::vector<std::uint16_t> own(bins, bins + rows);
    offsets_.assign(binCount + 1, 0);
    rows_.resize(rows);
    for (const std::uint16_t bin : own) {
      if (bin >= binCount) return false;
      offsets_[bin + 1]++;
    }
    for (std::size_t b = 0; b < binCount; b++) offsets_[b + 1] += offsets_[b];
    std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < rows; i++) rows_[next[own[i]]++] = static_cast<std::uint32_t>(i);
    return true;
  }
  const std::uint32_t* begin(std::size_t bin) const { return rows_.data() + offsets_[bin]; }
  const std::uint32_t* end(std::size_t bin) const { return rows_.data() + offsets_[bin + 1]; }

 private:
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> rows_;
};

// The hints of one feature after the other, in the same memory.
class HintMaker {
 public:
  HintMaker(const Context& context, const CommonRows& rows, const AesKey& key, const HintJob& job)
      : context_(context),
        rows_(rows),
        key_(key),
        job_(job),
        sum_(context),
        members_(context.set.degree),
        transformed_(context.set.degree),
        secret_(context.set.degree),
        errors_(context.set.degree),
        residues_(context.set.limbs * context.set.degree) {}

  // False if a bin is out of range. @param chains those of the feature
  bool make(std::size_t feature, std::size_t firstBin, const std::vector<std::size_t>& chains) {
    if (!binRows_.sort(job_.bins[feature], context_.shape.rows, job_.binCounts[feature])) return false;
    firstBin_ = firstBin;
    usesLeft_.assign(job_.binCounts[feature], 0);
    for (const std::size_t chain : chains) {
      for (std::size_t step = job_.chains.offsets[chain]; step < job_.chains.offsets[chain + 1]; step++) {
        usesLeft_[job_.chains.sources[step] - firstBin]++;
      }
    }
    for (const std::size_t chain : chains) follow(chain);
    kept_.clear();
    return true;
  }

 private:
  void follow(std::size_t chain) {
    sum_.clear();
    for (std::size_t step = job_.chains.offsets[chain]; step < job_.chains.offsets[chain + 1]; step++) {
      addBin(job_.chains.sources[step] - firstBin_);
      if (job_.chains.targets[step] >= 0) emit(static_cast<std::size_t>(job_.chains.targets[step]));
    }
  }

  // A bin's rows are transformed block by block, which is the expensive part: what another chain needs too is kept.
  void addBin(std::size_t bin) {
    const bool isNeededLater = --usesLeft_[bin] > 0;
    const auto found = kept_.find(bin);
    if (found != kept_.end()) {
      sum_.add(found->second);
      if (!isNeededLater) kept_.erase(found);
    } else if (isNeededLater && kept_.size() < kKeptMax) {
      Sum& own = kept_.emplace(bin, context_).first->second;
      addRows(bin, own);
      own.reduce();
      sum_.add(own);
    } else {
      addRows(bin, sum_);
    }
  }

  void addRows(std::size_t bin, Sum& sum) {
    const std::size_t degree = context_.set.degree;
    for (const std::uint32_t* row = binRows_.begin(bin); row < binRows_.end(bin);) {
      const std::size_t block = *row / degree;
      std::fill(members_.begin(), members_.end(), 0.0);
      for (; row < binRows_.end(bin) && *row / degree == block; row++) members_[*row % degree] = 1;
      for (std::size_t l = 0; l < context_.set.limbs; l++) {
        std::copy(members_.begin(), members_.end(), transformed_.begin());
        context_.kernel.forward(transformed_.data(), l);
        context_.kernel.addProductReversed(sum.limb(l), transformed_.data(), rows_.block(block, l), l);
      }
      sum.countTerm();
    }
  }

  void emit(std::size_t candidate) {
    const Set& set = context_.set;
    KeyStream secrets(context_.kernel, key_, {Domain::kHintSecret, 0, candidate});
    drawTernary(secrets, secret_.data(), set.degree);
    KeyStream errors(context_.kernel, key_, {Domain::kHintErrors, 0, candidate});
    drawBinomial(context_.kernel, errors, errors_.data(), set.degree);
    writeMask(candidate);
    for (std::size_t l = 0; l < set.limbs; l++) {
      std::copy(secret_.begin(), secret_.end(), transformed_.begin());
      context_.kernel.forward(transformed_.data(), l);
      std::copy(sum_.limb(l), sum_.limb(l) + set.degree, members_.begin());
      context_.kernel.reduce(members_.data(), l);
      context_.kernel.addProductReversed(members_.data(), transformed_.data(), rows_.mask(l), l);
      context_.kernel.reduce(members_.data(), l);
      context_.kernel.inverse(members_.data(), l);
      const std::uint64_t factor = product(inverse(set.degree, kPrimes[l]), context_.wordFactors[l], kPrimes[l]);
      context_.kernel.finish(members_.data(), errors_.data(), factor, l, residues_.data() + l * set.degree);
    }
    std::uint8_t* words = job_.words + candidate * set.degree * set.wordBytes;
    for (std::size_t i = 0; i < set.degree; i++) {
      std::uint64_t y[kLimbsMax];
      for (std::size_t l = 0; l < set.limbs; l++) y[l] = residues_[l * set.degree + i];
      context_.words.write(y, words + i * set.wordBytes);
    }
  }

  void writeMask(std::size_t candidate) {
    for (std::size_t at = 0; at < context_.set.degree / kDigitsPerPattern; at++) {
      const std::int8_t* digits = secret_.data() + kDigitsPerPattern * at;
      const int pattern = digits[0] + 3 * digits[1] + 9 * digits[2] + 27 * digits[3] + 40;
      const std::size_t pass = at / kPatternsPerPass;
      job_.masks[kPatternsPerPass * (pass * job_.candidates + candidate) + at % kPatternsPerPass] =
          static_cast<std::uint8_t>(pattern);
    }
  }

  const Context& context_;
  const CommonRows& rows_;
  const AesKey& key_;
  const HintJob& job_;
  BinRows binRows_;
  std::size_t firstBin_ = 0;
  std::vector<std::size_t> usesLeft_;  // per bin of the feature
  std::map<std::size_t, Sum> kept_;    // by bin
  Sum sum_;
  Array<double> members_;
  Array<double> transformed_;
  Array<std::int8_t> secret_;
  Array<std::int8_t> errors_;
  Array<std::uint64_t> residues_;
};

std::vector<std::size_t> firstBinsOf(const std::vector<std::uint32_t>& binCounts) {
  std::vector<std::size_t> firstBins(binCounts.size());
  for (std::size_t f = 1; f < firstBins.size(); f++) firstBins[f] = firstBins[f - 1] + binCounts[f - 1];
  return firstBins;
}

// The last one that begins at or before the bin: those before it that begin there too have no bins.
std::size_t featureOf(const std::vector<std::size_t>& firstBins, std::size_t bin) {
  return static_cast<std::size_t>(std::upper_bound(firstBins.begin(), firstBins.end(), bin) - firstBins.begin()) - 1;
}

}  // namespace

bool chainsStayInFeatures(const Chains& chains, const std::vector<std::uint32_t>& binCounts) {
  const std::vector<std::size_t> firstBins = firstBinsOf(binCounts);
  for (std::size_t chain = 0; chain < chains.count(); chain++) {
    for (std::size_t step = chains.offsets[chain]; step < chains.offsets[chain + 1]; step++) {
      const std::uint32_t first = chains.sources[chains.offsets[chain]];
      if (featureOf(firstBins, chains.sources[step]) != featureOf(firstBins, first)) return false;
    }
  }
  return true;
}

bool makeHints(const Context& context, const HintJob& job, std::size_t threads) {
  const AesKey key(job.seed, kSeedBytes);
  const CommonRows rows(context.set, context.kernel, context.shape.crsKey, context.blocks);
  const std::vector<std::size_t> firstBins = firstBinsOf(job.binCounts);
  std::vector<std::vector<std::size_t>> chains(job.binCounts.size());
  for (std::size_t chain = 0; chain < job.chains.count(); chain++) {
    const std::size_t step = job.chains.offsets[chain];
    if (step == job.chains.offsets[chain + 1]) continue;
    chains[featureOf(firstBins, job.chains.sources[step])].push_back(chain);
  }
  std::atomic<bool> isInRange{true};
  parallelChunks(job.binCounts.size(), 1, threads, [&](std::size_t feature, std::size_t) {
    HintMaker maker(context, rows, key, job);
    if (!maker.make(feature, firstBins[feature], chains[feature])) isInRange = false;
  });
  return isInRange;
}

}  // namespace lattice
}  // namespace tandem
