/** The cost of plain histograms of one tree on this machine: the same rows, features and bins, without encryption. */
import { SeededRandom } from "../../src/base/random.ts";
import { featureHistogram } from "../../src/gbdt/split/histogram.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import { interleave } from "./measure.ts";

/** Of a tree of depth 3: the root, one of its children, and one of each of theirs. */
const sharesSummed = [1, 1 / 2, 1 / 4, 1 / 4];

/** CPU seconds per tree. */
export async function plainHistogramSeconds(rows: number, features: number, bins: number): Promise<number> {
  const random = new SeededRandom("plain-histograms");
  const below = (limit: number): number => Math.floor(random.uniform() * limit);
  const columns = Array.from({ length: features }, (_, i): BinnedFeature => {
    const binned = Uint16Array.from({ length: rows }, () => below(bins));
    return {
      name: `f${i}`,
      bins: binned,
      binCount: bins,
      hasMissing: false,
      thresholds: new Float32Array(bins),
      lowest: -1,
    };
  });
  const numbers = (): Float64Array => Float64Array.from({ length: rows }, () => below(1 << 20));
  const grid = { shift: 0, resolution: 1 };
  const gradients = { instanceCount: rows, grids: [grid, grid], columns: [numbers(), numbers()] };
  const nodes = sharesSummed.map((share) =>
    Uint32Array.from({ length: rows * share }, (_, i) => Math.floor(i / share)),
  );
  const run = (): number =>
    nodes.reduce(
      (sum, node) => sum + columns.reduce((part, column) => part + featureHistogram(column, gradients, node)[0], 0),
      0,
    );
  const timings = await interleave([{ name: "plain", units: 1, run }], 7, "cpu");
  return timings.get("plain")?.min ?? Number.NaN;
}
