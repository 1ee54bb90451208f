// See subset-sums.h. Subsets are split in two halves that meet: the sums of one are marked in a bitmap, those of the
// other that find their complement marked are kept, and the first ones are run through again to find the pairs.
#include "subset-sums.h"

#include <algorithm>
#include <limits>

namespace tandem {

namespace {

constexpr std::size_t kHalvesMax = 40;
constexpr std::size_t kKeptMax = std::size_t{1} << 22;
constexpr std::uint64_t kMetMax = std::uint64_t{1} << 22;
// Most members that are searched for subsets of 3, 4, 5 and 6.
constexpr std::size_t kMembersMax[] = {12000, 3000, 400, 220};

class Bitmap {
 public:
  explicit Bitmap(double entries) {
    unsigned bits = 12;
    while (bits < 27 && static_cast<double>(std::uint64_t{1} << bits) < 16 * entries) bits++;
    shift_ = 64 - bits;
    words_.resize((std::size_t{1} << bits) / 64);
  }
  void set(std::uint64_t key) {
    const std::uint64_t at = (key * 0x9e3779b97f4a7c15u) >> shift_;
    words_[at >> 6] |= std::uint64_t{1} << (at & 63);
  }
  bool has(std::uint64_t key) const {
    const std::uint64_t at = (key * 0x9e3779b97f4a7c15u) >> shift_;
    return (words_[at >> 6] >> (at & 63)) & 1;
  }

 private:
  unsigned shift_;
  std::vector<std::uint64_t> words_;
};

// A subset with the key that its other half must have; `members` are up to three places, or the bits of a half.
struct Kept {
  std::uint64_t key;
  std::uint64_t members;
};

bool operator<(const Kept& a, const Kept& b) { return a.key < b.key; }

constexpr std::uint64_t kNone = 0xffff;

std::uint64_t places(std::uint64_t a, std::uint64_t b = kNone, std::uint64_t c = kNone) {
  return a | b << 16 | c << 32;
}

// Calls visit(sum, members) for every subset of 1, 2 or 3.
template <typename Visit>
void eachSubset(const std::vector<std::uint64_t>& keys, std::size_t size, const Visit& visit) {
  const std::size_t count = keys.size();
  for (std::size_t a = 0; a < count; a++) {
    if (size == 1) {
      visit(keys[a], places(a));
      continue;
    }
    for (std::size_t b = a + 1; b < count; b++) {
      const std::uint64_t sum = keys[a] + keys[b];
      if (size == 2) {
        visit(sum & kKeyMask, places(a, b));
        continue;
      }
      for (std::size_t c = b + 1; c < count; c++) visit((sum + keys[c]) & kKeyMask, places(a, b, c));
    }
  }
}

bool areDisjoint(std::uint64_t x, std::uint64_t y) {
  for (int i = 0; i < 48; i += 16) {
    const std::uint64_t one = (x >> i) & 0xffff;
    if (one == kNone) continue;
    for (int j = 0; j < 48; j += 16) {
      if (one == ((y >> j) & 0xffff)) return false;
    }
  }
  return true;
}

void meet(Subsets& found, std::uint64_t members) {
  for (int i = 0; i < 48; i += 16) {
    const std::uint64_t one = (members >> i) & 0xffff;
    if (one != kNone) found.met[one]++;
  }
}

double choose(double count, std::size_t size) {
  double product = 1;
  for (std::size_t i = 0; i < size; i++) product *= (count - static_cast<double>(i)) / static_cast<double>(i + 1);
  return product;
}

// Equal keys count together: in the first trees many instances share a key.
Subsets searchPairs(const std::vector<std::uint64_t>& keys, std::uint64_t target) {
  Subsets found;
  found.met.resize(keys.size());
  std::vector<Kept> order(keys.size());
  for (std::size_t i = 0; i < keys.size(); i++) order[i] = {keys[i], i};
  std::sort(order.begin(), order.end());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && order[end].key == order[begin].key) end++;
    const std::uint64_t other = (target - order[begin].key) & kKeyMask;
    const auto range = std::equal_range(order.begin(), order.end(), Kept{other, 0});
    const std::uint64_t partners = static_cast<std::uint64_t>(range.second - range.first);
    const std::uint64_t each = other == order[begin].key ? partners - 1 : partners;
    for (std::size_t i = begin; i < end; i++) {
      found.met[order[i].members] += each;
      found.total += each;
    }
    begin = end;
  }
  found.total /= 2;  // every pair was met from both ends
  return found;
}

Subsets searchTuples(const std::vector<std::uint64_t>& keys, std::size_t size, std::uint64_t target) {
  Subsets found;
  found.met.resize(keys.size());
  const std::size_t smaller = size / 2;
  Bitmap marked(choose(static_cast<double>(keys.size()), smaller));
  eachSubset(keys, smaller, [&](std::uint64_t sum, std::uint64_t) { marked.set(sum); });
  std::vector<Kept> kept;
  eachSubset(keys, size - smaller, [&](std::uint64_t sum, std::uint64_t members) {
    const std::uint64_t other = (target - sum) & kKeyMask;
    if (marked.has(other) && kept.size() <= kKeptMax) kept.push_back({other, members});
  });
  if (kept.size() > kKeptMax) return {true, {}, 0};
  std::sort(kept.begin(), kept.end());
  Bitmap wanted(static_cast<double>(kept.size()));
  for (const Kept& each : kept) wanted.set(each.key);
  eachSubset(keys, smaller, [&](std::uint64_t sum, std::uint64_t members) {
    if (!wanted.has(sum) || found.total > kMetMax) return;
    const auto range = std::equal_range(kept.begin(), kept.end(), Kept{sum, 0});
    for (auto other = range.first; other != range.second; ++other) {
      if (!areDisjoint(members, other->members)) continue;
      meet(found, members);
      meet(found, other->members);
      found.total++;
    }
  });
  found.gaveUp = found.total > kMetMax;
  return found;
}

// All subsets of a half, as sums by the bits of their members.
std::vector<std::uint64_t> halfSums(const std::uint64_t* keys, std::size_t count) {
  std::vector<std::uint64_t> sums(std::size_t{1} << count);
  for (std::size_t i = 0; i < count; i++) {
    const std::size_t bit = std::size_t{1} << i;
    for (std::size_t members = 0; members < bit; members++) {
      sums[members | bit] = (sums[members] + keys[i]) & kKeyMask;
    }
  }
  return sums;
}

// Subsets of different sizes never match: the size stands above the key.
std::uint64_t sized(std::uint64_t key, std::size_t size) { return key | static_cast<std::uint64_t>(size) << 52; }

Subsets searchHalves(const std::vector<std::uint64_t>& keys, std::size_t size, std::uint64_t target) {
  Subsets found;
  found.met.resize(keys.size());
  const std::size_t firstCount = keys.size() / 2;
  const std::vector<std::uint64_t> first = halfSums(keys.data(), firstCount);
  const std::vector<std::uint64_t> second = halfSums(keys.data() + firstCount, keys.size() - firstCount);
  const auto sizeOf = [](std::size_t members) { return static_cast<std::size_t>(__builtin_popcountll(members)); };
  Bitmap marked(static_cast<double>(first.size()));
  for (std::size_t members = 0; members < first.size(); members++) marked.set(sized(first[members], sizeOf(members)));
  std::vector<Kept> kept;
  for (std::size_t members = 0; members < second.size(); members++) {
    if (sizeOf(members) > size) continue;
    const std::uint64_t other = sized((target - second[members]) & kKeyMask, size - sizeOf(members));
    if (marked.has(other)) kept.push_back({other, members});
  }
  std::sort(kept.begin(), kept.end());
  Bitmap wanted(static_cast<double>(kept.size()));
  for (const Kept& each : kept) wanted.set(each.key);
  for (std::size_t members = 0; members < first.size(); members++) {
    const std::uint64_t key = sized(first[members], sizeOf(members));
    if (!wanted.has(key)) continue;
    const auto range = std::equal_range(kept.begin(), kept.end(), Kept{key, 0});
    for (auto other = range.first; other != range.second; ++other) {
      const std::uint64_t all = members | other->members << firstCount;
      for (std::size_t i = 0; i < keys.size(); i++) found.met[i] += (all >> i) & 1;
      if (++found.total > kMetMax) return {true, {}, 0};
    }
  }
  return found;
}

double tuplesCost(std::size_t count, std::size_t size) {
  if (size > 6 || count > kMembersMax[size - 3]) return std::numeric_limits<double>::infinity();
  return choose(static_cast<double>(count), size - size / 2) + 2 * choose(static_cast<double>(count), size / 2);
}

double halvesCost(std::size_t count) {
  if (count > kHalvesMax) return std::numeric_limits<double>::infinity();
  return 6 * static_cast<double>(std::uint64_t{1} << (count + 1) / 2);
}

}  // namespace

double searchCost(std::size_t count, std::size_t size) {
  if (size <= 2) return static_cast<double>(count * size);
  return std::min(tuplesCost(count, size), halvesCost(count));
}

Subsets searchSubsets(const std::vector<std::uint64_t>& keys, std::size_t size, std::uint64_t target) {
  if (size == 1) {
    Subsets found;
    for (const std::uint64_t key : keys) {
      found.met.push_back(key == target ? 1 : 0);
      found.total += found.met.back();
    }
    return found;
  }
  if (size == 2) return searchPairs(keys, target);
  return tuplesCost(keys.size(), size) <= halvesCost(keys.size()) ? searchTuples(keys, size, target)
                                                                  : searchHalves(keys, size, target);
}

}  // namespace tandem
