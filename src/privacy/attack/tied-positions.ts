/**
 * Candidates with equal counts at the root, linked from one tree to the next by their sums. Between two trees every
 * gradient changes by a known step. A set's sum therefore changes by the steps of its members: between the sums of the
 * smallest and of the largest steps of as many instances of each node. Positions whose sums are out of these bounds are
 * not the same candidate; a single remaining position is, since each candidate has one.
 */
import { type SeenNode, type SeenTree, strideOf } from "./transcript.ts";

/** @param tied pairs of equally long lists of positions: of the later tree, and of the earlier one */
export function matchTied(
  later: SeenTree,
  earlier: SeenTree,
  tied: readonly (readonly [later: readonly number[], earlier: readonly number[]])[],
): Map<number, number> {
  const matched = new Map<number, number>();
  const { columns, grids } = later.gradients;
  if (tied.length === 0 || columns.length !== grids.length || strideOf(earlier) !== strideOf(later)) return matched;
  const steps = columns.map((column, c) => column.map((value, i) => value - earlier.gradients.columns[c][i]));
  const bounds = [earlier, later].map((tree) => new StepBounds(tree, steps));
  const stride = strideOf(later);
  const fits = (a: number, b: number): boolean =>
    steps.every((_, column) => {
      const moved = later.nodes[0].rows[a * stride + column] - earlier.nodes[0].rows[b * stride + column];
      return bounds[0].allows(b, column, moved) && bounds[1].allows(a, column, moved);
    });
  for (const [ofLater, ofEarlier] of tied) {
    const possible = new Map(ofLater.map((a) => [a, ofEarlier.filter((b) => fits(a, b))]));
    for (let found: [number, number[]] | undefined; (found = [...possible].find(([, left]) => left.length === 1));) {
      const [a, [b]] = found;
      matched.set(a, b);
      possible.delete(a);
      for (const [other, left] of possible)
        possible.set(
          other,
          left.filter((each) => each !== b),
        );
    }
  }
  return matched;
}

/** How far a set's sums can change, from its counts in each of a tree's last nodes. */
class StepBounds {
  readonly #tree: SeenTree;
  readonly #last: readonly SeenNode[];
  /** Per last node and column the sums of the n smallest steps, for n = 0, 1, 2, ... */
  readonly #smallest: readonly (readonly Float64Array[])[];

  constructor(tree: SeenTree, steps: readonly Float64Array[]) {
    this.#tree = tree;
    this.#last = tree.nodes.filter(({ id }) => !tree.nodes.some(({ parent }) => parent === id));
    this.#smallest = this.#last.map(({ summed }) =>
      steps.map((ofColumn) => {
        const sorted = Float64Array.from(summed, (instance) => ofColumn[instance]).sort();
        const running = new Float64Array(sorted.length + 1);
        for (let i = 0; i < sorted.length; i++) running[i + 1] = running[i] + sorted[i];
        return running;
      }),
    );
  }

  allows(position: number, column: number, moved: number): boolean {
    const stride = strideOf(this.#tree);
    let [least, most] = [0, 0];
    for (const [i, { rows, suppressed }] of this.#last.entries()) {
      if (suppressed[position] === 1) return true;
      const running = this.#smallest[i][column];
      const size = running.length - 1;
      const count = rows[(position + 1) * stride - 1];
      least += running[count];
      most += running[size] - running[size - count];
    }
    return least <= moved && moved <= most;
  }
}
