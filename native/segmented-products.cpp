// See segmented-products.h.
#include "segmented-products.h"

#include <algorithm>

#include "threads.h"

namespace tandem {

namespace {

// Fewer products than this are not worth a segment of their own.
constexpr std::size_t kSegmentProductsMin = 12;
// Several groups per thread, so that a thread that gets less of its core does not hold up the others.
constexpr std::size_t kGroupsPerThread = 6;

struct Source {
  const SquareRing& ring;
  const ProductLists& lists;
  const std::function<const Limb*(std::uint32_t)>& element;
  const std::function<Limb*(std::size_t)>& result;
};

// Where a segment begins: an item and the list that it belongs to.
struct Cut {
  std::size_t item;
  std::size_t list;
};

// Cuts at equal numbers of products; the first item of a list costs none.
std::vector<Cut> cutEqually(const ProductLists& lists, std::size_t segments) {
  const std::size_t listCount = lists.offsets.size() - 1;
  std::size_t products = 0;
  for (std::size_t t = 0; t < listCount; t++) {
    const std::size_t length = lists.offsets[t + 1] - lists.offsets[t];
    products += length == 0 ? 0 : length - 1;
  }
  std::vector<Cut> cuts;
  std::size_t before = 0;
  std::size_t list = 0;
  for (std::size_t s = 0; s < segments; s++) {
    const std::size_t target = products * s / segments;
    // The list in which the target falls: skip lists that end before it.
    while (list < listCount) {
      const std::size_t length = lists.offsets[list + 1] - lists.offsets[list];
      const std::size_t own = length == 0 ? 0 : length - 1;
      if (before + own > target) break;
      before += own;
      list++;
    }
    if (list == listCount) {
      cuts.push_back({lists.items.size(), listCount});
      continue;
    }
    const std::size_t inside = target - before;
    // A cut right behind a list's first item would leave it alone with no product: cut before it.
    cuts.push_back({lists.offsets[list] + (inside == 0 ? 0 : inside + 1), list});
  }
  if (!cuts.empty()) cuts.front() = {0, 0};
  cuts.push_back({lists.items.size(), listCount});
  return cuts;
}

// One lane's walk through its segment.
class Walk {
 public:
  Walk(const Source& source, Cut from, Cut to, Limb* partial)
      : source_(source), item_(from.item), list_(from.list), end_(to.item), partial_(partial) {
    continues_ = item_ < end_ && source.lists.offsets[list_] < item_;
  }

  // The next factor of the lane's running product, or null at the end. Finished products are written and new ones begun
  // on the way.
  const Limb* next(Word* group, std::size_t lane) {
    const std::vector<std::uint32_t>& offsets = source_.lists.offsets;
    for (;;) {
      if (item_ >= end_) {
        if (isOpen_) close(group, lane);
        return nullptr;
      }
      if (isOpen_ && item_ < offsets[list_ + 1]) return fetch();
      if (isOpen_) close(group, lane);
      while (item_ >= offsets[list_ + 1]) list_++;
      source_.ring.insert(group, lane, fetch());
      isOpen_ = true;
    }
  }

 private:
  const Limb* fetch() {
    const Limb* element = source_.element(source_.lists.items[item_++]);
    if (item_ < end_) {
      const char* ahead = reinterpret_cast<const char*>(source_.element(source_.lists.items[item_]));
      const std::size_t sizeBytes = source_.ring.elementLimbs() * sizeof(Limb);
      for (std::size_t at = 0; at < sizeBytes; at += 64) __builtin_prefetch(ahead + at);
    }
    return element;
  }

  void close(const Word* group, std::size_t lane) {
    Limb* target = isFirst_ && continues_ ? partial_ : source_.result(list_);
    source_.ring.extract(target, group, lane);
    isFirst_ = false;
    isOpen_ = false;
  }

  const Source& source_;
  std::size_t item_;
  std::size_t list_;
  std::size_t end_;
  Limb* partial_;
  bool continues_ = false;
  bool isFirst_ = true;
  bool isOpen_ = false;
};

void runGroup(const Source& source, const std::vector<Cut>& cuts, std::size_t firstSegment, std::size_t segments,
              Limb* partials) {
  const SquareRing& ring = source.ring;
  Words running(ring.words());
  Words factors(ring.words());
  const Limb* const none[kLanesMax] = {nullptr};
  ring.gather(running.data(), none);
  std::vector<Walk> walks;
  for (std::size_t s = firstSegment; s < firstSegment + segments; s++) {
    walks.emplace_back(source, cuts[s], cuts[s + 1], partials + s * ring.elementLimbs());
  }
  for (;;) {
    const Limb* elements[kLanesMax] = {nullptr};
    bool any = false;
    for (std::size_t lane = 0; lane < walks.size(); lane++) {
      elements[lane] = walks[lane].next(running.data(), lane);
      any = any || elements[lane] != nullptr;
    }
    if (!any) return;
    ring.gather(factors.data(), elements);
    ring.multiply(running.data(), running.data(), factors.data());
  }
}

// Multiplies the parts of cut lists together.
void joinPartials(const Source& source, const std::vector<Cut>& cuts, const Limb* partials) {
  const SquareRing& ring = source.ring;
  Words a(ring.words());
  Words b(ring.words());
  for (std::size_t s = 0; s + 1 < cuts.size(); s++) {
    const bool continues = cuts[s].item < cuts[s + 1].item && source.lists.offsets[cuts[s].list] < cuts[s].item;
    if (!continues) continue;
    Limb* result = source.result(cuts[s].list);
    const Limb* const first[kLanesMax] = {result};
    const Limb* const second[kLanesMax] = {partials + s * ring.elementLimbs()};
    Limb* const target[kLanesMax] = {result};
    ring.gather(a.data(), first);
    ring.gather(b.data(), second);
    ring.multiply(a.data(), a.data(), b.data());
    ring.scatter(target, a.data());
  }
}

}  // namespace

void segmentedProducts(const SquareRing& ring, const ProductLists& lists,
                       const std::function<const Limb*(std::uint32_t)>& element,
                       const std::function<Limb*(std::size_t)>& result, std::size_t threads) {
  const Source source{ring, lists, element, result};
  const std::size_t listCount = lists.offsets.size() - 1;
  const std::size_t lanes = ring.lanes();
  const std::size_t wanted = threads == 1 ? 1 : threads * kGroupsPerThread;
  const std::size_t most = std::max<std::size_t>(1, lists.items.size() / (lanes * kSegmentProductsMin));
  const std::size_t groups = std::min(wanted, most);
  const std::vector<Cut> cuts = cutEqually(lists, groups * lanes);
  Limbs partials(groups * lanes * ring.elementLimbs());
  parallelChunks(groups, 1, threads, [&](std::size_t group, std::size_t) {
    runGroup(source, cuts, group * lanes, lanes, partials.data());
  });
  for (std::size_t t = 0; t < listCount; t++) {
    if (lists.offsets[t] == lists.offsets[t + 1]) copyLimbs(result(t), ring.one(), ring.elementLimbs());
  }
  joinPartials(source, cuts, partials.data());
}

}  // namespace tandem
