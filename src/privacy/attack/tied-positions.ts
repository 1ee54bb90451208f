/**
 * Candidates that share their count at the root with others, followed from one tree to the next by their sums. Between
 * two trees everybody's gradient moves by a known step. A set's sum therefore moves by the steps of its members: at
 * least by the smallest and at most by the largest steps that so many people of each node can have. Positions whose
 * sums do not fit are not the same candidate; what remains alone is, since each must be somewhere.
 */
import { type SeenNode, type SeenTree, strideOf } from "./transcript.ts";

/** @param tied pairs of equally many positions: of the later tree, and of the earlier one */
export function matchTied(
  later: SeenTree,
  earlier: SeenTree,
  tied: readonly (readonly [later: readonly number[], earlier: readonly number[]])[],
): Map<number, number> {
  const matched = new Map<number, number>();
  const { columns, grids } = later.gradients;
  if (tied.length === 0 || columns.length !== grids.length || strideOf(earlier) !== strideOf(later)) return matched;
  const steps = columns.map((column, i) => column.map((value, person) => value - earlier.gradients.columns[i][person]));
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

/** How far a set's sums can move, from how many of it are in each of a tree's last nodes. */
class StepBounds {
  readonly #tree: SeenTree;
  readonly #last: readonly SeenNode[];
  /** Per last node and column the sums of the smallest steps: of none, of one, of two, ... */
  readonly #smallest: readonly (readonly Float64Array[])[];

  constructor(tree: SeenTree, steps: readonly Float64Array[]) {
    this.#tree = tree;
    this.#last = tree.nodes.filter(({ id }) => !tree.nodes.some(({ parent }) => parent === id));
    this.#smallest = this.#last.map(({ summed }) =>
      steps.map((ofColumn) => {
        const sorted = Float64Array.from(summed, (person) => ofColumn[person]).sort();
        const running = new Float64Array(sorted.length + 1);
        for (let i = 0; i < sorted.length; i++) running[i + 1] = running[i] + sorted[i];
        return running;
      }),
    );
  }

  allows(position: number, column: number, moved: number): boolean {
    const stride = strideOf(this.#tree);
    let [least, most] = [0, 0];
    for (const [i, { rows, withheld }] of this.#last.entries()) {
      if (withheld[position] === 1) return true;
      const running = this.#smallest[i][column];
      const size = running.length - 1;
      const count = rows[(position + 1) * stride - 1];
      least += running[count];
      most += running[size] - running[size - count];
    }
    return least <= moved && moved <= most;
  }
}
