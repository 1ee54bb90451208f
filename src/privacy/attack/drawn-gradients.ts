/**
 * The transcript as a passive party can simulate it: it has its bins, node membership and the splits it won, but no
 * gradients, so these are drawn at random. In the first trees of a real job many instances share a gradient; drawn ones
 * are all different, so what an attack finds with them is an upper estimate.
 */
import type { QuantisedGradients } from "../../base/gradients/quantised-gradients.ts";
import { SeededRandom } from "../../base/random.ts";
import { TreeCandidates } from "../../scheme/candidates/candidate-set.ts";
import { type RecordedParty, sentRows } from "./recorder.ts";
import type { SeenNode, Transcript } from "./transcript.ts";

/** A tree as a passive party has recorded it. */
export interface RecordedTree {
  readonly tree: number;
  readonly round: number;
  readonly nodes: readonly (Omit<SeenNode, "rows"> & { readonly depth: number })[];
}

const resolutionBits = 24;

/** @param job as in the transcript */
export function withDrawnGradients(
  party: RecordedParty,
  instanceCount: number,
  trees: readonly RecordedTree[],
  job: Transcript["job"],
  seed: number,
): Transcript {
  return {
    instanceCount,
    job,
    predictions: [],
    trees: trees.map(({ tree, round, nodes }) => {
      const gradients = drawnGradients(instanceCount, new SeededRandom(`attack/gradients/${seed}/${tree}`));
      const sets = new TreeCandidates(party, tree, round);
      const stride = gradients.columns.length + 1;
      const seen = nodes.map(({ depth, ...node }): SeenNode => {
        const rows = sentRows(sets.at({ node: node.id, depth }), party.features, gradients, node.summed);
        node.suppressed.forEach((isSuppressed, i) => {
          if (isSuppressed === 1) rows.fill(0, i * stride, (i + 1) * stride);
        });
        return { ...node, rows };
      });
      return { tree, gradients, nodes: seen };
    }),
  };
}

/** Gradients of a logistic loss, for random probabilities and labels. */
function drawnGradients(instanceCount: number, random: SeededRandom): QuantisedGradients {
  const resolution = 2 ** -resolutionBits;
  const [g, h] = [new Float64Array(instanceCount), new Float64Array(instanceCount)];
  for (let i = 0; i < instanceCount; i++) {
    const p = random.uniform();
    g[i] = Math.round((p - (random.uniform() < p ? 1 : 0) + 1) / resolution);
    h[i] = Math.round((4 * p * (1 - p)) / resolution);
  }
  const grids = [
    { shift: -1, resolution },
    { shift: 0, resolution: resolution / 4 }, // h is at most 1/4
  ];
  return { instanceCount, grids, columns: [g, h] };
}
