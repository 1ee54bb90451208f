// See lattice-seal.h.
#include "lattice-seal.h"

#include <algorithm>

#include "lattice-samplers.h"
#include "threads.h"

namespace tandem {
namespace lattice {

namespace {

// Vectors read up to three numbers beyond the last one.
constexpr std::size_t kSlack = 4;

// The secret of every group, transformed, over N: what is left of the inverse transform.
Array<double> transformedSecrets(const Context& context, const AesKey& key, std::size_t threads) {
  const Set& set = context.set;
  const Array<std::int8_t> secrets = drawSecrets(context, key);
  Array<double> result(set.lanes * set.degree);
  parallelChunks(set.lanes, 1, threads, [&](std::size_t lane, std::size_t) {
    const std::int8_t* secret = secrets.data() + lane / set.limbs * set.degree;
    double* own = result.data() + lane * set.degree;
    std::copy(secret, secret + set.degree, own);
    const std::size_t limb = lane % set.limbs;
    context.kernel.forward(own, limb);
    context.kernel.scale(own, inverse(set.degree, kPrimes[limb]), limb);
  });
  return result;
}

// Seals blocks one after the other, in the same memory.
class BlockSealer {
 public:
  BlockSealer(const Context& context, const SealJob& job, const AesKey& key, const Array<double>& secrets)
      : context_(context),
        job_(job),
        key_(key),
        secrets_(secrets),
        lanes_(context.set.lanes * context.set.degree + kSlack),
        errors_(context.set.groups * context.set.degree + kSlack),
        columns_(kColumns * (context.set.degree + kSlack)) {}

  // Block 0 is the mask row, block k + 1 the rows from kN on.
  void seal(std::size_t block) {
    const Set& set = context_.set;
    SealedBlock sealed{};
    multiply(block, sealed);
    drawErrors(block, sealed);
    const std::size_t blockStart = block * set.degree;
    const std::size_t first = std::max(job_.first, blockStart);
    const std::size_t end = std::min(job_.first + job_.count, blockStart + set.degree);
    sealed.first = first - blockStart;
    sealed.count = end - first;
    if (block > 0) takeColumns(block - 1, sealed);
    context_.kernel.sealRecords(sealed, job_.records + (first - job_.first) * set.recordBytes);
  }

 private:
  void multiply(std::size_t block, SealedBlock& sealed) {
    const Set& set = context_.set;
    for (std::size_t lane = 0; lane < set.lanes; lane++) {
      const std::size_t limb = lane % set.limbs;
      double* own = lanes_.data() + lane * set.degree;
      const double* row = block == 0 ? context_.rows.mask(limb) : context_.rows.block(block - 1, limb);
      context_.kernel.multiply(own, row, secrets_.data() + lane * set.degree, limb);
      context_.kernel.inverse(own, limb);
      sealed.lanes[lane] = own;
    }
  }

  void drawErrors(std::size_t block, SealedBlock& sealed) {
    const Set& set = context_.set;
    for (std::size_t group = 0; group < set.groups; group++) {
      std::int8_t* own = errors_.data() + group * set.degree;
      const StreamName name =
          block == 0 ? StreamName{Domain::kMaskRowErrors, group, 0} : StreamName{Domain::kNodeErrors, group, block - 1};
      KeyStream stream(context_.kernel, key_, name);
      drawBinomial(context_.kernel, stream, own, set.degree);
      sealed.errors[group] = own;
    }
  }

  void takeColumns(std::size_t block, SealedBlock& sealed) {
    const Set& set = context_.set;
    const std::size_t start = block * set.degree;
    const std::size_t rows = std::min(set.degree, context_.shape.rows - start);
    for (std::size_t column = 0; column < kColumns; column++) {
      std::int32_t* own = columns_.data() + column * (set.degree + kSlack);
      std::copy(job_.columns[column] + start, job_.columns[column] + start + rows, own);
      sealed.columns[column] = own;
      for (std::size_t limb = 0; limb < set.limbs; limb++) {
        sealed.multipliers[column][limb] = balanced(context_.multipliers[column][limb], kPrimes[limb]);
      }
    }
  }

  const Context& context_;
  const SealJob& job_;
  const AesKey& key_;
  const Array<double>& secrets_;
  Array<double> lanes_;
  Array<std::int8_t> errors_;
  Array<std::int32_t> columns_;
};

}  // namespace

Array<std::int8_t> drawSecrets(const Context& context, const AesKey& key) {
  const Set& set = context.set;
  Array<std::int8_t> secrets(set.groups * set.degree);
  for (std::size_t group = 0; group < set.groups; group++) {
    KeyStream stream(context.kernel, key, {Domain::kNodeSecret, group, 0});
    drawTernary(stream, secrets.data() + group * set.degree, set.degree);
  }
  return secrets;
}

void seal(const Context& context, const SealJob& job, std::size_t threads) {
  if (job.count == 0) return;
  const AesKey key(job.seed, kSeedBytes);
  const Array<double> secrets = transformedSecrets(context, key, threads);
  const std::size_t firstBlock = job.first / context.set.degree;
  const std::size_t blocks = (job.first + job.count - 1) / context.set.degree + 1 - firstBlock;
  parallelChunks(blocks, (blocks + threads - 1) / threads, threads, [&](std::size_t begin, std::size_t end) {
    BlockSealer sealer(context, job, key, secrets);
    for (std::size_t block = begin; block < end; block++) sealer.seal(firstBlock + block);
  });
}

}  // namespace lattice
}  // namespace tandem
