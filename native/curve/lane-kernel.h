// A kernel of the curve scheme in lanes. A kernel's file includes its field (ifma-field.h), then this: everything is
// compiled once per kernel, in a namespace of its own and for its own instructions. Hence no #pragma once.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "logarithms.h"

// clang-format off: the order matters
#include "lane-points.h"
#include "lane-powers.h"
#include "lane-encoding.h"
#include "lane-multiples.h"
#include "lane-sums.h"
#include "lane-logarithms.h"
// clang-format on

namespace tandem {
namespace curve {
namespace TANDEM_LANES {

class LaneKernel final : public Kernel {
 public:
  TANDEM_LANE LaneKernel() {
    const Field x = everywhere(kBaseX);
    const Field y = everywhere(kBaseY);
    const Field half = everywhere(kHalf);
    const Field t = product(product(x, y), everywhere(kD));
    StoredAddend stored[kLanes];
    storeAddends({product(subtract(y, x), half), product(add(y, x), half), t}, stored, kLanes);
    base_ = fixedTable(stored[0]);
  }

  std::size_t lanes() const override { return kLanes; }

  TANDEM_LANE FixedTable tableOf(const StoredAddend& point) const override { return fixedTable(point); }

  TANDEM_LANE bool isSmallOrder(const StoredAddend& point) const override {
    const Point eightfold = timesEight(pointOf(loadSome(&point, 1)));
    // The neutral point has x = 0 and y = 1.
    const std::uint32_t noX = bitsFromMask(isZero(subtract(eightfold.s, eightfold.m)));
    const Field y = add(eightfold.s, eightfold.m);
    return (noX & bitsFromMask(isZero(subtract(y, add(eightfold.z, eightfold.z)))) & 1) != 0;
  }

  TANDEM_LANE void encodeMultiples(const FixedTable& table, const Scalar* scalars, std::size_t count,
                                   std::uint8_t* encodings) const override {
    PointVectors points((count + kLanes - 1) / kLanes);
    for (std::size_t n = 0; n < points.size(); n++) {
      points[n] = multiplied(table, scalars + n * kLanes, count - n * kLanes, neutralPoint());
    }
    encodeLanes(points, count, encodings);
  }

  TANDEM_LANE std::size_t decode(const std::uint8_t* encodings, std::size_t count,
                                 StoredAddend* addends) const override {
    std::size_t bad = count;
    for (std::size_t first = 0; first < count; first += kChains * kLanes) {
      const std::uint8_t* from[kChains * kLanes];
      for (std::size_t i = 0; i < kChains * kLanes; i++) {
        from[i] = encodings + std::min(first + i, count - 1) * kPointBytes;
      }
      Addend decoded[kChains];
      std::uint32_t valid[kChains];
      decodeLanes<kChains>(from, decoded, valid);
      for (std::size_t n = 0; n < kChains && first + n * kLanes < count; n++) {
        const std::size_t at = first + n * kLanes;
        bad = std::min(bad, at + firstInvalid(valid[n], std::min(kLanes, count - at), count));
        storeAddends(decoded[n], addends + at, std::min(kLanes, count - at));
      }
    }
    return bad;
  }

  TANDEM_LANE void encode(const StoredPoint* points, std::size_t count, std::uint8_t* encodings) const override {
    const PointVectors loaded = loadAll(points, count);
    encodeLanes(loaded, count, encodings);
  }

  TANDEM_LANE void addTo(const StoredPoint* a, const StoredPoint* b, std::size_t count,
                         StoredPoint* sums) const override {
    for (std::size_t first = 0; first < count; first += kLanes) {
      const std::size_t n = std::min(kLanes, count - first);
      storePoints(sumOf(loadPoints(a + first, n), loadPoints(b + first, n)), sums + first, n);
    }
  }

  TANDEM_LANE void pointsOf(const StoredAddend* addends, std::size_t count, StoredPoint* points) const override {
    for (std::size_t first = 0; first < count; first += kLanes) {
      const std::size_t n = std::min(kLanes, count - first);
      storePoints(pointOf(loadSome(addends + first, n)), points + first, n);
    }
  }

  TANDEM_LANE void addendsOf(const StoredPoint* points, std::size_t count, StoredAddend* addends) const override {
    const PointVectors loaded = loadAll(points, count);
    const Fields z = halfInverses(loaded.data(), loaded.size());
    for (std::size_t n = 0; n < loaded.size(); n++) {
      storeAddends(addendOf(loaded[n], z[n]), addends + n * kLanes, std::min(kLanes, count - n * kLanes));
    }
  }

  TANDEM_LANE void sumPieces(const StoredAddend* points, const Piece* pieces, std::size_t count,
                             StoredPoint* sums) const override {
    for (std::size_t first = 0; first < count; first += kLanes) {
      const std::size_t n = std::min(kLanes, count - first);
      storePoints(pieceSums(points, pieces + first, n), sums + first, n);
    }
  }

  TANDEM_LANE void runChains(const Chain* chains, std::size_t count, const StoredPoint* from, StoredPoint* to,
                             std::size_t width) const override {
    for (std::size_t first = 0; first < count; first += kLanes) {
      chainSums(chains + first, std::min(kLanes, count - first), from, to, width);
    }
  }

  TANDEM_LANE void maskColumns(const std::vector<MaskColumn>& columns, std::size_t begin,
                               std::size_t end) const override {
    const std::size_t vectors = (end - begin + kLanes - 1) / kLanes;
    PointVectors points(vectors * columns.size());
    for (std::size_t c = 0; c < columns.size(); c++) {
      for (std::size_t n = 0; n < vectors; n++) {
        const std::size_t first = begin + n * kLanes;
        points[c * vectors + n] = masked(columns[c], first, std::min(kLanes, end - first));
      }
    }
    const Fields z = halfInverses(points.data(), points.size());
    for (std::size_t c = 0; c < columns.size(); c++) {
      const std::size_t stride = columns[c].encodingStride;
      writeEncodings(points.data() + c * vectors, z.data() + c * vectors, end - begin,
                     columns[c].encodings + begin * stride, stride);
    }
  }

  TANDEM_LANE std::size_t open(const std::uint8_t* encodings, std::size_t count, const Scalar* secrets,
                               std::size_t values, const double* centres, StoredAddend* opened) const override {
    const std::size_t parts = 1 + values;
    const std::size_t vectors = (count + kLanes - 1) / kLanes;
    std::size_t bad = count * parts;
    PointVectors points(vectors * values);
    Scalars negated(values);
    for (std::size_t j = 0; j < values; j++) negated[j] = negatedScalar(secrets[j]);
    for (std::size_t n = 0; n < vectors; n++) {
      const std::size_t lanes = std::min(kLanes, count - n * kLanes);
      const auto decoded = [&](std::size_t part) TANDEM_LANE_LAMBDA {
        const std::uint8_t* from[kLanes];
        for (std::size_t lane = 0; lane < kLanes; lane++) {
          const std::size_t candidate = n * kLanes + std::min(lane, lanes - 1);
          from[lane] = encodings + (candidate * parts + part) * kPointBytes;
        }
        Addend addend;
        std::uint32_t valid;
        decodeLanes<1>(from, &addend, &valid);
        const std::size_t lane = firstInvalid(valid, lanes, count);
        if (lane < lanes) bad = std::min(bad, (n * kLanes + lane) * parts + part);
        return addend;
      };
      const CommonMultiples multiples(decoded(0));
      for (std::size_t j = 0; j < values; j++) {
        const Addend c = decoded(1 + j);
        std::int64_t centre[kLanes] = {0};
        for (std::size_t lane = 0; lane < lanes; lane++) {
          centre[lane] = -static_cast<std::int64_t>(centres[(n * kLanes + lane) * values + j]);
        }
        const Point sum = timesEight(sumOf(multiples.times(negated[j]), c));
        points[n * values + j] = plusLogarithms(base_, centre, sum);
      }
    }
    const Fields z = halfInverses(points.data(), points.size());
    for (std::size_t n = 0; n < vectors; n++) {
      for (std::size_t j = 0; j < values; j++) {
        StoredAddend stored[kLanes];
        storeAddends(addendOf(points[n * values + j], z[n * values + j]), stored, kLanes);
        for (std::size_t lane = 0; lane < kLanes && n * kLanes + lane < count; lane++) {
          opened[(n * kLanes + lane) * values + j] = stored[lane];
        }
      }
    }
    return bad;
  }

  TANDEM_LANE void insertBabies(Logarithms& table, std::uint32_t first, std::uint32_t count) const override {
    eachMultiple(base_, 1, first, count, [&](std::size_t n, const Addend& addend) TANDEM_LANE {
      Lanes y;
      storeCanonical(add(addend.s, addend.m), y);
      for (std::size_t lane = 0; lane < kLanes && n * kLanes + lane < count; lane++) {
        table.insert(y[lane], y[kLanes + lane], static_cast<std::uint32_t>(first + n * kLanes + lane));
      }
    });
  }

  TANDEM_LANE void makeGiants(Logarithms& table) const override {
    const std::size_t count = table.giants().size();
    eachMultiple(base_, table.stride(), 1, count, [&](std::size_t n, const Addend& addend) TANDEM_LANE {
      std::uint64_t* to[kLanes] = {nullptr};
      const std::size_t lanes = std::min(kLanes, count - n * kLanes);
      for (std::size_t lane = 0; lane < lanes; lane++) to[lane] = table.giants()[n * kLanes + lane].x;
      storeLanes(subtract(addend.s, addend.m), to, 0, lanes);
      for (std::size_t lane = 0; lane < lanes; lane++) to[lane] = table.giants()[n * kLanes + lane].y;
      storeLanes(add(addend.s, addend.m), to, 0, lanes);
      for (std::size_t lane = 0; lane < lanes; lane++) to[lane] = table.giants()[n * kLanes + lane].dxy;
      storeLanes(addend.t, to, 0, lanes);
    });
  }

  TANDEM_LANE void findLogarithms(const Logarithms& table, const StoredAddend* const* points, const double* bounds,
                                  std::size_t count, double* found) const override {
    const StoredAddend* from[kLanes];
    for (std::size_t lane = 0; lane < kLanes; lane++) from[lane] = lane < count ? points[lane] : &kNeutralAddend;
    Search(base_, table, loadAddends(from), count).run(bounds, found);
  }

 private:
  TANDEM_LANE Point masked(const MaskColumn& column, std::size_t first, std::size_t lanes) const {
    const StoredPoint* sums[kLanes];
    for (std::size_t lane = 0; lane < lanes; lane++) sums[lane] = column.sums + (first + lane) * column.stride;
    Point sum = multiplied(*column.table, column.masks + first, lanes, loadPoints(sums, lanes));
    if (column.noise != nullptr) {
      std::int64_t noise[kLanes] = {0};
      for (std::size_t lane = 0; lane < lanes; lane++) {
        noise[lane] = static_cast<std::int64_t>(column.noise[(first + lane) * column.stride]);
      }
      sum = plusShort(base_, noise, sum);
    }
    return timesEight(sum);
  }
  TANDEM_LANE static Addend loadSome(const StoredAddend* addends, std::size_t count) {
    const StoredAddend* from[kLanes];
    for (std::size_t lane = 0; lane < kLanes; lane++) from[lane] = lane < count ? addends + lane : &kNeutralAddend;
    return loadAddends(from);
  }
  TANDEM_LANE static PointVectors loadAll(const StoredPoint* points, std::size_t count) {
    PointVectors loaded((count + kLanes - 1) / kLanes);
    for (std::size_t n = 0; n < loaded.size(); n++) {
      loaded[n] = loadPoints(points + n * kLanes, std::min(kLanes, count - n * kLanes));
    }
    return loaded;
  }
  // `count` may be more than kLanes; lanes without a scalar have 0.
  TANDEM_LANE static Point multiplied(const FixedTable& table, const Scalar* scalars, std::size_t count,
                                      const Point& sum) {
    if (count >= kLanes) return plusFixed(table, scalars, sum);
    Scalar own[kLanes] = {};
    std::copy(scalars, scalars + count, own);
    const Point result = plusFixed(table, own, sum);
    wipe(own, sizeof own);
    return result;
  }
  // The first lane of `lanes` whose bit is not set; `none` if all are.
  static std::size_t firstInvalid(std::uint32_t valid, std::size_t lanes, std::size_t none) {
    for (std::size_t lane = 0; lane < lanes; lane++) {
      if ((valid >> lane & 1) == 0) return lane;
    }
    return none;
  }
};

inline std::unique_ptr<Kernel> makeKernel() { return std::make_unique<LaneKernel>(); }

}  // namespace TANDEM_LANES
}  // namespace curve
}  // namespace tandem
