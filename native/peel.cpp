// See peel.h. Cheapest equations first; an equation is examined again when one of its instances has changed.
#include "peel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "subset-sums.h"

namespace tandem {

namespace {

constexpr std::size_t kBuckets = 40;

struct Equation {
  std::uint32_t node;
  // Instances whose membership in these parts is open; how many of them are members, and the sum of their keys.
  std::int64_t open = 0;
  std::int64_t wanted = 0;
  std::uint64_t target = 0;
  std::uint32_t version = 1;
  std::uint32_t solved = 0;
  std::uint8_t bucket = kBuckets;
};

double log2Choose(double count, double size) {
  const double natural = std::lgamma(count + 1) - std::lgamma(size + 1) - std::lgamma(count - size + 1);
  return natural / std::log(2.0);
}

class Contradiction {
 public:
  explicit Contradiction(std::size_t equation) : equation(equation) {}
  std::size_t equation;
};

class Peeling {
 public:
  explicit Peeling(const PeelInput& input) : in_(input), words_(input.words), buckets_(kBuckets) {
    readNodes();
    readEquations();
    for (std::size_t q = 0; q < equations_.size(); q++) enqueue(q);
  }

  long long run() {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(in_.seconds);
    for (std::size_t q = next(); q != kNone; q = next()) {
      if (Clock::now() > end) return kPeelTimeOver;
      solve(q);
    }
    return kPeelDone;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::uint32_t kNoEquation = 0xffffffff;

  void readNodes() {
    nodeOffsets_.assign(in_.instances + 1, 0);
    const std::size_t total = in_.memberOffsets[in_.nodes];
    for (std::size_t i = 0; i < total; i++) nodeOffsets_[in_.members[i] + 1]++;
    for (std::size_t i = 0; i < in_.instances; i++) nodeOffsets_[i + 1] += nodeOffsets_[i];
    nodesOf_.resize(total);
    std::vector<std::size_t> at(nodeOffsets_.begin(), nodeOffsets_.end() - 1);
    for (std::size_t node = 0; node < in_.nodes; node++) {
      for (std::size_t i = in_.memberOffsets[node]; i < in_.memberOffsets[node + 1]; i++) {
        nodesOf_[at[in_.members[i]]++] = static_cast<std::uint32_t>(node);
      }
    }
  }

  void readEquations() {
    const std::size_t stride = 2 + words_;
    parts_ = 32 * words_;
    equationOf_.assign(in_.nodes * parts_, kNoEquation);
    equations_.resize(in_.equationCount);
    for (std::size_t q = 0; q < equations_.size(); q++) {
      Equation& equation = equations_[q];
      equation.node = in_.equations[q * stride];
      equation.wanted = in_.equations[q * stride + 1];
      equation.target = static_cast<std::uint64_t>(in_.sums[q]);
      for (std::size_t part = 0; part < parts_; part++) {
        if ((mask(q)[part / 32] >> (part % 32)) & 1)
          equationOf_[equation.node * parts_ + part] = static_cast<std::uint32_t>(q);
      }
      for (std::size_t i = in_.memberOffsets[equation.node]; i < in_.memberOffsets[equation.node + 1]; i++) {
        const std::uint32_t instance = in_.members[i];
        if (!meets(instance, q)) continue;
        if (isWithin(possible(instance), q))
          take(equation, instance);
        else
          equation.open++;
      }
    }
  }

  const std::uint32_t* mask(std::size_t q) const { return in_.equations + q * (2 + words_) + 2; }
  std::uint32_t* possible(std::size_t instance) const { return in_.possible + instance * words_; }

  std::uint64_t key(std::uint32_t node, std::uint32_t instance) const {
    return static_cast<std::uint64_t>(in_.keys[in_.nodeTrees[node] * in_.instances + instance]);
  }

  bool meets(const std::uint32_t* parts, std::size_t q) const {
    const std::uint32_t* wanted = mask(q);
    for (std::size_t w = 0; w < words_; w++) {
      if ((parts[w] & wanted[w]) != 0) return true;
    }
    return false;
  }
  bool meets(std::uint32_t instance, std::size_t q) const { return meets(possible(instance), q); }

  bool isWithin(const std::uint32_t* parts, std::size_t q) const {
    const std::uint32_t* wanted = mask(q);
    for (std::size_t w = 0; w < words_; w++) {
      if ((parts[w] & ~wanted[w]) != 0) return false;
    }
    return true;
  }

  // An instance is known to be in the parts of an equation.
  void take(Equation& equation, std::uint32_t instance) {
    equation.wanted--;
    equation.target = (equation.target - key(equation.node, instance)) & kKeyMask;
  }

  void enqueue(std::size_t q) {
    const std::size_t bucket = bucketOf(equations_[q]);
    if (bucket >= equations_[q].bucket) return;  // it waits there already, or is not tried
    equations_[q].bucket = static_cast<std::uint8_t>(bucket);
    buckets_[bucket].push_back(static_cast<std::uint32_t>(q));
  }

  std::size_t bucketOf(const Equation& equation) const {
    const std::int64_t size = std::min(equation.wanted, equation.open - equation.wanted);
    if (size < 0) return 0;
    if (equation.open == 0) return equation.wanted == 0 && equation.target == 0 ? kBuckets : 0;
    if (size == 0) return 0;
    const double count = static_cast<double>(equation.open);
    const double bits = in_.treeBits[in_.nodeTrees[equation.node]];
    if (size > 2 && log2Choose(count, static_cast<double>(size)) > bits) return kBuckets;
    const double cost = searchCost(static_cast<std::size_t>(equation.open), static_cast<std::size_t>(size));
    return cost > 1e9 ? kBuckets : 1 + static_cast<std::size_t>(std::log2(1 + cost));
  }

  std::size_t next() {
    for (std::size_t bucket = 0; bucket < kBuckets; bucket++) {
      while (!buckets_[bucket].empty()) {
        const std::size_t q = buckets_[bucket].back();
        buckets_[bucket].pop_back();
        Equation& equation = equations_[q];
        if (equation.bucket != bucket) continue;  // it was moved to a cheaper one
        equation.bucket = kBuckets;
        if (equation.version == equation.solved) continue;
        const std::size_t now = bucketOf(equation);
        if (now == kBuckets) continue;
        if (now > bucket) {
          enqueue(q);
          continue;
        }
        return q;
      }
    }
    return kNone;
  }

  void solve(std::size_t q) {
    Equation& equation = equations_[q];
    open_.clear();
    keys_.clear();
    std::uint64_t total = 0;
    for (std::size_t i = in_.memberOffsets[equation.node]; i < in_.memberOffsets[equation.node + 1]; i++) {
      const std::uint32_t instance = in_.members[i];
      if (!meets(instance, q) || isWithin(possible(instance), q)) continue;
      open_.push_back(instance);
      keys_.push_back(key(equation.node, instance));
      total += keys_.back();
    }
    const std::int64_t count = static_cast<std::int64_t>(open_.size());
    if (equation.wanted < 0 || equation.wanted > count) throw Contradiction(q);
    const bool isFlipped = equation.wanted > count - equation.wanted;
    const std::size_t size = static_cast<std::size_t>(isFlipped ? count - equation.wanted : equation.wanted);
    const std::uint64_t target = (isFlipped ? total - equation.target : equation.target) & kKeyMask;
    Subsets found;
    if (size > 0)
      found = searchSubsets(keys_, size, target);
    else if (target != 0)
      throw Contradiction(q);
    else
      found.met.assign(open_.size(), 0);
    if (size > 0 && !found.gaveUp && found.total == 0) throw Contradiction(q);
    equation.solved = equation.version;
    if (found.gaveUp) return;
    conclude(q, found, isFlipped, size);
    equation.solved = equation.version;
  }

  void conclude(std::size_t q, const Subsets& found, bool isFlipped, std::size_t size) {
    const std::vector<std::uint32_t> open = open_;
    for (std::size_t i = 0; i < open.size(); i++) {
      const bool inNone = found.met[i] == 0;
      const bool inAll = size > 0 && found.met[i] == found.total;
      if (inNone)
        narrow(open[i], q, isFlipped);
      else if (inAll)
        narrow(open[i], q, !isFlipped);
    }
  }

  void narrow(std::uint32_t instance, std::size_t q, bool isIn) {
    std::uint32_t* parts = possible(instance);
    before_.assign(parts, parts + words_);
    const std::uint32_t* wanted = mask(q);
    std::uint32_t left = 0;
    for (std::size_t w = 0; w < words_; w++) {
      parts[w] &= isIn ? wanted[w] : ~wanted[w];
      left |= parts[w];
    }
    if (left == 0) throw Contradiction(q);
    for (std::size_t i = nodeOffsets_[instance]; i < nodeOffsets_[instance + 1]; i++) updateAt(nodesOf_[i], instance);
  }

  // The equations of a node, after the possible parts of an instance have changed from before_.
  void updateAt(std::uint32_t node, std::uint32_t instance) {
    const std::uint32_t* parts = possible(instance);
    const std::uint32_t* equationOf = &equationOf_[node * parts_];
    std::uint32_t last = kNoEquation;
    std::uint32_t within = kNoEquation;
    for (std::size_t w = 0; w < words_; w++) {
      for (std::uint32_t gone = before_[w] & ~parts[w]; gone != 0; gone &= gone - 1) {
        const std::uint32_t q = equationOf[32 * w + static_cast<std::size_t>(__builtin_ctz(gone))];
        if (q == kNoEquation || q == last) continue;
        last = q;
        if (meets(instance, q) || !isFirst(q, w, gone)) continue;
        equations_[q].open--;
        touch(q);
      }
      if (within == kNoEquation && parts[w] != 0) {
        within = equationOf[32 * w + static_cast<std::size_t>(__builtin_ctz(parts[w]))];
        if (within == kNoEquation) within = kNoEquation - 1;
      }
    }
    if (within >= kNoEquation - 1 || !isWithin(parts, within) || isWithin(before_.data(), within)) return;
    equations_[within].open--;
    take(equations_[within], instance);
    touch(within);
  }

  // Whether the lowest bit of `gone` is the first of an equation's parts that were possible before.
  bool isFirst(std::size_t q, std::size_t word, std::uint32_t gone) const {
    const std::uint32_t* wanted = mask(q);
    for (std::size_t w = 0; w < word; w++) {
      if ((before_[w] & wanted[w]) != 0) return false;
    }
    const std::uint32_t lowest = gone & (~gone + 1);
    return (before_[word] & wanted[word] & (lowest - 1)) == 0;
  }

  void touch(std::size_t q) {
    equations_[q].version++;
    enqueue(q);
  }

  const PeelInput& in_;
  const std::size_t words_;
  std::size_t parts_ = 0;
  std::vector<Equation> equations_;
  // Per node and part the equation that has it.
  std::vector<std::uint32_t> equationOf_;
  std::vector<std::size_t> nodeOffsets_;
  std::vector<std::uint32_t> nodesOf_;
  std::vector<std::vector<std::uint32_t>> buckets_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> before_;
};

}  // namespace

long long peel(const PeelInput& input) {
  try {
    return Peeling(input).run();
  } catch (const Contradiction& found) {
    return static_cast<long long>(found.equation);
  }
}

}  // namespace tandem
